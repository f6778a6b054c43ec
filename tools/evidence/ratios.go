package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ratioTable compares the first arm of each problem of docs/runs/ratios/FILE.csv with its other arms: the errors of a column (mean, median
// or worst of the test samples), averaged over seeds, and the geometric mean of their ratio, paired by seed, with its 95 % interval
// by Student's t of the logarithms. Bold is what Holm's test of the table leaves.
func ratioTable(folder, what string) (string, error) {
	name, of, _ := strings.Cut(what, " ")
	lines, column, err := readLines(filepath.Join(folder, "ratios", name+".csv"))
	if err != nil {
		return "", err
	}
	at, ok := column[of]
	if !ok {
		return "", fmt.Errorf("%s.csv has no column %q", name, of)
	}
	type problem struct {
		arms []string
		logs map[string]map[string]float64 // by arm and seed
	}
	var names []string
	problems := map[string]*problem{}
	for _, line := range lines {
		title, arm, seed := line[column["problem"]], line[column["arm"]], line[column["seed"]]
		x, err := strconv.ParseFloat(line[at], 64)
		if err != nil {
			return "", fmt.Errorf("%s.csv: %w", name, err)
		}
		p := problems[title]
		if p == nil {
			p = &problem{logs: map[string]map[string]float64{}}
			problems[title], names = p, append(names, title)
		}
		if p.logs[arm] == nil {
			p.logs[arm], p.arms = map[string]float64{}, append(p.arms, arm)
		}
		p.logs[arm][seed] = math.Log(x)
	}
	var all []comparison
	var cells [][]string
	for _, title := range names {
		p := problems[title]
		for _, arm := range p.arms[1:] {
			c, err := compare(p.logs[p.arms[0]], p.logs[arm])
			if err != nil {
				return "", fmt.Errorf("%s.csv: %s: %w", name, title, err)
			}
			all = append(all, c)
			cells = append(cells, []string{title, p.arms[0] + ", " + arm, strconv.Itoa(c.n), percentOf(p.logs[p.arms[0]]) + ", " + percentOf(p.logs[arm])})
		}
	}
	var b strings.Builder
	b.WriteString("| | arms | seeds | error | ratio | p |\n|---|---|---|---|---|---|\n")
	differ := holm(all)
	for i, c := range all {
		ratio := fmt.Sprintf("%.3g (%.3g to %.3g)", math.Exp(c.mean/100), math.Exp(c.low/100), math.Exp(c.high/100))
		if differ[i] {
			ratio = "**" + ratio + "**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(cells[i], " | "), ratio, strconv.FormatFloat(c.p, 'g', 2, 64))
	}
	return b.String(), nil
}

// percentOf is the mean over seeds, in percent, of what logarithms are given of.
func percentOf(logs map[string]float64) string {
	var all []float64
	for _, x := range logs {
		all = append(all, 100*math.Exp(x))
	}
	slices.Sort(all)
	return strconv.FormatFloat(mean(all), 'g', 3, 64) + " %"
}
