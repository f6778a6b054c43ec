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

// Differences are those of the laboratory notes, which another program computed from the samples.
func TestDifference(t *testing.T) {
	runs, err := readRuns(filepath.Join("..", "..", "docs", "runs", "runs.csv"))
	if err != nil {
		t.Fatal(err)
	}
	l2 := func(key string) []float64 { return set{}.errors(runs[key]) }
	for _, c := range []struct{ got, want string }{
		{difference(l2("diffusion-sorption-demo hard"), l2("diffusion-sorption-demo soft")), "**-0.27 ± 0.03**"},
		{difference(l2("diffusion-sorption-small hard"), l2("diffusion-sorption-small soft")), "-0.34 ± 0.17"},
		{difference(l2("diffusion-sorption-published-256 moe"), l2("diffusion-sorption-published-256 soft")), "**+0.37 ± 0.07**"},
		{difference(l2("navier-stokes-small moe-one-pass"), l2("navier-stokes-small hard-one-pass")), "**+0.25 ± 0.04**"},
		{difference(l2("navier-stokes-demo moe-one-pass"), l2("navier-stokes-demo hard-one-pass")), "**+1.35 ± 0.12**"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
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
