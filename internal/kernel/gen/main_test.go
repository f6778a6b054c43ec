package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The generated files are those of the template as it is.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	files, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join("..", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the template gives (%v): run go generate", name, err)
		}
	}
}
