package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tables of the documents are those of the stored runs.
func TestTables(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		made, err := fill(root, text)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(made, text) {
			t.Errorf("%s has other tables than the runs of docs/runs: go run ./tools/evidence makes them again", name)
		}
		if !strings.Contains(string(text), "<!-- table: ") {
			t.Errorf("%s has no table", name)
		}
	}
}

func TestFillRefuses(t *testing.T) {
	for _, text := range []string{"<!-- table: errors -->\n| left open", "<!-- table: nothing -->\n<!-- end -->"} {
		if _, err := fill(filepath.Join("..", ".."), []byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
