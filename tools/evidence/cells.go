package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// words takes a text apart at its spaces, but for those between quotation marks.
func words(text string) (out []string) {
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

// condition is what a line of a CSV file is asked for: KEY=VALUE, KEY<NUMBER or KEY>NUMBER.
func condition(text string) (key string, holds func(string) bool, err error) {
	i := strings.IndexAny(text, "=<>")
	if i < 0 {
		return "", nil, fmt.Errorf("%q is no condition", text)
	}
	key, want := text[:i], text[i+1:]
	if text[i] == '=' {
		return key, func(cell string) bool { return cell == want }, nil
	}
	bound, err := strconv.ParseFloat(want, 64)
	if err != nil {
		return "", nil, fmt.Errorf("%q: %w", text, err)
	}
	sign := 1.0
	if text[i] == '>' {
		sign = -1
	}
	return key, func(cell string) bool {
		x, err := strconv.ParseFloat(cell, 64)
		return err == nil && sign*x < sign*bound
	}, nil
}

// matching returns the lines of a CSV file where all conditions hold, of which there is one at least.
func matching(name string, where []string) (lines [][]string, column map[string]int, err error) {
	lines, column, err = matched(name, where)
	if err == nil && len(lines) == 0 {
		err = fmt.Errorf("%s has no line with %v", name, where)
	}
	return lines, column, err
}

// matched returns the lines of a CSV file where all conditions hold.
func matched(name string, where []string) (lines [][]string, column map[string]int, err error) {
	lines, column, err = readLines(name)
	if err != nil {
		return nil, nil, err
	}
	for _, text := range where {
		key, holds, err := condition(text)
		if err != nil {
			return nil, nil, err
		}
		at, ok := column[key]
		if !ok {
			return nil, nil, fmt.Errorf("%s has no column %q", name, key)
		}
		lines = slices.DeleteFunc(lines, func(line []string) bool { return !holds(line[at]) })
	}
	return lines, column, nil
}

// cells returns the values of a column, [FACTOR*]NAME, where all conditions hold.
func cells(name, of string, where []string) ([]float64, error) {
	lines, column, err := matching(name, where)
	if err != nil {
		return nil, err
	}
	factor := 1.0
	if before, after, ok := strings.Cut(of, "*"); ok {
		if factor, err = strconv.ParseFloat(before, 64); err != nil {
			return nil, err
		}
		of = after
	}
	at, ok := column[of]
	if !ok {
		return nil, fmt.Errorf("%s has no column %q", name, of)
	}
	var values []float64
	for _, line := range lines {
		x, err := strconv.ParseFloat(line[at], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		values = append(values, factor*x)
	}
	return values, nil
}

// figures takes the number of figures, three where there is none, from the end of a column.
func figures(of string) (column string, digits int, err error) {
	column, text, ok := strings.Cut(of, ":")
	if digits = 3; ok {
		digits, err = strconv.Atoi(text)
	}
	return column, digits, err
}

// significant writes a number with so many figures, or all of its whole part where that has more.
func significant(x float64, digits int) string {
	if x == 0 {
		return "0"
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	return strconv.FormatFloat(x, 'f', max(0, digits-1-int(math.Floor(math.Log10(math.Abs(rounded))))), 64)
}

// cellFigure is a figure of the lines of a CSV file, how: of count their number, of others the mean, least, median or largest of a column.
// Numbers of samples have all their figures.
func cellFigure(folder, how, name string, rest []string) (string, error) {
	name = filepath.Join(folder, name)
	if how == "count" {
		// A name that no line has is an error; none within bounds are none.
		if _, _, err := matching(name, slices.DeleteFunc(slices.Clone(rest), func(text string) bool { return !strings.Contains(text, "=") })); err != nil {
			return "", err
		}
		lines, _, err := matched(name, rest)
		return strconv.Itoa(len(lines)), err
	}
	of, digits, err := figures(rest[0])
	if err != nil {
		return "", err
	}
	values, err := cells(name, of, rest[1:])
	if err != nil {
		return "", err
	}
	value := mean(values)
	switch {
	case how == "lowest":
		value = slices.Min(values)
	case how == "median-of":
		slices.Sort(values)
		value = (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	case how == "highest":
		value = slices.Max(values)
	case of == "samples":
		return strconv.FormatFloat(value, 'f', -1, 64), nil
	}
	return significant(value, digits), nil
}

// sides takes conditions apart at a slash.
func sides(where []string) (a, b []string, err error) {
	slash := slices.Index(where, "/")
	if slash < 0 {
		return nil, nil, fmt.Errorf("%q: no slash between two conditions", where)
	}
	return where[:slash], where[slash+1:], nil
}

// quotientFigure is the mean of a column where the conditions before a slash hold, over that where those after it do.
func quotientFigure(folder, name, of string, where []string) (string, error) {
	name = filepath.Join(folder, name)
	of, digits, err := figures(of)
	if err != nil {
		return "", err
	}
	over, under, err := sides(where)
	if err != nil {
		return "", err
	}
	a, err := cells(name, of, over)
	if err != nil {
		return "", err
	}
	b, err := cells(name, of, under)
	if err != nil {
		return "", err
	}
	return significant(mean(a)/mean(b), digits), nil
}

// differenceFigure compares a column, of fractions, where the conditions before a slash hold with where those after it do, paired by the column seed.
func differenceFigure(folder, name, of string, where []string) (string, error) {
	name = filepath.Join(folder, name)
	one, other, err := sides(where)
	if err != nil {
		return "", err
	}
	bySeed := func(where []string) (map[string]float64, error) {
		lines, column, err := matching(name, where)
		if err != nil {
			return nil, err
		}
		out := map[string]float64{}
		for _, line := range lines {
			seed := line[column["seed"]]
			if _, twice := out[seed]; twice {
				return nil, fmt.Errorf("%s has seed %s twice where %v", name, seed, where)
			}
			if out[seed], err = strconv.ParseFloat(line[column[of]], 64); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	a, err := bySeed(one)
	if err != nil {
		return "", err
	}
	b, err := bySeed(other)
	if err != nil {
		return "", err
	}
	c, err := compare(a, b)
	return c.cell(false), err
}
