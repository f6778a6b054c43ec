package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
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
	l2, worst, unseen   float64
	residual            float64
}

// group is the runs of one table and method, by seed.
type group []run

// set is a line of the tables.
type set struct{ title, table, suffix, residuals string }

// makeTable returns a table of a document: errors, differences or residuals of the sets that sets.csv
// lists, in its order, "experts STUDY", the arms of a study of three seeds, "gallery", or "approximation".
func makeTable(folder, name string) (string, error) {
	if study, ok := strings.CutPrefix(name, "experts "); ok {
		return expertTable(folder, []string{study + "-seed-0", study + "-seed-1", study + "-seed-2"})
	}
	switch name {
	case "gallery":
		return galleryTable(folder)
	case "approximation":
		return podTable(folder)
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
		return differenceTable(runs, sets), nil
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
		for key, to := range map[string]*float64{"relative_l2": &r.l2, "worst": &r.worst, "unseen_l2": &r.unseen, "relative_residual": &r.residual} {
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

// errors are what a set is about: of times beyond training alone where there are such.
func (s set) errors(g group) []float64 {
	var out []float64
	for _, r := range g {
		if strings.HasSuffix(s.table, "-temporal") {
			out = append(out, r.unseen)
		} else {
			out = append(out, r.l2)
		}
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

// residualTable has the residuals of every set whose runs have them in one unit, least and most over seeds.
func residualTable(runs map[string]group, sets []set) string {
	var b strings.Builder
	b.WriteString("| | seeds | PI-SC | PI-HC | PI-HC-MoE |\n|---|---|---|---|---|\n")
	for _, s := range sets {
		line := fmt.Sprintf("| %s | %d |", s.title, len(runs[s.table+" soft"+s.suffix]))
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
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// differenceTable pairs methods by seed: the mean of a difference over samples is the difference of the means.
func differenceTable(runs map[string]group, sets []set) string {
	var b strings.Builder
	b.WriteString("| | seeds | PI-HC less PI-SC | PI-HC-MoE less PI-SC | PI-HC-MoE less PI-HC |\n|---|---|---|---|---|\n")
	for _, s := range sets {
		n := len(runs[s.table+" soft"+s.suffix])
		if n < 3 {
			continue
		}
		fmt.Fprintf(&b, "| %s | %d |", s.title, n)
		for _, pair := range [][2]string{{"hard", "soft"}, {"moe", "soft"}, {"moe", "hard"}} {
			fmt.Fprintf(&b, " %s |", difference(s.errors(runs[s.table+" "+pair[0]+s.suffix]), s.errors(runs[s.table+" "+pair[1]+s.suffix])))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// difference is a less b in percentage points, mean ± standard error over seeds, bold where
// it has one sign at every seed and is more than two standard errors.
func difference(a, b []float64) string {
	if len(a) != len(b) || len(a) < 2 {
		return ""
	}
	d := make([]float64, len(a))
	same := true
	for i := range a {
		d[i] = 100 * (a[i] - b[i])
		same = same && d[i]*d[0] > 0
	}
	m, square := mean(d), 0.0
	for _, x := range d {
		square += (x - m) * (x - m)
	}
	deviation := math.Sqrt(square / float64(len(d)-1) / float64(len(d)))
	text := fmt.Sprintf("%+.2f ± %.2f", m, deviation)
	if deviation >= 1 {
		text = fmt.Sprintf("%+.1f ± %.1f", m, deviation)
	}
	if same && math.Abs(m) > 2*deviation {
		text = "**" + text + "**"
	}
	return text
}

// arm is what a study of experts says of one way to solve.
type arm struct {
	Name    string  `json:"name"`
	Flop    float64 `json:"solve_flop"`
	Method  string  `json:"method"`
	Basis   int     `json:"basis"`
	Error   moments `json:"relative_l2"`
	Experts int     `json:"experts"`
	Family  string  `json:"family"`
}

type moments struct{ Mean, Max float64 }

// expertTable has the arms of a study, each with the errors of its seeds.
func expertTable(folder string, studies []string) (string, error) {
	bySeed := make([][]arm, len(studies))
	for i, name := range studies {
		file := filepath.Join(folder, "studies", name+".json")
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		var study struct{ Arms []arm }
		if err := json.Unmarshal(text, &study); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		bySeed[i] = study.Arms
	}
	var b strings.Builder
	b.WriteString("| arm | experts | N | error by seed | mean | operations of the solves |\n|---|---|---|---|---|---|\n")
	for _, first := range bySeed[0] {
		var errors []float64
		var texts []string
		flop := 0.0
		for _, arms := range bySeed {
			i := slices.IndexFunc(arms, func(a arm) bool { return a.Name == first.Name })
			if i < 0 {
				return "", fmt.Errorf("arm %s is not in every study of %v", first.Name, studies)
			}
			errors = append(errors, arms[i].Error.Mean)
			texts = append(texts, strings.TrimSuffix(percent(arms[i].Error.Mean), " %"))
			flop += arms[i].Flop / float64(len(bySeed))
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s %% | %s | %.1e |\n", families[first.Family], first.Experts, first.Basis, strings.Join(texts, ", "), percent(mean(errors)), flop)
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
	return strconv.FormatFloat(100*x, 'f', max(0, 2-int(math.Floor(math.Log10(100*x)))), 64) + " %"
}

// families are the arms of a study as the page calls them.
var families = map[string]string{
	"hard": "one solve", "moe": "experts", "moe-random": "experts, rows from anywhere",
	"moe-coupled": "experts, a quarter of the rows beyond their borders",
}
