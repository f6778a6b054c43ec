package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The tables of the documents are those of the stored runs.
func TestTables(t *testing.T) {
	root := filepath.Join("..", "..")
	names, err := documents(root)
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tables += bytes.Count(text, []byte(opening))
		made, err := fill(root, text)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(made, text) {
			t.Errorf("%s has other tables than the runs of docs/runs: go run ./tools/evidence makes them again", name)
		}
	}
	if tables < 30 {
		t.Errorf("%d tables in all", tables)
	}
}

func TestFillRefuses(t *testing.T) {
	for _, text := range []string{"<!-- table: errors -->\n| left open", "<!-- table: nothing -->\n<!-- end -->"} {
		if _, err := fill(filepath.Join("..", ".."), []byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
