package experiment

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/words"
	"pihc/pde"
)

// ReadInputs reads the inputs of samples for the points of g: an NPY file of initial conditions, (x[, y]) or
// (sample, x[, y]), or an NPZ file that holds one such array; of a problem that has other inputs, an NPZ file with one array
// for each. The files of a dataset have these arrays.
func ReadInputs(path string, p *pde.Problem, g *grid.Grid) ([][]float64, error) {
	if p.OnlyInitial() {
		return readInitial(path, p, g)
	}
	inputs := p.PlaceInputs(g)
	var want []string
	for _, in := range inputs {
		shape := strings.Join(append([]string{"sample"}, in.Axes...), ", ")
		want = append(want, fmt.Sprintf("%s (%s)", dataset.InputArray(p, in.Name), shape))
	}
	needs := "problem " + p.Name + " wants an NPZ file with the arrays " + words.List(want)
	if strings.ToLower(filepath.Ext(path)) != ".npz" {
		return nil, words.WithHint(fmt.Errorf("%s is no NPZ file", path), "%s", needs)
	}
	arrays, err := data.ReadNPZ(path)
	if err != nil {
		return nil, fmt.Errorf("inputs: %w", err)
	}
	count := -1
	values := make([][]float64, len(inputs))
	for i, in := range inputs {
		name := dataset.InputArray(p, in.Name)
		a := data.Find(arrays, name)
		if a == nil {
			return nil, words.WithHint(fmt.Errorf("%s has no array %q", path, name), "%s", needs)
		}
		if len(a.Shape) != 1+len(in.Axes) || words.Shape(a.Shape[1:]) != words.Shape(in.Shape()) || a.Len() == 0 {
			hint := "one value for each sample and point; --grid changes the number of points"
			if slices.Equal(a.Shape, in.Shape()) {
				hint = name + "[numpy.newaxis] is one sample"
			}
			return nil, words.WithHint(fmt.Errorf("%s: array %s has shape %s; want samples of %s", path, name, words.Shape(a.Shape), words.Shape(in.Shape())),
				"%s", cmp.Or(a.TransposeHint(name, append([]int{-1}, in.Shape()...)), hint))
		}
		if err := a.CheckFinite(); err != nil {
			return nil, fmt.Errorf("%s: array %s: %w", path, name, err)
		}
		if count >= 0 && a.Shape[0] != count {
			return nil, fmt.Errorf("%s: array %s has %d samples, the first one %d", path, name, a.Shape[0], count)
		}
		count, values[i] = a.Shape[0], a.Float64()
	}
	samples := make([][]float64, count)
	for i := range samples {
		for k, in := range inputs {
			samples[i] = append(samples[i], values[k][i*in.Size:(i+1)*in.Size]...)
		}
	}
	return samples, nil
}

// readInitial reads initial conditions for g: (x) or (sample, x), or with two
// space axes (x, y) or (sample, x, y).
func readInitial(path string, p *pde.Problem, g *grid.Grid) ([][]float64, error) {
	array, err := data.ReadArray(path)
	if err != nil {
		return nil, fmt.Errorf("initial condition: %w", err)
	}
	want := g.Shape()[1:]
	got := array.Shape
	if len(got) == len(want)+1 {
		got = got[1:]
	}
	if words.Shape(got) != words.Shape(want) || array.Len() == 0 {
		hint := cmp.Or(array.TransposeHint("u0", want), array.TransposeHint("u0", append([]int{-1}, want...)))
		return nil, words.WithHint(fmt.Errorf("initial condition %s has shape %s; want %s, or samples of it", path, words.Shape(array.Shape), words.Shape(want)),
			"%s", cmp.Or(hint, fmt.Sprintf("one value for each point of %s; --grid changes the number of points", strings.Join(p.AxisNames()[1:], " and "))))
	}
	if err := array.CheckFinite(); err != nil {
		return nil, fmt.Errorf("initial condition %s: %w", path, err)
	}
	count := 1
	if len(array.Shape) > len(want) {
		count = array.Shape[0]
	}
	return rowsOf(array.Float64(), count), nil
}

func coordinates(a grid.Axis) []float64 {
	x := make([]float64, a.Points)
	for i := range x {
		x[i] = a.Coordinate(i)
	}
	return x
}
