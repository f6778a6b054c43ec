package main

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// run is a line of runs.csv: errors are relative L2, residuals over the solution's rate, as fractions; 0 where a line has none.
type run struct {
	table, method, seed string
	l2, std, median     float64
	worst, unseen       float64
	residual, passes    float64
	truth               float64 // residual of the reference solution
}

// group is the runs of one table and method, by seed.
type group []run

// set is a line of the tables.
type set struct{ title, table, suffix, residuals string }

// makeTable returns a table of a document: errors, differences or residuals of the sets that sets.csv
// lists, in its order, "experts STUDY", the arms of a study,
// "comparisons FAMILY", "ratios FILE COLUMN", "solve", "gallery", or "approximation".
func makeTable(folder, name string) (string, error) {
	if study, ok := strings.CutPrefix(name, "experts "); ok {
		return expertTable(folder, study)
	}
	if family, ok := strings.CutPrefix(name, "comparisons "); ok {
		return comparisonTable(folder, family)
	}
	if ratios, ok := strings.CutPrefix(name, "ratios "); ok {
		return ratioTable(folder, ratios)
	}
	switch name {
	case "gallery":
		return galleryTable(folder)
	case "solve":
		return solveTable(folder)
	case "approximation":
		return podTable(folder)
	}
	if _, err := os.Stat(filepath.Join(folder, "tables", name+".csv")); err == nil {
		return storedTable(folder, name)
	}
	runs, err := readRuns(filepath.Join(folder, "runs.csv"))
	if err != nil {
		return "", err
	}
	sets, err := readSets(filepath.Join(folder, "sets.csv"))
	if err != nil {
		return "", err
	}
	for _, s := range sets {
		for _, method := range []string{"soft", "hard", "moe"} {
			if len(runs[s.table+" "+method+s.suffix]) == 0 {
				return "", fmt.Errorf("sets.csv: %s: no run of %s in runs.csv", s.title, method+s.suffix)
			}
		}
	}
	switch name {
	case "errors":
		return errorTable(runs, sets), nil
	case "differences":
		return differenceTable(runs, sets)
	case "residuals":
		return residualTable(runs, sets), nil
	}
	return "", fmt.Errorf("no table is called %q", name)
}

