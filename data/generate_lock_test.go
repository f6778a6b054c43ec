package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pihc/internal/disk"
)

// Two generations at once: one makes the dataset, the other is refused and
// changes nothing.
func TestGenerateLocked(t *testing.T) {
	dir := t.TempDir()
	lock, err := disk.LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	var locked *disk.LockedError
	if err := Generate(context.Background(), dir, testPlan(), nil); !errors.As(err, &locked) {
		t.Errorf("error %v", err)
	}
	if names := filesOf(t, dir); len(names) != 1 {
		t.Errorf("folder holds %v", names)
	}
	lock.Release()
	if err := Generate(context.Background(), dir, testPlan(), nil); err != nil {
		t.Fatal(err)
	}
	// Killed between the manifest and the removal of what came before it.
	want := filesOf(t, dir)
	for _, left := range []string{progressFile, disk.LockFile, ".test-00000.npz-01234567" + disk.PartialSuffix} {
		if err := os.WriteFile(filepath.Join(dir, left), []byte("{"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := Generate(context.Background(), dir, testPlan(), nil); err != nil {
		t.Fatal(err)
	}
	if got := filesOf(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("folder holds %v, want %v", got, want)
	}
}

// filesOf returns the names in a folder.
func filesOf(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
