package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// galleryTable has errors and residuals of the gallery runs whose samples are stored, in
// percent: mean ± standard deviation over the samples, median, worst; mean residual over the rate.
func galleryTable(folder string) (string, error) {
	name := filepath.Join(folder, "gallery", "samples.csv")
	lines, column, err := readLines(name)
	if err != nil {
		return "", err
	}
	var equations []string
	l2, rate := map[string][]float64{}, map[string][]float64{}
	for i, line := range lines {
		equation := line[column["equation"]]
		if !slices.Contains(equations, equation) {
			equations = append(equations, equation)
		}
		key := equation + " " + line[column["method"]]
		for name, to := range map[string]map[string][]float64{"relative_l2": l2, "residual_over_rate": rate} {
			value, err := strconv.ParseFloat(line[column[name]], 64)
			if err != nil {
				return "", fmt.Errorf("samples.csv:%d: %s: %w", i+2, name, err)
			}
			to[key] = append(to[key], 100*value)
		}
	}
	var b strings.Builder
	b.WriteString("| equation | `hard` | residual | `moe` | residual |\n|---|---|---|---|---|\n")
	for _, equation := range equations {
		fmt.Fprintf(&b, "| %s |", equation)
		for _, method := range []string{"hard", "moe"} {
			e := slices.Sorted(slices.Values(l2[equation+" "+method]))
			if len(e) == 0 { // not run
				b.WriteString("  |  |")
				continue
			}
			m, square := mean(e), 0.0
			for _, x := range e {
				square += (x - m) * (x - m)
			}
			n := len(e)
			median := (e[(n-1)/2] + e[n/2]) / 2
			fmt.Fprintf(&b, " %.3f ± %.3f, %.3f, %.2f | %s |", m, math.Sqrt(square/float64(n)), median, e[n-1], twoDigits(mean(rate[equation+" "+method])))
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// twoDigits is a percentage to two digits.
func twoDigits(x float64) string {
	return strconv.FormatFloat(x, 'f', max(0, 1-int(math.Floor(math.Log10(x)))), 64) + " %"
}
