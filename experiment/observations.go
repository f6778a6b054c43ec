package experiment

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/disk"
	"pihc/internal/inverse"
	"pihc/internal/words"
	"pihc/pde"
)

// columns is a table of numbers by the names of its columns, each as long as the others.
type columns struct {
	path    string
	numbers map[string][]float64
	names   []string // of the unknown, where that is in words
	line    func(i int) string
}

// ofFit are the columns that an inversion adds to its observations.
var ofFit = []string{"fit", "fit_sigma"}

// readObservations reads values of unknowns with their standard deviations: a CSV file whose first line names the columns, or a file of
// arrays with these names: every axis of the problem, value, sigma, and, where there are several, unknown (its name; in a file of arrays
// its position) and experiment (its position among the samples of inputs). What an inversion adds (ofFit) is passed over. Points lie anywhere in the box.
func readObservations(path string, p *pde.Problem, experiments int) ([]inverse.Observation, error) {
	c, err := readColumns(path)
	if err != nil {
		return nil, fmt.Errorf("observations: %w", err)
	}
	want := append(p.AxisNames(), "value", "sigma")
	for name := range c.numbers {
		if !slices.Contains(slices.Concat(want, ofFit, []string{"unknown", "experiment"}), name) {
			return nil, words.WithHint(usagef("%s: column %q is not known", path, name), "columns are %s, and unknown and experiment", words.List(want))
		}
	}
	count := -1
	for _, name := range want {
		values, ok := c.numbers[name]
		if !ok {
			return nil, words.WithHint(usagef("%s has no column %s", path, name), "columns are %s, and where there are several unknown and experiment", words.List(want))
		}
		if count >= 0 && len(values) != count {
			return nil, usagef("%s: %s has %d values, others %d", path, name, len(values), count)
		}
		count = len(values)
	}
	if count == 0 {
		return nil, usagef("%s has no observations", path)
	}
	if experiments > 1 && c.numbers["experiment"] == nil {
		return nil, words.WithHint(usagef("%s has no column experiment, and --initial has %d samples", path, experiments), "each line says by a number from 0 to %d in which of them its value was observed", experiments-1)
	}
	if len(p.Unknowns) > 1 && c.names == nil && c.numbers["unknown"] == nil {
		return nil, words.WithHint(usagef("%s has no column unknown", path), "the unknowns are %s: each line says of which its value is", words.List(p.UnknownNames()))
	}
	var all []inverse.Observation
	for i := range count {
		o, err := c.observation(i, p, experiments)
		if err != nil {
			return nil, usagef("%s: %s: %w", path, c.line(i), err)
		}
		all = append(all, o)
	}
	return all, nil
}

// remarks is what the files of an inversion on g make a reader doubt.
func (o *InvertOptions) remarks(p *pde.Problem, g *grid.Grid, samples [][]float64, observations []inverse.Observation) (all []string) {
	if text := doubled(observations); text != "" {
		all = append(all, o.Observe+": "+text)
	}
	if text := endsTwice(p, g, samples); text != "" {
		all = append(all, o.Initial+": "+text)
	}
	return all
}

// doubled says that observations are there more than once, in all that is read of them; "": none is.
func doubled(all []inverse.Observation) string {
	first, count, example := map[string]int{}, 0, ""
	for i, o := range all {
		key := fmt.Sprint(o)
		if k, ok := first[key]; !ok {
			first[key] = i
		} else if count++; count == 1 {
			example = fmt.Sprintf("observation %d is observation %d again", i, k)
		}
	}
	switch count {
	case 0:
		return ""
	case 1:
		return example + ", and counts as one of its own"
	}
	return fmt.Sprintf("%d observations are there before, such as %s, and count as ones of their own", count, strings.Replace(example, " is ", ", which is ", 1))
}

// observation reads one row.
func (c *columns) observation(i int, p *pde.Problem, experiments int) (o inverse.Observation, err error) {
	for _, a := range p.Axes {
		x := c.numbers[a.Name][i]
		if slack := 1e-9 * (a.Hi - a.Lo); !(x >= a.Lo-slack && x <= a.Hi+slack) {
			return o, fmt.Errorf("%s = %g is outside the box, %g to %g", a.Name, x, a.Lo, a.Hi)
		}
		o.At = append(o.At, min(max(x, a.Lo), a.Hi))
	}
	o.Value, o.Sigma = c.numbers["value"][i], c.numbers["sigma"][i]
	if math.IsNaN(o.Value) || math.IsInf(o.Value, 0) {
		return o, fmt.Errorf("value %g: want a number", o.Value)
	}
	if !(o.Sigma > 0) || math.IsInf(o.Sigma, 0) {
		return o, fmt.Errorf("sigma %g: want the standard deviation of the value, a positive number", o.Sigma)
	}
	position := func(name string, n int) (int, error) {
		list := c.numbers[name]
		if list == nil {
			return 0, nil
		}
		if n == 1 && len(list) > i && list[i] != 0 {
			return 0, fmt.Errorf("%s %g: there is one alone, 0%s", name, list[i], map[string]string{"experiment": "; --initial has a sample for each experiment"}[name])
		}
		if len(list) <= i || list[i] != math.Trunc(list[i]) || list[i] < 0 || list[i] >= float64(n) {
			return 0, fmt.Errorf("%s: want a whole number from 0 to %d", name, n-1)
		}
		return int(list[i]), nil
	}
	if o.Experiment, err = position("experiment", experiments); err != nil {
		return o, err
	}
	if c.names == nil {
		o.Unknown, err = position("unknown", len(p.Unknowns))
		return o, err
	}
	if o.Unknown = slices.Index(p.UnknownNames(), c.names[i]); o.Unknown < 0 {
		return o, fmt.Errorf("there is no unknown %q; there are %s", c.names[i], words.List(p.UnknownNames()))
	}
	return o, nil
}

