package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// expand replaces every {FIGURE} of a text by what the stored evidence says.
func expand(folder, text string) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, rest, closed := strings.Cut(after, "}")
		if !closed {
			return "", fmt.Errorf("{%.40s is not closed", name)
		}
		value, err := figure(folder, name)
		if err != nil {
			return "", fmt.Errorf("{%s}: %w", name, err)
		}
		out.WriteString(value)
		text = rest
	}
}

// figure is one figure of the stored evidence, without a unit:
//
//	mean|worst|median|std|unseen|residual|passes TABLE METHOD [DIGITS] of runs.csv, over seeds, in percent
//	seed N TABLE METHOD [DIGITS]                                         the mean error of one seed
//	least|most WHAT TABLE METHOD [DIGITS]                                over the seeds
//	less TABLE A B                                                       difference of two methods, with its interval
//	decided FAMILY|all FAMILY ...                                        how many comparisons of a family of comparisons.csv (of all) Holm's test leaves, held over those that follow together
//	compared FAMILY ...                                                  how many these are
//	ratio STUDY training|inference POINTS                                PI-HC over PI-HC-MoE, with as many points
//	deviation STUDY training|inference POINTS                            standard deviation of that quotient of one step of each, from theirs
//	time STUDY METHOD training|inference POINTS                          median, in ms
//	spread STUDY METHOD training|inference POINTS                        standard deviation over the mean, in percent
//	iterations STUDY METHOD POINTS                                       of a solve
//	interpolation STUDY prediction|interpolation POINTS                  mean error, in percent
//	rms STUDY METHOD STEP                                                residual on validation samples
//	overtime FILE METHOD T                                               error at a time, in percent, seed 0
//	curve FILE METHOD STEP                                               error on validation samples, in percent, seed 0
//	cell|lowest|median-of|highest FILE COLUMN WHERE ...                  of a column, over the lines of a CSV file where all conditions hold: the mean, least, median and largest
//	json FILE FACTOR:FIGURES KEY ...                                     a number of a JSON file by its keys, and places in lists, times a factor
//	quotient FILE COLUMN WHERE ... / WHERE ...                           of two such means
//	difference FILE COLUMN WHERE ... / WHERE ...                         of two such means, over the seeds that both have, in points, with its 95 % interval
//	count FILE WHERE ...                                                 how many lines there are
//	log FILE REGEXP                                                      the first group of a log's first match, as it stands there
//	number FILE FACTOR:FIGURES REGEXP                                    the same, a number, times a factor
//	per FACTOR:FIGURES FILE REGEXP / FILE REGEXP                         quotient of two such numbers
//
// POINTS is a number or "all"; DIGITS are decimals, and three figures where they are left out. WHERE is KEY=VALUE, KEY<NUMBER or KEY>NUMBER, and
// "KEY=VALUE" where there are spaces in it; COLUMN may be 100*COLUMN, in percent, and COLUMN:FIGURES, in so many figures for three.
func figure(folder, text string) (string, error) {
	f := words(text)
	if len(f) < 3 {
		return "", fmt.Errorf("%d words", len(f))
	}
	switch f[0] {
	case "log":
		return logFigure(folder, f[1], strings.Join(f[2:], " "))
	case "number":
		return numberFigure(folder, f[1], f[2], strings.Join(f[3:], " "))
	case "per":
		return perFigure(folder, f[1], strings.Join(f[2:], " "))
	case "ratio", "deviation", "time", "spread", "iterations":
		return scalingFigure(folder, f)
	case "interpolation":
		return interpolationFigure(folder, f)
	case "rms":
		return rmsFigure(folder, f)
	case "overtime", "curve":
		return csvFigure(folder, f)
	case "json":
		return jsonFigure(folder, f[1], f[2], f[3:])
	case "cell", "lowest", "median-of", "highest", "count":
		return cellFigure(folder, f[0], f[1], f[2:])
	case "compared":
		_, _, all, err := comparisons(folder, f[1:])
		return strconv.Itoa(len(all)), err
	case "decided":
		return decidedFigure(folder, f[1], f[2:])
	case "difference":
		return differenceFigure(folder, f[1], f[2], f[3:])
	case "quotient":
		return quotientFigure(folder, f[1], f[2], f[3:])
	}
	return runFigure(folder, f)
}

