package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// A dataset folder from elsewhere may hold links: those that lead out of it are not read, and none is written through. The
// folder itself may be a link.
func TestLinksInDataset(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "data")
	plan := testPlan()
	if err := Generate(context.Background(), whole, plan, nil); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(whole)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{disk.LockFile, progressFile}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for _, name := range names {
		root := t.TempDir()
		dir, victim := filepath.Join(root, "data"), filepath.Join(root, "victim")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		own := filepath.Join(dir, name)
		if err := os.Rename(own, victim); errors.Is(err, fs.ErrNotExist) {
			if err := os.WriteFile(victim, []byte("precious"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(victim, own); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(victim)
		_, opened := Open(dir)
		generated := Generate(context.Background(), dir, plan, nil)
		for what, err := range map[string]error{"open": opened, "generate": generated} {
			if what == "open" && name == disk.LockFile {
				continue // which reading does not look at
			}
			if err == nil || !strings.Contains(err.Error(), own+" is a symbolic link") {
				t.Errorf("%s with %s: %v", what, name, err)
			}
		}
		if after, _ := os.ReadFile(victim); string(after) != string(before) {
			t.Errorf("%s: what the link leads to was changed", name)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(whole, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link); err != nil {
		t.Error(err)
	}
	if err := Generate(context.Background(), link, plan, nil); err != nil {
		t.Error(err)
	}
}
