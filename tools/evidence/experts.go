package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

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

// families are the arms of a study as the page calls them.
var families = map[string]string{
	"hard": "one solve", "moe": "experts", "moe-random": "experts, rows from anywhere",
	"moe-coupled": "experts, a quarter of the rows beyond their borders",
}

// readStudy returns the arms of a study of experts by seed, of which there is at least one.
func readStudy(folder, study string) (bySeed map[string][]arm, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "studies", study+"-seed-*.json"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no study %s in docs/runs/studies", study)
	}
	bySeed = map[string][]arm{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var s struct{ Arms []arm }
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		base := strings.TrimSuffix(filepath.Base(name), ".json")
		bySeed[base[strings.LastIndex(base, "-")+1:]] = s.Arms
	}
	return bySeed, nil
}

// expertTable has the arms of a study, each with the errors of its seeds.
func expertTable(folder, study string) (string, error) {
	bySeed, err := readStudy(folder, study)
	if err != nil {
		return "", err
	}
	seeds := sortedKeys(bySeed)
	var b strings.Builder
	b.WriteString("| arm | experts | N | error by seed | mean | operations of the solves |\n|---|---|---|---|---|---|\n")
	for _, first := range bySeed[seeds[0]] {
		errors, err := armErrors(bySeed, first.Name)
		if err != nil {
			return "", fmt.Errorf("study %s: %w", study, err)
		}
		var texts []string
		var all []float64
		flop := 0.0
		for _, seed := range seeds {
			all = append(all, errors[seed])
			texts = append(texts, strings.TrimSuffix(percent(errors[seed]), " %"))
			i := slices.IndexFunc(bySeed[seed], func(a arm) bool { return a.Name == first.Name })
			flop += bySeed[seed][i].Flop / float64(len(seeds))
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s %% | %s | %.1e |\n", families[first.Family], first.Experts, first.Basis, strings.Join(texts, ", "), percent(mean(all)), flop)
	}
	return b.String(), nil
}

// armErrors is the mean error of an arm at every seed.
func armErrors(bySeed map[string][]arm, name string) (map[string]float64, error) {
	errors := map[string]float64{}
	for seed, arms := range bySeed {
		i := slices.IndexFunc(arms, func(a arm) bool { return a.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("arm %s is not there at seed %s", name, seed)
		}
		errors[seed] = arms[i].Error.Mean
	}
	return errors, nil
}

// errorsOf are errors by seed of what comparisons.csv names: "runs TABLE METHOD [seed<N]", "studies STUDY ARM",
// or several with "and" between them, which have other seeds.
func errorsOf(folder string, runs map[string]group, text string) (map[string]float64, error) {
	out := map[string]float64{}
	for part := range strings.SplitSeq(text, " and ") {
		kind, name, _ := strings.Cut(part, " ")
		errors := map[string]float64{}
		switch study, armName, _ := strings.Cut(name, " "); kind {
		case "runs":
			among := func(seed string) bool { return true }
			if at := strings.LastIndex(name, " seed<"); at >= 0 {
				var err error
				if _, among, err = condition(name[at+1:]); err != nil {
					return nil, err
				}
				name = name[:at]
			}
			for _, r := range runs[name] {
				if among(r.seed) {
					errors[r.seed] = r.l2
				}
			}
		case "studies":
			bySeed, err := readStudy(folder, study)
			if err == nil {
				errors, err = armErrors(bySeed, armName)
			}
			if err != nil {
				return nil, err
			}
		}
		if len(errors) == 0 {
			return nil, fmt.Errorf("comparisons.csv: nothing is known of %q", part)
		}
		for seed, x := range errors {
			if _, twice := out[seed]; twice {
				return nil, fmt.Errorf("comparisons.csv: %q has seed %s twice", text, seed)
			}
			out[seed] = x
		}
	}
	return out, nil
}

// comparisons are the lines of comparisons.csv of some families, and their differences.
func comparisons(folder string, families []string) (lines [][]string, column map[string]int, all []comparison, err error) {
	runs, err := readRuns(filepath.Join(folder, "runs.csv"))
	if err != nil {
		return nil, nil, nil, err
	}
	lines, column, err = readLines(filepath.Join(folder, "comparisons.csv"))
	if err != nil {
		return nil, nil, nil, err
	}
	for _, family := range families {
		if !slices.ContainsFunc(lines, func(line []string) bool { return line[column["family"]] == family }) {
			return nil, nil, nil, fmt.Errorf("comparisons.csv has no family %q", family)
		}
	}
	lines = slices.DeleteFunc(lines, func(line []string) bool { return !slices.Contains(families, line[column["family"]]) })
	for _, line := range lines {
		var of [2]map[string]float64
		for i, key := range []string{"a", "b"} {
			if of[i], err = errorsOf(folder, runs, line[column[key]]); err != nil {
				return nil, nil, nil, err
			}
		}
		c, err := compare(of[0], of[1])
		if err != nil {
			return nil, nil, nil, fmt.Errorf("comparisons.csv: %s: %w", line[column["what"]], err)
		}
		all = append(all, c)
	}
	return lines, column, all, nil
}

// comparisonTable has the differences of one family of comparisons.csv.
func comparisonTable(folder, family string) (string, error) {
	lines, column, all, err := comparisons(folder, []string{family})
	if err != nil {
		return "", err
	}
	differ := holm(all)
	var b strings.Builder
	b.WriteString("| | | seeds | difference | p |\n|---|---|---|---|---|\n")
	for i, line := range lines {
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s |\n", line[column["problem"]], line[column["what"]], all[i].n, all[i].cell(differ[i]), strconv.FormatFloat(all[i].p, 'g', 2, 64))
	}
	return b.String(), nil
}

// decidedFigure is how many of a family's comparisons Holm's test leaves that is held over several families together ("all": of these).
func decidedFigure(folder, of string, families []string) (string, error) {
	lines, column, all, err := comparisons(folder, families)
	if err != nil {
		return "", err
	}
	if of != "all" && !slices.Contains(families, of) {
		return "", fmt.Errorf("%s is none of %v", of, families)
	}
	n := 0
	for i, differs := range holm(all) {
		if differs && (of == "all" || lines[i][column["family"]] == of) {
			n++
		}
	}
	return strconv.Itoa(n), nil
}
