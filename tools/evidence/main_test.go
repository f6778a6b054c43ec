package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pihc/score"
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

// Each column of errors by sample is a run of runs.csv, and has its mean and its worst.
func TestErrorsOfSamples(t *testing.T) {
	folder := filepath.Join("..", "..", "docs", "runs")
	runs, err := readRuns(filepath.Join(folder, "runs.csv"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "errors", "*.csv"))
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		lines, column, err := readLines(file)
		if err != nil {
			t.Fatal(err)
		}
		table := set{table: strings.TrimSuffix(filepath.Base(file), ".csv")}
		for name, k := range column {
			if name == "sample" {
				continue
			}
			var errors []float64
			for _, line := range lines {
				if line[k] == "" {
					continue
				}
				x, err := strconv.ParseFloat(line[k], 64)
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				errors = append(errors, x)
			}
			method, seed, _ := strings.Cut(name, " ")
			s := score.Summarize(errors)
			if !slices.ContainsFunc(runs[table.table+" "+method], func(r run) bool {
				want := table.error(r)
				return (seed == "" || r.seed == seed) && math.Abs(s.Mean-want) < 1e-3*want && (want != r.l2 || math.Abs(s.Max-r.worst) < 1e-3*r.worst)
			}) {
				t.Errorf("%s: %s has a mean of %.5g and a worst of %.5g, as no run of runs.csv", file, name, s.Mean, s.Max)
			}
		}
	}
}