// runFigure is a figure of runs.csv.
func runFigure(folder string, f []string) (string, error) {
	runs, err := readRuns(filepath.Join(folder, "runs.csv"))
	if err != nil {
		return "", err
	}
	if f[0] == "less" && len(f) == 4 {
		s := set{table: f[1]}
		a, b := runs[f[1]+" "+f[2]], runs[f[1]+" "+f[3]]
		if len(a) == 0 {
			return "", fmt.Errorf("no run")
		}
		c, err := compare(s.bySeed(a), s.bySeed(b))
		return c.cell(false), err
	}
	how, seed := "mean", ""
	switch what := f[0]; {
	case what == "seed":
		seed, f = f[1], append([]string{"mean"}, f[2:]...)
	case what == "least" || what == "most":
		how, f = what, f[1:]
	case what == "worst":
		how = "most"
	}
	column := map[string]func(run) float64{
		"mean": func(r run) float64 { return r.l2 }, "worst": func(r run) float64 { return r.worst },
		"median": func(r run) float64 { return r.median }, "std": func(r run) float64 { return r.std },
		"unseen": func(r run) float64 { return r.unseen }, "residual": func(r run) float64 { return r.residual },
		"passes": func(r run) float64 { return r.passes / 100 },
	}[f[0]]
	if column == nil || len(f) < 3 {
		return "", fmt.Errorf("no figure is called so")
	}
	var values []float64
	for _, r := range runs[f[1]+" "+f[2]] {
		if x := column(r); x > 0 && (seed == "" || seed == r.seed) {
			values = append(values, x)
		}
	}
	if len(values) == 0 {
		return "", fmt.Errorf("runs.csv has no such run")
	}
	value := mean(values)
	for _, x := range values {
		if how == "least" {
			value = min(value, x)
		} else if how == "most" {
			value = max(value, x)
		}
	}
	if len(f) == 3 {
		return strings.TrimSuffix(percent(value), " %"), nil
	}
	digits, err := strconv.Atoi(f[3])
	return strconv.FormatFloat(100*value, 'f', digits, 64), err
}

// timing is what a study of times says of a method at a number of points.
type timing struct {
	Training       struct{ Mean, Std, Median float64 } `json:"training_s"`
	Inference      struct{ Mean, Std, Median float64 } `json:"inference_s"`
	Iterations     float64
	TrainingRatio  struct{ Mean float64 } `json:"training_hard_over_this"`
	InferenceRatio struct{ Mean float64 } `json:"inference_hard_over_this"`
}

func scalingFigure(folder string, f []string) (string, error) {
	var study struct {
		Rows []struct {
			Points    int
			Hard, MoE timing
		}
	}
	if err := readJSON(filepath.Join(folder, "studies", f[1]+".json"), &study); err != nil {
		return "", err
	}
	points := f[len(f)-1]
	for i, row := range study.Rows {
		if points != strconv.Itoa(row.Points) && (points != "all" || i < len(study.Rows)-1) {
			continue
		}
		t := row.MoE
		if f[2] == "hard" {
			t = row.Hard
		}
		kind, ratio := t.Training, t.TrainingRatio.Mean
		if f[len(f)-2] == "inference" {
			kind, ratio = t.Inference, t.InferenceRatio.Mean
		}
		switch f[0] {
		case "ratio":
			return strconv.FormatFloat(ratio, 'f', 2, 64), nil
		case "deviation":
			own, other := row.MoE.Training, row.Hard.Training
			if f[len(f)-2] == "inference" {
				own, other = row.MoE.Inference, row.Hard.Inference
			}
			return strconv.FormatFloat(ratio*math.Hypot(own.Std/own.Mean, other.Std/other.Mean), 'f', 2, 64), nil
		case "time":
			return strconv.FormatFloat(1000*kind.Median, 'f', 0, 64), nil
		case "spread":
			return strconv.FormatFloat(100*kind.Std/kind.Mean, 'f', 0, 64), nil
		}
		return strconv.FormatFloat(t.Iterations, 'f', 1, 64), nil
	}
	return "", fmt.Errorf("the study has no row of %s points", points)
}

// interpolationFigure is the mean error of predictions, or of cubics, with so many points an expert.
func interpolationFigure(folder string, f []string) (string, error) {
	type score struct{ Mean float64 }
	var study struct {
		Rows []struct {
			Points                    int
			Prediction, Interpolation score
		}
	}
	if err := readJSON(filepath.Join(folder, "studies", f[1]+".json"), &study); err != nil {
		return "", err
	}
	for _, row := range study.Rows {
		if len(f) != 4 || strconv.Itoa(row.Points) != f[3] {
			continue
		}
		of := row.Prediction
		if f[2] == "interpolation" {
			of = row.Interpolation
		}
		return strings.TrimSuffix(percent(of.Mean), " %"), nil
	}
	return "", fmt.Errorf("the study has no such row")
}

