package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What prose says in figures is what stored runs say, or has a source.
func TestSentences(t *testing.T) {
	root := filepath.Join("..", "..")
	names, err := documents(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		document, err := filepath.Rel(root, name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(document, func(t *testing.T) {
			wrong, err := checkSentences(root, document)
			if err != nil {
				t.Error(err)
			}
			for _, text := range wrong {
				t.Error(text)
			}
		})
	}
}

// Figures that are not those of the stored runs, without a source, or in no sentence are told of; tables, code and links have none of their own.
func TestSentencesTell(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"texts/a.md":                      "Errors are 3.0 % of *arm* a.\nIt takes 2 s, `0.5`, [here](b.md#0.7).\n<!-- table: x -->\n| 0.3 % |\n<!-- end -->\nSeeds: 95 %.",
		"docs/runs/x.csv":                 "arm,error\na,0.02\na,0.04\n",
		"docs/runs/sentences/texts-a.csv": "text,source\nErrors are {cell x.csv 100*error:2 arm=a} % of *arm* a,\n\"takes 2 s\",a clock\n95 %,convention\n",
		"texts/b.md":                      "Errors are 3.1 % of a. It takes 2 s and 4.5.",
		"docs/runs/sentences/texts-b.csv": "text,source\nErrors are {cell x.csv 100*error:2 arm=a} % of a,\n\"takes 2 s\",\n",
		"texts/c.md":                      "",
		"docs/runs/sentences/texts-c.csv": "text,source\n{cell y.csv error arm=a},\n",
		"texts/without-sentences.md":      "None of 7.",
		"texts/without-sentences2.md":     "Of 7 s.",
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for document, want := range map[string][]string{
		"texts/a.md":                  nil,
		"texts/b.md":                  {"as stored runs do: Errors are 3.0 % of a", "no source given: takes 2 s", `line 1: "3.1 %" is in no sentence`, `line 1: "4.5" is`},
		"texts/without-sentences.md":  nil,
		"texts/without-sentences2.md": {`"7 s" is in no sentence`},
	} {
		got, err := checkSentences(root, document)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %q, %v", document, got, err)
		}
		for i, text := range want {
			if !strings.Contains(got[i], text) {
				t.Errorf("%s: %q, want %q", document, got[i], text)
			}
		}
	}
	if _, err := checkSentences(root, "texts/c.md"); err == nil {
		t.Error("a figure of no file was taken")
	}
}
