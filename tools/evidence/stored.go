package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// storedKeys are what every file of docs/runs/tables says of itself, in lines "# key: value" before
// its table: where the figures are from, the command that makes them, the commit and the machine
// they were measured on. What nobody wrote down is "not recorded".
var storedKeys = []string{"origin", "command", "commit", "processor", "cores"}

// stored is a table that no program of this repository computes from runs: cells as a document
// prints them. A cell may have figures of other evidence in braces (figure). Figures that
// somebody typed have a source, a line "# typed: TEXT <- SOURCE" with the text of the cell.
type stored struct {
	about map[string]string
	typed map[string]string // source by text
	cells [][]string
}

// readStored reads docs/runs/tables/NAME.csv.
func readStored(name string) (stored, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return stored{}, err
	}
	s := stored{about: map[string]string{}, typed: map[string]string{}}
	for number := 1; bytes.HasPrefix(text, []byte("#")); number++ {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		key, value, ok := strings.Cut(strings.TrimPrefix(string(line), "# "), ": ")
		if !ok {
			return stored{}, fmt.Errorf("%s:%d: %q is not # KEY: VALUE", name, number, line)
		}
		text = rest
		if key != "typed" {
			s.about[key] = strings.TrimSpace(value)
			continue
		}
		typed, source, _ := strings.Cut(value, " <- ")
		if strings.TrimSpace(source) == "" {
			return stored{}, fmt.Errorf("%s:%d: %q is not # typed: TEXT <- SOURCE", name, number, line)
		}
		s.typed[typed] = source
	}
	for _, key := range storedKeys {
		if s.about[key] == "" {
			return stored{}, fmt.Errorf("%s has no line # %s: (what is not known is \"not recorded\")", name, key)
		}
	}
	if s.cells, err = csv.NewReader(bytes.NewReader(text)).ReadAll(); err != nil {
		return stored{}, fmt.Errorf("%s: %w", name, err)
	}
	if len(s.cells) < 2 {
		return stored{}, fmt.Errorf("%s has no row", name)
	}
	if err := s.sourced(); err != nil {
		return stored{}, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// sourced fails where a figure of a cell was typed without a source. The first column says what
// a row is of, and columns of the paper's figures and of aims have those.
func (s stored) sourced() error {
	used := map[string]bool{}
	longest := slices.SortedFunc(maps.Keys(s.typed), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for i, row := range s.cells[1:] {
		for k, cell := range row {
			for _, text := range longest {
				used[text] = used[text] || strings.Contains(row[k], text)
				cell = strings.ReplaceAll(cell, text, "")
			}
			if title := s.cells[0][k]; k == 0 || title == "the paper" || strings.HasPrefix(title, "aim") {
				continue
			}
			if found := measured.FindString(notTyped.ReplaceAllString(cell, " ")); found != "" {
				return fmt.Errorf("row %d: %q was typed: want {FIGURE}, or a line # typed: TEXT <- SOURCE", i+2, found)
			}
		}
	}
	for _, text := range longest {
		if !used[text] {
			return fmt.Errorf("no cell has %q, which # typed is of", text)
		}
	}
	return nil
}

// storedTable is a stored table in Markdown, with a line below that says where its figures are from.
func storedTable(folder, name string) (string, error) {
	file := filepath.Join(folder, "tables", name+".csv")
	s, err := readStored(file)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, row := range s.cells {
		row = slices.Clone(row)
		for k, cell := range row {
			if row[k], err = expand(folder, cell); err != nil {
				return "", fmt.Errorf("%s: row %d: %w", file, i+1, err)
			}
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	if s.about["line"] != "no" {
		fmt.Fprintf(&b, "\n*%s*\n", s.source(name))
	}
	return b.String(), nil
}

// source is the line below a stored table.
func (s stored) source(name string) string {
	machine := s.about["processor"]
	switch cores := s.about["cores"]; cores {
	case "not recorded":
		machine += ", cores not recorded"
	case "1":
		machine += ", 1 core"
	default:
		machine += ", " + cores + " cores"
	}
	return fmt.Sprintf("[%s.csv](../runs/tables/%[1]s.csv): %s; commit %s; %s.", name, s.about["origin"], s.about["commit"], machine)
}
