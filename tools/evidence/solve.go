package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// solveTable has the runs of docs/runs/solve/pypde.csv, errors at the last time in percent.
func solveTable(folder string) (string, error) {
	name := filepath.Join(folder, "solve", "pypde.csv")
	lines, column, err := readLines(name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| equation | program | tolerance or step | points along an axis | error | s |\n|---|---|---|---|---|---|\n")
	for _, line := range lines {
		of := func(key string) string { return line[column[key]] }
		e, err := strconv.ParseFloat(of("error"), 64)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		s, err := strconv.ParseFloat(of("seconds"), 64)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(&b, "| %s | %s, %s | %s | %s | %.2g %% | %.2g |\n", of("equation"), of("program"), cmp.Or(of("stepper"), of("settings")), of("tolerance"), of("points"), 100*e, s)
	}
	return b.String(), nil
}
