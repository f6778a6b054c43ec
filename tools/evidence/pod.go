package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// podTable is what docs/runs/experts/pod.py printed: errors of the best approximation by N functions and one set of weights, by the same functions
// with a set for each subdomain, and by functions of each subdomain.
func podTable(folder string) (string, error) {
	name := filepath.Join(folder, "experts", "pod.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	type errorsOf struct{ One, Experts, Local float64 }
	var out strings.Builder
	out.WriteString("| solutions of | subdomains | one, N = 16 | experts | local | gap | one, N = 64 | experts | local | gap |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for lines := json.NewDecoder(bytes.NewReader(text)); ; {
		var line struct {
			Dataset string
			Experts []int
			N16     errorsOf `json:"16"`
			N64     errorsOf `json:"64"`
		}
		if err := lines.Decode(&line); errors.Is(err, io.EOF) {
			return out.String(), nil
		} else if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(&out, "| %s | %s |", line.Dataset, strings.Trim(strings.ReplaceAll(fmt.Sprint(line.Experts), " ", " × "), "[]"))
		for _, e := range []errorsOf{line.N16, line.N64} {
			gap := "" // of roundings it says nothing
			if e.One > 1e-6 {
				gap = fmt.Sprintf("%.1f", e.One/e.Experts)
			}
			fmt.Fprintf(&out, " %s | %s | %s | %s |", podError(e.One), podError(e.Experts), podError(e.Local), gap)
		}
		out.WriteString("\n")
	}
}

func podError(x float64) string {
	if x < 1e-6 {
		return "< 0.0001 %"
	}
	return fmt.Sprintf("%.2g %%", 100*x)
}