// rmsFigure is the root mean square of the equation's rows on validation samples after a step.
func rmsFigure(folder string, f []string) (string, error) {
	var study struct {
		Curves []struct {
			Method, Rows string
			Steps        []int
			RMS          []float64
		}
	}
	if err := readJSON(filepath.Join(folder, "studies", f[1]+".json"), &study); err != nil {
		return "", err
	}
	for _, c := range study.Curves {
		for i, step := range c.Steps {
			if c.Rows == "residual" && c.Method == f[2] && strconv.Itoa(step) == f[len(f)-1] {
				return strconv.FormatFloat(c.RMS[i], 'g', 2, 64), nil
			}
		}
	}
	return "", fmt.Errorf("the study has no such step")
}

// csvFigure is a figure of a curve, or of an error over time, of seed 0.
func csvFigure(folder string, f []string) (string, error) {
	kind, value, match := "over-time", f[2]+" 0", map[string]string{"t": f[len(f)-1]}
	if f[0] == "curve" {
		kind, value, match = "curves", "validation_relative_l2", map[string]string{"method": f[2], "seed": "0", "step": f[len(f)-1]}
	}
	lines, column, err := readLines(filepath.Join(folder, kind, f[1]+".csv"))
	if err != nil {
		return "", err
	}
	for _, line := range lines {
		same := true
		for key, want := range match {
			same = same && line[column[key]] == want
		}
		if k, ok := column[value]; ok && same {
			x, err := strconv.ParseFloat(line[k], 64)
			return strconv.FormatFloat(100*x, 'f', max(0, 1-int(math.Floor(math.Log10(100*x)))), 64), err
		}
	}
	return "", fmt.Errorf("no such line")
}

// logFigure is the first group of the first match of a regular expression in a file.
func logFigure(folder, name, pattern string) (string, error) {
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return "", err
	}
	re, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return "", err
	}
	m := re.FindStringSubmatch(string(text))
	if len(m) < 2 {
		return "", fmt.Errorf("%s has no such line", name)
	}
	return m[1], nil
}

// factorOf takes FACTOR:FIGURES apart.
func factorOf(of string) (factor float64, digits int, err error) {
	of, digits, err = figures(of)
	if err == nil {
		factor, err = strconv.ParseFloat(of, 64)
	}
	return factor, digits, err
}

// jsonFigure is a number of a JSON file times a factor, in so many figures.
func jsonFigure(folder, name, of string, keys []string) (string, error) {
	factor, digits, err := factorOf(of)
	if err != nil {
		return "", err
	}
	var at any
	if err := readJSON(filepath.Join(folder, name), &at); err != nil {
		return "", err
	}
	for _, key := range keys {
		switch x := at.(type) {
		case map[string]any:
			at = x[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(x) {
				return "", fmt.Errorf("%s: %q is no place in a list of %d", name, key, len(x))
			}
			at = x[i]
		}
	}
	x, ok := at.(float64)
	if !ok {
		return "", fmt.Errorf("%s has no number %v", name, keys)
	}
	return significant(factor*x, digits), nil
}

// numberOf is a number of a log.
func numberOf(folder, name, pattern string) (float64, error) {
	text, err := logFigure(folder, name, pattern)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

// numberFigure is a number of a log times a factor, in so many figures.
func numberFigure(folder, name, of, pattern string) (string, error) {
	factor, digits, err := factorOf(of)
	if err != nil {
		return "", err
	}
	x, err := numberOf(folder, name, pattern)
	return significant(factor*x, digits), err
}

// perFigure is the quotient of two numbers of logs times a factor, in so many figures.
func perFigure(folder, of, text string) (string, error) {
	factor, digits, err := factorOf(of)
	if err != nil {
		return "", err
	}
	over, under, _ := strings.Cut(text, " / ")
	name, pattern, _ := strings.Cut(over, " ")
	a, err := numberOf(folder, name, pattern)
	if err != nil {
		return "", err
	}
	name, pattern, _ = strings.Cut(under, " ")
	b, err := numberOf(folder, name, pattern)
	return significant(factor*a/b, digits), err
}

func readJSON(name string, to any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
