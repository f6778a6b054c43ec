package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
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
	return samplesOf(values, inputs), nil
}

// Inputs are the inputs of samples from arrays in memory, which are those that ReadInputs reads from a file: of initial
// conditions alone one array of any name. Messages name the arrays by from.
func Inputs(from string, arrays []data.Named, p *pde.Problem, g *grid.Grid) ([][]float64, error) {
	for _, a := range arrays {
		if a.Array == nil {
			return nil, fmt.Errorf("%s: array %q is nil", from, a.Name)
		}
	}
	if !p.OnlyInitial() {
		inputs := p.PlaceInputs(g)
		for _, a := range arrays {
			if !slices.ContainsFunc(inputs, func(in pde.PlacedInput) bool { return dataset.InputArray(p, in.Name) == a.Name }) {
				return nil, words.WithHint(fmt.Errorf("%s: array %q is no input of the problem", from, a.Name), "%s", needed(p, inputs))
			}
		}
		values, err := namedInputs(from, memory(arrays), p, inputs)
		if err != nil {
			return nil, err
		}
		return samplesOf(values, inputs), nil
	}
	if len(arrays) != 1 {
		return nil, words.WithHint(fmt.Errorf("%s: %d arrays", from, len(arrays)), "problem %s wants one array, of initial conditions", p.Name)
	}
	from = arrays[0].Name
	if err := initialShape(from, arrays[0].Array.Shape, g, p); err != nil {
		return nil, err
	}
	return initialSamples(from, arrays[0].Array, g)
}

// memory is a file of arrays that is none.
type memory []data.Named

func (m memory) Shape(name string) ([]int, error) {
	if a := data.Find(m, name); a != nil {
		return append([]int{}, a.Shape...), nil
	}
	return nil, nil
}

func (m memory) Read(name string, _ int) (*data.Array, error) { return data.Find(m, name), nil }

func (m memory) Names() (names []string) {
	for _, a := range m {
		names = append(names, a.Name)
	}
	return names
}

func (m memory) Close() error { return nil }

// needed are the arrays of a problem that has inputs beside one initial condition.
func needed(p *pde.Problem, inputs []pde.PlacedInput) string {
	var want []string
	for _, in := range inputs {
		shape := strings.Join(append([]string{"sample"}, in.Axes...), ", ")
		want = append(want, fmt.Sprintf("%s (%s)", dataset.InputArray(p, in.Name), shape))
	}
	return "problem " + p.Name + " wants a file (.npz, .nc or .h5) with the arrays " + words.List(want)
}

// readNamedInputs reads each of some inputs from a file of arrays: the values of all samples, one after another.
func readNamedInputs(path string, p *pde.Problem, inputs []pde.PlacedInput) ([][]float64, error) {
	arrays, err := data.OpenArrays(context.Background(), path)
	if errors.As(err, new(*data.NoArraysError)) {
		return nil, words.WithHint(fmt.Errorf("inputs: %w", err), "%s", needed(p, inputs))
	}
	if err != nil {
		return nil, fmt.Errorf("inputs: %w", err)
	}
	defer arrays.Close()
	return namedInputs(path, arrays, p, inputs)
}

// namedInputs are the values of each of some inputs, of all samples, one after another.
func namedInputs(from string, arrays data.Arrays, p *pde.Problem, inputs []pde.PlacedInput) ([][]float64, error) {
	count := -1
	values := make([][]float64, len(inputs))
	for i, in := range inputs {
		name := dataset.InputArray(p, in.Name)
		shape, err := arrays.Shape(name)
		if err != nil {
			return nil, fmt.Errorf("inputs: %w", err)
		}
		if shape == nil {
			return nil, words.WithHint(fmt.Errorf("%s has no array %q", from, name), "%s", needed(p, inputs))
		}
		if slices.Equal(shape, in.Shape()) { // one sample
			shape = append([]int{1}, shape...)
		}
		if len(shape) != 1+len(in.Axes) || !slices.Equal(shape[1:], in.Shape()) || slices.Contains(shape, 0) {
			return nil, words.WithHint(fmt.Errorf("%s: array %s has shape %s; want %s, or samples of it", from, name, words.Shape(shape), words.Shape(in.Shape())),
				"%s", cmp.Or(data.TransposeHint(name, shape, append([]int{-1}, in.Shape()...)), "one value for each point; --grid changes the number of points"))
		}
		if count >= 0 && shape[0] != count {
			return nil, fmt.Errorf("%s: array %s has %d samples, the first one %d", from, name, shape[0], count)
		}
		if err := data.CheckOrder(arrays, name, p.AxisNames()); err != nil {
			return nil, fmt.Errorf("inputs: %w", err)
		}
		a, err := arrays.Read(name, 0)
		if err != nil {
			return nil, fmt.Errorf("inputs: %w", err)
		}
		if err := a.CheckFinite(); err != nil {
			return nil, fmt.Errorf("%s: array %s: %w", from, name, err)
		}
		if err := onPoints(from, arrays, in.Space); err != nil {
			return nil, err
		}
		count, values[i] = shape[0], a.Float64()
	}
	return values, nil
}

