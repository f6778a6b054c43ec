package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/words"
	"pihc/pde"
)

// ReadInputs reads the inputs of samples for the points of g: an NPY file of initial conditions, (x[, y]) or
// (sample, x[, y]), or a file of arrays (NPZ, NetCDF, HDF5) that holds one such array besides coordinates; of a problem that has other
// inputs, a file of arrays with one for each, of samples or of one. The files of a dataset have these arrays.
func ReadInputs(path string, p *pde.Problem, g *grid.Grid) ([][]float64, error) {
	if p.OnlyInitial() {
		return readInitial(path, p, g)
	}
	inputs := p.PlaceInputs(g)
	values, err := readNamedInputs(path, p, inputs)
	if err != nil {
		return nil, err
	}
	samples := make([][]float64, len(values[0])/inputs[0].Size)
	for i := range samples {
		for k, in := range inputs {
			samples[i] = append(samples[i], values[k][i*in.Size:(i+1)*in.Size]...)
		}
	}
	return samples, nil
}

// readNamedInputs reads each of some inputs from a file of arrays: the values of all samples, one after another.
func readNamedInputs(path string, p *pde.Problem, inputs []pde.PlacedInput) ([][]float64, error) {
	var want []string
	for _, in := range inputs {
		shape := strings.Join(append([]string{"sample"}, in.Axes...), ", ")
		want = append(want, fmt.Sprintf("%s (%s)", dataset.InputArray(p, in.Name), shape))
	}
	needs := "problem " + p.Name + " wants a file (.npz, .nc or .h5) with the arrays " + words.List(want)
	arrays, err := data.OpenArrays(context.Background(), path)
	if errors.As(err, new(*data.NoArraysError)) {
		return nil, words.WithHint(fmt.Errorf("inputs: %w", err), "%s", needs)
	}
	if err != nil {
		return nil, fmt.Errorf("inputs: %w", err)
	}
	defer arrays.Close()
	count := -1
	values := make([][]float64, len(inputs))
	for i, in := range inputs {
		name := dataset.InputArray(p, in.Name)
		shape, err := arrays.Shape(name)
		if err != nil {
			return nil, fmt.Errorf("inputs: %w", err)
		}
		if shape == nil {
			return nil, words.WithHint(fmt.Errorf("%s has no array %q", path, name), "%s", needs)
		}
		if slices.Equal(shape, in.Shape()) { // one sample
			shape = append([]int{1}, shape...)
		}
		if len(shape) != 1+len(in.Axes) || !slices.Equal(shape[1:], in.Shape()) || slices.Contains(shape, 0) {
			return nil, words.WithHint(fmt.Errorf("%s: array %s has shape %s; want %s, or samples of it", path, name, words.Shape(shape), words.Shape(in.Shape())),
				"%s", cmp.Or(data.TransposeHint(name, shape, append([]int{-1}, in.Shape()...)), "one value for each point; --grid changes the number of points"))
		}
		if count >= 0 && shape[0] != count {
			return nil, fmt.Errorf("%s: array %s has %d samples, the first one %d", path, name, shape[0], count)
		}
		if err := data.CheckOrder(arrays, name, p.AxisNames()); err != nil {
			return nil, fmt.Errorf("inputs: %w", err)
		}
		a, err := arrays.Read(name, 0)
		if err != nil {
			return nil, fmt.Errorf("inputs: %w", err)
		}
		if err := a.CheckFinite(); err != nil {
			return nil, fmt.Errorf("%s: array %s: %w", path, name, err)
		}
		count, values[i] = shape[0], a.Float64()
	}
	return values, nil
}

// readInitial reads initial conditions for g: (x) or (sample, x), or with two
// space axes (x, y) or (sample, x, y).
func readInitial(path string, p *pde.Problem, g *grid.Grid) ([][]float64, error) {
	want := g.Shape()[1:]
	fits := func(shape []int) error {
		got := shape
		if len(got) == len(want)+1 {
			got = got[1:]
		}
		if slices.Equal(got, want) && !slices.Contains(shape, 0) {
			return nil
		}
		hint := cmp.Or(data.TransposeHint("u0", shape, want), data.TransposeHint("u0", shape, append([]int{-1}, want...)))
		return words.WithHint(fmt.Errorf("%s has shape %s; want %s, or samples of it", path, words.Shape(shape), words.Shape(want)),
			"%s", cmp.Or(hint, fmt.Sprintf("one value for each point of %s; --grid changes the number of points", strings.Join(p.AxisNames()[1:], " and "))))
	}
	array, err := data.ReadArray(path, p.AxisNames(), fits)
	if err != nil {
		return nil, fmt.Errorf("initial condition: %w", err)
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
