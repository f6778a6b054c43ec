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

// run is a line of runs.csv: errors are relative L2, as fractions.
type run struct {
	table, method, seed string
	l2, worst, unseen   float64
}

// group is the runs of one table and method, by seed.
type group []run

// set is a line of the tables of results.md.
type set struct{ title, table, suffix string }

// sets are in the order of the page; a suffix tells arms of one table apart.
var sets = []set{
	{"diffusion-sorption, demo", "diffusion-sorption-demo", ""},
	{"diffusion-sorption, small", "diffusion-sorption-small", ""},
	{"diffusion-sorption, the paper's size", "diffusion-sorption-paper", ""},
	{"t > 400 s, demo", "diffusion-sorption-demo-temporal", ""},
	{"t > 400 s, small", "diffusion-sorption-small-temporal", ""},
	{"t > 400 s, the paper's size", "diffusion-sorption-paper-temporal", ""},
	{"published choices, a quarter of the points", "diffusion-sorption-published-256", ""},
	{"published choices, the paper's size", "diffusion-sorption-published", ""},
	{"Navier-Stokes, demo, iterated", "navier-stokes-demo", ""},
	{"Navier-Stokes, demo, one pass", "navier-stokes-demo", "-one-pass"},
	{"Navier-Stokes, small, iterated", "navier-stokes-small", ""},
	{"Navier-Stokes, small, one pass", "navier-stokes-small", "-one-pass"},
	{"Navier-Stokes, the paper's, 64 × 64, iterated", "navier-stokes-paper", ""},
	{"the same, 128 × 128", "navier-stokes-paper-on-128", ""},
	{"the same, 256 × 256, 20 samples", "navier-stokes-paper-on-256", ""},
	{"Navier-Stokes, published choices, 32 × 32", "navier-stokes-published-32", ""},
}

// makeTables returns every table by its name.
func makeTables(folder string) (map[string]string, error) {
	runs, err := readRuns(filepath.Join(folder, "runs.csv"))
	if err != nil {
		return nil, err
	}
	tables := map[string]string{"errors": errorTable(runs), "differences": differenceTable(runs)}
	for name, studies := range map[string][]string{
		"experts-diffusion-sorption": {"experts-diffusion-sorption-demo-seed-0", "experts-diffusion-sorption-demo-seed-1", "experts-diffusion-sorption-demo-seed-2"},
		"experts-navier-stokes":      {"experts-navier-stokes-demo-seed-0", "experts-navier-stokes-demo-seed-1", "experts-navier-stokes-demo-seed-2"},
		"experts-burgers":            {"experts-burgers-fronts-1-seed-0", "experts-burgers-fronts-1-seed-1", "experts-burgers-fronts-1-seed-2"},
	} {
		if tables[name], err = expertTable(folder, studies); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// readRuns returns the runs of runs.csv by table and method, sorted by seed.
func readRuns(name string) (map[string]group, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	column := map[string]int{}
	for i, key := range lines[0] {
		column[key] = i
	}
	runs := map[string]group{}
	for i, line := range lines[1:] {
		r := run{table: line[column["table"]], method: line[column["method"]], seed: line[column["seed"]]}
		for key, to := range map[string]*float64{"relative_l2": &r.l2, "worst": &r.worst, "unseen_l2": &r.unseen} {
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

func errorTable(runs map[string]group) string {
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

// differenceTable pairs methods by seed: the mean of a difference over samples is the difference of the means.
func differenceTable(runs map[string]group) string {
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
