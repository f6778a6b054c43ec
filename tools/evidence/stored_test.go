package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Figures of cells are computed, of the paper or an aim, or have a source; sources are of figures that are there.
func TestStoredFiguresHaveSources(t *testing.T) {
	const about = "# origin: o\n# command: c\n# commit: f00\n# processor: p\n# cores: 1\n"
	name := filepath.Join(t.TempDir(), "t.csv")
	for _, c := range []struct{ text, want string }{
		{"what,ours\nheat at 2 s,{cell x.csv error a=1.5} % by `--set a=0.5` [here](b.md#0.7)\n", ""},
		{"what,the paper,aim (better),ours\na,3.60 %,0.5 %,\n", ""},
		{"what,ours\na,takes 3 s\n", `row 2: "3 s" was typed`},
		{"what,ours\na,{mean x moe} % in 3 s\n", `row 2: "3 s" was typed`},
		{"# typed: in 3 s <- a clock\nwhat,ours\na,done in 3 s\n", ""},
		{"# typed: in 3 s <- a clock\nwhat,ours\na,in 3 s and 4 s\n", `"4 s" was typed`},
		{"# typed: in 3 s <- a clock\nwhat,ours\na,nothing\n", `no cell has "in 3 s"`},
		{"# typed: 3 s <- a clock\n# typed: in 3 s and 4 s <- a clock\nwhat,ours\na,in 3 s and 4 s\n", ""},
		{"# typed: in 3 s\nwhat,ours\na,in 3 s\n", "is not # typed: TEXT <- SOURCE"},
		{"# typed: in 3 s <- \nwhat,ours\na,in 3 s\n", "is not # typed: TEXT <- SOURCE"},
		{"# typed: in 3 s <- a clock\nwhat,ours\nin 3 s,\"in 3 s, a\"", ""},
	} {
		if err := os.WriteFile(name, []byte(about+c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		switch _, err := readStored(name); {
		case c.want == "" && err != nil:
			t.Errorf("%q: %v", c.text, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}