// pandasIndex is the array of a NetCDF file with which xarray numbers the rows of a table of pandas.
const pandasIndex = "index"

func readColumns(path string) (*columns, error) {
	if path == "" {
		return nil, usagef("--observe FILE missing")
	}
	if data.HoldsArrays(path) {
		arrays, err := data.ReadArrays(path, pandasIndex)
		if err != nil {
			return nil, err
		}
		c := &columns{path: path, numbers: map[string][]float64{}, line: func(i int) string { return fmt.Sprintf("observation %d", i) }}
		for _, a := range arrays {
			if len(a.Array.Shape) > 1 {
				return nil, usagef("%s: array %s has shape %s; want one axis", path, a.Name, words.Shape(a.Array.Shape))
			}
			c.numbers[a.Name] = a.Array.Float64()
		}
		return c, nil
	}
	text, err := disk.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return nil, words.WithHint(usagef("%s is UTF-16", path), "want UTF-8: iconv -f UTF-16 -t UTF-8")
	}
	if !bytes.Contains(text, []byte("\n")) { // lines that end as on old Macintoshes
		text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.TrimLeadingSpace, r.Comment = true, '#'
	head, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, usagef("%s is empty", path)
	}
	var lines []int
	c := &columns{path: path, numbers: map[string][]float64{}, line: func(i int) string { return fmt.Sprintf("line %d", lines[i]) }}
	for i := range head {
		head[i] = strings.TrimSpace(head[i])
		if len(head) == 1 && strings.ContainsAny(head[0], ";\t ") {
			return nil, usagef("%s: line 1: %q is one column: want commas between names", path, head[0])
		}
		if _, twice := c.numbers[head[i]]; twice {
			return nil, usagef("%s: column %q is there twice", path, head[i])
		}
		c.numbers[head[i]] = []float64{}
	}
	for err == nil {
		var row []string
		if row, err = r.Read(); err != nil {
			break
		}
		line, _ := r.FieldPos(0)
		lines = append(lines, line)
		for i, cell := range row {
			cell = strings.TrimSpace(cell)
			if head[i] == "unknown" {
				c.names = append(c.names, cell)
				continue
			}
			v, bad := strconv.ParseFloat(cell, 64)
			if bad != nil {
				return nil, usagef("%s: line %d: %s: %q is no number", path, line, head[i], cell)
			}
			c.numbers[head[i]] = append(c.numbers[head[i]], v)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, usagef("%s: %w", path, err)
	}
	return c, nil
}

// readInputsInto adds the wanted inputs of all experiments to known, and returns how many experiments there are.
func readInputsInto(known map[string][]float64, path string, p *pde.Problem, g *grid.Grid, wanted []pde.PlacedInput) (count int, err error) {
	if len(wanted) == 0 {
		return 0, usagef("--initial %s: nothing is left to read: all inputs are free, have a --value, or are in no row of %s", path, p.Name)
	}
	if len(wanted) == 1 && !hasArray(path, dataset.InputArray(p, wanted[0].Name)) && p.Initials() > 0 && wanted[0].Name == p.Inputs[0].Name {
		samples, err := readInitial(path, p, g)
		if err != nil {
			return 0, err
		}
		known[wanted[0].Name] = slices.Concat(samples...)
		return len(samples), nil
	}
	values, err := readNamedInputs(path, p, wanted)
	if err != nil {
		return 0, err
	}
	for k, in := range wanted {
		known[in.Name] = values[k]
	}
	return len(values[0]) / wanted[0].Size, nil
}

// hasArray reports whether a file of arrays has one of the name.
func hasArray(path, name string) bool {
	f, err := data.OpenArrays(context.Background(), path)
	if err != nil {
		return false
	}
	defer f.Close()
	return slices.Contains(f.Names(), name)
}