// onPoints reports coordinates among arrays that are not those of the axes.
func onPoints(from string, arrays data.Arrays, axes []grid.Axis) error {
	if err := dataset.SameCoordinates(arrays, axes); err != nil {
		return words.WithHint(fmt.Errorf("%s: %w", from, err), dataset.HintPoints)
	}
	return nil
}

// atStart reports times beside an array of a shape: one that is not the first of the grid or, if the array is not called initial, as many as its
// first axis is long, which are those of a solution.
func atStart(from string, arrays data.Arrays, shape []int, g *grid.Grid) error {
	axis := g.Axes[0]
	times, err := arrays.Shape(axis.Name)
	if times == nil || err != nil {
		return err
	}
	a, err := arrays.Read(axis.Name, 0)
	if err != nil {
		return err
	}
	switch at := a.Float64(); {
	case len(at) == 1 && !(math.Abs(at[0]-axis.Lo) <= 1e-4*axis.Step()):
		return words.WithHint(fmt.Errorf("%s: its values are at %s = %g; an initial condition is at %[2]s = %[4]g", from, axis.Name, at[0], axis.Lo),
			"axes.%s.range of the PDE file says where solutions begin", axis.Name)
	case len(at) > 1 && len(shape) == len(g.Shape()) && shape[0] == len(at) && !slices.Contains(arrays.Names(), dataset.GivenInitial):
		return words.WithHint(fmt.Errorf("%s: its values are at %d points of %s: a solution, and no initial conditions", from, len(at), axis.Name),
			"write those at %s = %g alone, or leave %[1]s out if they are samples", axis.Name, axis.Lo)
	}
	return nil
}

// samplesOf are the inputs of each sample, one after another, from those of all samples.
func samplesOf(values [][]float64, inputs []pde.PlacedInput) [][]float64 {
	samples := make([][]float64, len(values[0])/inputs[0].Size)
	for i := range samples {
		for k, in := range inputs {
			samples[i] = append(samples[i], values[k][i*in.Size:(i+1)*in.Size]...)
		}
	}
	return samples
}

// readInitial reads initial conditions for g from a file.
func readInitial(path string, p *pde.Problem, g *grid.Grid) ([][]float64, error) {
	array, err := data.ReadArray(path, dataset.GivenInitial, p.AxisNames(), func(shape []int, in data.Arrays) error {
		if err := initialShape(path, shape, g, p); err != nil || in == nil {
			return err
		}
		if err := onPoints(path, in, g.Axes[1:]); err != nil {
			return err
		}
		return atStart(path, in, shape, g)
	})
	if err != nil {
		return nil, fmt.Errorf("initial condition: %w", err)
	}
	return initialSamples(path, array, g)
}

// endsTwice says that inputs hold both ends of a periodic axis: in all samples the last value of every line along it is the first one, and
// fields are not the same everywhere; "" where that is not so. The last point of a periodic axis is a step before its end.
func endsTwice(p *pde.Problem, g *grid.Grid, samples [][]float64) string {
	for _, in := range p.PlaceInputs(g) {
		stride := in.Size
		for _, axis := range in.Space {
			stride /= axis.Points
			if axis.Boundary == grid.Periodic && !slices.ContainsFunc(samples, func(sample []float64) bool { return !closes(in.Of(sample), axis.Points, stride) }) {
				return fmt.Sprintf("%s has the same values at the first and the last point of %s, which is periodic: its %d points end a step before %g (numpy.linspace(%g, %g, %[3]d, endpoint=False))",
					in.Name, axis.Name, axis.Points, axis.Hi, axis.Lo, axis.Hi)
			}
		}
	}
	return ""
}

// closes reports whether lines of a field, of so many points, stride apart, end with what they begin with, though they vary.
func closes(u []float64, points, stride int) bool {
	most := 0.0
	for _, v := range u {
		most = max(most, math.Abs(v))
	}
	varies := false
	for q, v := range u {
		k := q / stride % points
		varies = varies || k > 0 && math.Abs(v-u[q-stride]) > 1e-3*most
		if k == points-1 && math.Abs(v-u[q-k*stride]) > 1e-12*most {
			return false
		}
	}
	return varies
}

// initialShape reports a shape that is none of initial conditions for g: (x) or (sample, x), or with two
// space axes (x, y) or (sample, x, y).
func initialShape(from string, shape []int, g *grid.Grid, p *pde.Problem) error {
	want, got := g.Shape()[1:], shape
	if len(got) == len(want)+1 {
		got = got[1:]
	}
	if slices.Equal(got, want) && !slices.Contains(shape, 0) {
		return nil
	}
	hint := cmp.Or(data.TransposeHint("u0", shape, want), data.TransposeHint("u0", shape, append([]int{-1}, want...)))
	return words.WithHint(fmt.Errorf("%s has shape %s; want %s, or samples of it", from, words.Shape(shape), words.Shape(want)),
		"%s", cmp.Or(hint, fmt.Sprintf("one value for each point of %s; --grid changes the number of points", strings.Join(p.AxisNames()[1:], " and "))))
}

// initialSamples are the initial conditions of an array that has a shape for g.
func initialSamples(from string, array *data.Array, g *grid.Grid) ([][]float64, error) {
	if err := array.CheckFinite(); err != nil {
		return nil, fmt.Errorf("initial condition %s: %w", from, err)
	}
	count := 1
	if len(array.Shape) > len(g.Shape())-1 {
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