// readLines returns the lines of a CSV file after its first, and the columns that the first names.
func readLines(name string) (lines [][]string, column map[string]int, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	if lines, err = csv.NewReader(file).ReadAll(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	column = map[string]int{}
	for i, key := range lines[0] {
		column[key] = i
	}
	return lines[1:], column, nil
}

// readSets returns the lines of the tables; a suffix tells arms of one table of runs apart.
func readSets(name string) ([]set, error) {
	lines, column, err := readLines(name)
	var sets []set
	for _, line := range lines {
		sets = append(sets, set{line[column["title"]], line[column["table"]], line[column["suffix"]], line[column["residuals"]]})
	}
	return sets, err
}

// readRuns returns the runs of runs.csv by table and method, sorted by seed.
func readRuns(name string) (map[string]group, error) {
	lines, column, err := readLines(name)
	if err != nil {
		return nil, err
	}
	runs := map[string]group{}
	for i, line := range lines {
		r := run{table: line[column["table"]], method: line[column["method"]], seed: line[column["seed"]]}
		for key, to := range map[string]*float64{"relative_l2": &r.l2, "worst": &r.worst, "std": &r.std, "median": &r.median, "unseen_l2": &r.unseen, "relative_residual": &r.residual, "truth_residual": &r.truth, "passes": &r.passes} {
			if text := line[column[key]]; text != "" {
				if *to, err = strconv.ParseFloat(text, 64); err != nil {
					return nil, fmt.Errorf("%s:%d: %s: %w", name, i+2, key, err)
				}
			}
		}
		key := r.table + " " + r.method
		runs[key] = append(runs[key], r)
	}
	for _, g := range runs {
		slices.SortFunc(g, func(a, b run) int { return strings.Compare(a.seed, b.seed) })
	}
	return runs, nil
}

// error is what a set is about: of times beyond training alone where there are such.
func (s set) error(r run) float64 {
	if strings.HasSuffix(s.table, "-temporal") {
		return r.unseen
	}
	return r.l2
}

func (s set) errors(g group) (out []float64) {
	for _, r := range g {
		out = append(out, s.error(r))
	}
	return out
}

func (s set) bySeed(g group) map[string]float64 {
	out := map[string]float64{}
	for _, r := range g {
		out[r.seed] = s.error(r)
	}
	return out
}

func errorTable(runs map[string]group, sets []set) string {
	var b strings.Builder
	b.WriteString("| | seeds | PI-SC | PI-HC | PI-HC-MoE |\n|---|---|---|---|---|\n")
	for _, s := range sets {
		fmt.Fprintf(&b, "| %s | %d |", s.title, len(runs[s.table+" soft"+s.suffix]))
		for _, method := range []string{"soft", "hard", "moe"} {
			g := runs[s.table+" "+method+s.suffix]
			worst := 0.0
			for _, r := range g {
				worst = max(worst, r.worst)
			}
			if strings.HasSuffix(s.table, "-temporal") {
				fmt.Fprintf(&b, " %s |", percent(mean(s.errors(g))))
			} else {
				fmt.Fprintf(&b, " %s, worst %s |", percent(mean(s.errors(g))), percent(worst))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// residualTable has the residuals of every set whose runs have them in one unit, least and most over seeds, and that of the reference solution.
func residualTable(runs map[string]group, sets []set) string {
	var b strings.Builder
	b.WriteString("| | seeds | PI-SC | PI-HC | PI-HC-MoE | the reference |\n|---|---|---|---|---|---|\n")
	for _, s := range sets {
		soft := runs[s.table+" soft"+s.suffix]
		line := fmt.Sprintf("| %s | %d |", s.title, len(soft))
		complete := true
		for _, method := range []string{"soft", "hard", "moe"} {
			least, most := math.Inf(1), 0.0
			for _, r := range runs[s.table+" "+method+s.suffix] {
				least, most = min(least, r.residual), max(most, r.residual)
			}
			complete = complete && least > 0
			if least == most {
				line += fmt.Sprintf(" %s |", percent(most))
			} else {
				line += fmt.Sprintf(" %s to %s |", strings.TrimSuffix(percent(least), " %"), percent(most))
			}
		}
		if complete && s.residuals == "yes" && !strings.HasSuffix(s.table, "-temporal") {
			b.WriteString(line + " " + percent(soft[0].truth) + " |\n")
		}
	}
	return b.String()
}

// differenceTable pairs methods by seed: the mean of a difference over samples is the difference of the means.
// All its comparisons are one family.
func differenceTable(runs map[string]group, sets []set) (string, error) {
	var rows []set
	var all []comparison
	pairs := [][2]string{{"hard", "soft"}, {"moe", "soft"}, {"moe", "hard"}}
	for _, s := range sets {
		if len(runs[s.table+" soft"+s.suffix]) < 3 {
			continue
		}
		rows = append(rows, s)
		for _, pair := range pairs {
			c, err := compare(s.bySeed(runs[s.table+" "+pair[0]+s.suffix]), s.bySeed(runs[s.table+" "+pair[1]+s.suffix]))
			if err != nil {
				return "", fmt.Errorf("%s: %w", s.title, err)
			}
			all = append(all, c)
		}
	}
	differ := holm(all)
	var b strings.Builder
	b.WriteString("| | seeds | PI-HC less PI-SC | PI-HC-MoE less PI-SC | PI-HC-MoE less PI-HC |\n|---|---|---|---|---|\n")
	for i, s := range rows {
		fmt.Fprintf(&b, "| %s | %d |", s.title, all[3*i].n)
		for k := 3 * i; k < 3*i+3; k++ {
			fmt.Fprintf(&b, " %s |", all[k].cell(differ[k]))
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// percent is a fraction to three digits, in percent.
func percent(x float64) string {
	return strconv.FormatFloat(100*x, 'f', max(0, 2-int(math.Floor(math.Log10(math.Abs(100*x))))), 64) + " %"
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
