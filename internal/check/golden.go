package check

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var regenerate = flag.Bool("regenerate", false, "rewrite golden files under testdata")

// Regenerating reports whether golden files are being rewritten.
func Regenerating() bool { return *regenerate }

// Golden fails the test unless got equals the file testdata/name; with the flag
// -regenerate it writes the file instead.
func Golden(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *regenerate {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with go test -regenerate)", err)
	}
	if bytes.Equal(got, want) {
		return
	}
	line, column := 1, 1
	for i := 0; i < len(got) && i < len(want) && got[i] == want[i]; i++ {
		if column++; got[i] == '\n' {
			line, column = line+1, 1
		}
	}
	t.Errorf("differs from %s at line %d, column %d (%d bytes, want %d); rewrite it with go test -regenerate if that is meant",
		path, line, column, len(got), len(want))
}
