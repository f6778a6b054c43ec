package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sample = "# A *title*, of 2 parts\n\n" +
	"One two three. Four `five. six` seven, i.e. eight! Nine\nten (eleven).\n\n" +
	"| table | cell |\n|---|---|\n| not. | counted. |\n\n" +
	"```\ncode. is. none [x](gone.md)\n```\n\n    indented code\n\n" +
	"- item [of text](other.md#there)\n- second ![alt words](picture.svg)\n\n## A title, of 2 parts\n\n<a name=\"solve\"></a>\n"

func TestRead(t *testing.T) {
	p := read(sample)
	if want := []int{3, 6, 3, 3, 1}; !slices.Equal(p.sentences, want) {
		t.Errorf("sentences of %v words, want %v", p.sentences, want)
	}
	if want := []link{{16, "other.md#there"}, {17, "picture.svg"}}; !slices.Equal(p.links, want) {
		t.Errorf("links %v, want %v", p.links, want)
	}
	for _, name := range []string{"a-title-of-2-parts", "a-title-of-2-parts-1", "solve"} {
		if !p.anchors[name] {
			t.Errorf("no anchor %s in %v", name, p.anchors)
		}
	}
	if want := "Four `five· six` seven, i.e. eight!"; p.longest != want {
		t.Errorf("longest %q, want %q", p.longest, want)
	}
}

func TestQuantile(t *testing.T) {
	numbers := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	if quantile(numbers, 0.5) != 6 || quantile(numbers, 0.9) != 10 || quantile(numbers, 1) != 10 || quantile(nil, 0.5) != 0 {
		t.Error(quantile(numbers, 0.5), quantile(numbers, 0.9), quantile(numbers, 1))
	}
}

// Each fault is named with its file and line, and nothing else is.
func TestRun(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("README.md", strings.Repeat("Word. ", 900)+"\n\n[a](docs/a.md) [b](docs/b.md) [c](docs/a.md#here) [d](docs/a.md#gone) [e](https://example.org)\n")
	write("docs/a.md", "# Here\n\nShort.\n")
	write("docs/runs/notes/n.md", strings.Repeat("word ", 20000)+"\n")
	write("pkg/x.go", "// docs/a.md, docs/c.md\n")
	write("pkg/testdata/y.go", "// docs/old.md\n")
	faults, err := run(root, false)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"README.md: 905 words, at most 900",
		"README.md:3: link to docs/b.md: no such file",
		"README.md:3: link to docs/a.md#gone: no such heading",
		"pkg/x.go:1: names docs/c.md, which is not there",
	}
	for i, fault := range faults {
		if i >= len(want) || fault != want[i] {
			t.Errorf("%q", faults)
			break
		}
	}
	if len(faults) != len(want) {
		t.Errorf("%d faults, want %d: %q", len(faults), len(want), faults)
	}
}
