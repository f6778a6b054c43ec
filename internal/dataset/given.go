package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/disk"
	"pihc/internal/words"
	"pihc/pde"
)

// The arrays of a file of solutions.
const (
	GivenSolution = "solution" // (sample, t, x[, y]); of several unknowns each has its own name
	GivenInitial  = "initial"  // (sample, x[, y]); default: the solutions at the first point of the first axis. Other inputs, and several initial conditions, have their own names
	GivenTrain    = "train"    // (sample, x[, y]): initial conditions to train with
)

// SolutionArrays are the names of the solutions in files of samples, one for each unknown.
func SolutionArrays(p *pde.Problem) []string {
	if len(p.Unknowns) == 1 {
		return []string{GivenSolution}
	}
	return p.UnknownNames()
}

// missingFile is a file of solutions that is not there.
type missingFile struct{ text string }

func (e *missingFile) Error() string        { return e.text }
func (e *missingFile) Is(target error) bool { return target == fs.ErrNotExist }

// given is a problem's file of solutions, on the grid of its own shape.
type given struct {
	problem   *pde.Problem
	path      string
	grid      *grid.Grid
	count     int
	solutions [][]float64 // per unknown: (sample, t, x[, y])
	inputs    []pde.PlacedInput
	values    [][]float64 // per input: (sample, its values); nil: the solutions at the first point of the first axis
	train     []float64   // (trains, x[, y]), nil where the file has none
	trains    int
}

// givenPath is where a problem's file of solutions is.
func givenPath(p *pde.Problem) string {
	if filepath.IsAbs(p.Reference.File) {
		return p.Reference.File
	}
	return filepath.Join(filepath.Dir(p.File()), p.Reference.File)
}

func (f *given) fail(hint, format string, args ...any) error {
	return words.WithHint(fmt.Errorf("reference: %s: %s", f.path, fmt.Sprintf(format, args...)), "%s", hint)
}

// readGiven reads a problem's file of solutions. Other shapes than that of on are errors; with nil
// the file says how many points there are.
func readGiven(p *pde.Problem, on *grid.Grid) (*given, error) {
	f := &given{problem: p, path: givenPath(p), grid: on}
	arrays, err := data.OpenArrays(context.Background(), f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &missingFile{fmt.Sprintf("reference: there is no file %s; its path is relative to the folder of the PDE file", f.path)}
	}
	if err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	defer arrays.Close()
	names := SolutionArrays(p)
	if on == nil {
		points, err := arrays.Shape(names[0])
		if err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
		if f.grid, err = f.gridOf(points); err != nil {
			return nil, err
		}
	}
	shape := f.grid.Shape()
	for i, name := range names {
		solution, n, err := f.samples(arrays, name, shape)
		if err != nil {
			return nil, err
		}
		if solution == nil {
			return nil, f.fail("`pihc import` writes a file with that name from one with others", "it has no array %q of shape (sample, %s)", name, words.Shape(shape))
		}
		if i > 0 && n != f.count {
			return nil, f.fail("", "%d solutions in array %s, %d in that before it", n, name, f.count)
		}
		f.solutions, f.count = append(f.solutions, solution), n
	}
	f.inputs = p.PlaceInputs(f.grid)
	f.values = make([][]float64, len(f.inputs))
	for i, in := range f.inputs {
		name := InputArray(p, in.Name)
		values, n, err := f.samples(arrays, name, in.Shape())
		if err != nil {
			return nil, err
		}
		if values == nil && i >= p.Initials() {
			return nil, f.fail("", "it has no array %q of shape %s, the input of each solution", name, words.Shape(append([]int{f.count}, in.Shape()...)))
		}
		if values != nil && n != f.count {
			if name == GivenInitial {
				name = "initial conditions"
			}
			return nil, f.fail("", "%d %s for %d solutions", n, name, f.count)
		}
		f.values[i] = values
	}
	if f.train, f.trains, err = f.samples(arrays, GivenTrain, shape[1:]); err != nil {
		return nil, err
	}
	if f.train != nil && !p.OnlyInitial() {
		return nil, f.fail("", "array %s: a problem with inputs besides the initial condition is trained with the samples that validation and test leave, or with draws", GivenTrain)
	}
	if err := SameCoordinates(arrays, f.grid.Axes); err != nil {
		return nil, f.fail(HintPoints, "%v", err)
	}
	return f, nil
}

// gridOf is the problem's grid with as many points as solutions of the shape have.
func (f *given) gridOf(shape []int) (*grid.Grid, error) {
	axes, points := f.problem.AxisNames(), map[string]int{}
	usual, err := f.problem.Grid(nil)
	if err != nil || shape == nil {
		return usual, err
	}
	if len(shape) != 1+len(axes) || data.TransposeHint("", shape, f.wanted(usual.Shape())) != "" {
		return usual, nil
	}
	for i, name := range axes {
		points[name] = shape[1+i]
	}
	g, err := f.problem.Grid(points)
	if err != nil {
		return nil, f.fail("", "solutions of shape %s: %v", words.Shape(shape), err)
	}
	return g, nil
}

// wanted is the shape of an array of samples, however many.
func (f *given) wanted(sample []int) []int { return append([]int{-1}, sample...) }

// samples are the values of an array of samples of the given shape, and their number; nil where
// the file has no such array.
func (f *given) samples(arrays data.Arrays, name string, want []int) (values []float64, count int, err error) {
	shape, err := arrays.Shape(name)
	if err != nil {
		return nil, 0, fmt.Errorf("reference: %w", err)
	}
	if shape == nil {
		return nil, 0, nil
	}
	if len(shape) != len(want)+1 || !slices.Equal(shape[1:], want) {
		hint := data.TransposeHint(name, shape, f.wanted(want))
		if hint == "" && len(shape) == len(f.grid.Axes)+1 && len(want) == len(f.grid.Axes) {
			var points []string
			for i, axis := range f.grid.Axes {
				points = append(points, fmt.Sprintf("%s: %d", axis.Name, shape[1+i]))
			}
			hint = "grid: {" + strings.Join(points, ", ") + "} in the spec, if these are the points of the file"
		}
		return nil, 0, f.fail(hint, "array %s has shape %s; want (sample, %s), one value for each point of the spec's grid", name, words.Shape(shape), words.Shape(want))
	}
	if err := data.CheckOrder(arrays, name, f.problem.AxisNames()); err != nil {
		return nil, 0, fmt.Errorf("reference: %w", err)
	}
	a, err := arrays.Read(name, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("reference: %w", err)
	}
	if err := a.CheckFinite(); err != nil {
		return nil, 0, f.fail("", "array %s: %v", name, err)
	}
	return a.Float64(), shape[0], nil
}

// input writes the inputs of solution i.
func (f *given) input(dst []float64, i int) {
	size, width := f.grid.Size(), f.grid.Size()/f.grid.Axes[0].Points
	for k, in := range f.inputs {
		if f.values[k] != nil {
			copy(in.Of(dst), f.values[k][i*in.Size:(i+1)*in.Size])
			continue
		}
		for c, u := range f.problem.Unknowns {
			if u.Initial == k {
				copy(in.Of(dst), f.solutions[c][i*size:i*size+width])
			}
		}
	}
}

// trainInput writes the inputs i of those to train with, or, in a file without, of solutions.
func (f *given) trainInput(dst []float64, i int) {
	if f.train == nil {
		f.input(dst, i)
		return
	}
	copy(dst, f.train[i*len(dst):])
}

// solution writes solution i (C, P).
func (f *given) solution(dst []float64, i int) {
	size := f.grid.Size()
	for c, solution := range f.solutions {
		copy(dst[c*size:(c+1)*size], solution[i*size:(i+1)*size])
	}
}

// FileSizes are the sizes of a problem's file of solutions.
type FileSizes struct {
	Points    map[string]int // by axis
	Solutions int
	Train     int // initial conditions to train with, besides those of the solutions
}

// ReadFileSizes reads a problem's file of solutions, all of which is checked, on the grid that its shape tells.
func ReadFileSizes(p *pde.Problem) (FileSizes, error) {
	f, err := readGiven(p, nil)
	if err != nil {
		return FileSizes{}, err
	}
	return FileSizes{f.grid.PointsByName(), f.count, f.trains}, nil
}

// Given are the solutions of a problem's file that a plan takes.
type Given struct {
	*given
	first int // of those that are scored
}

// GivenSolutions makes a plan take validation and test samples from the problem's file of
// solutions, which are on the grid g; nil if it has none. The last ones are for test, those before them for validation.
// Initial conditions to train with are those of the array GivenTrain, or else drawn from the
// problem's distribution, or, where it has none, those of the samples that are left.
// Compare says whether they are solutions.
func GivenSolutions(plan *data.Plan, p *pde.Problem, g *grid.Grid) (*Given, error) {
	if p.Reference.File == "" {
		return nil, nil
	}
	f, err := readGiven(p, g)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, s := range plan.Splits {
		count[s.Name] = s.Count
	}
	rest := f.count - count["validation"] - count["test"]
	if rest < 0 {
		return nil, f.fail("", "%d solutions; data.validation.count and data.test.count want %d and %d", f.count, count["validation"], count["test"])
	}
	drawn, trains := f.train == nil && p.Drawn(), f.trains
	if f.train == nil {
		trains = rest
	}
	if !drawn && trains != count["train"] {
		return nil, f.fail("", "it has %d initial conditions to train with, data.train.count is %d; set that to %[1]d", trains, count["train"])
	}
	if err := f.compareStarts(); err != nil {
		return nil, err
	}
	_, sum, err := disk.HashFile(f.path)
	if err != nil {
		return nil, err
	}
	plan.Metadata["file"] = sum
	plan.Solver = func(data.Split) (func(dst, initial []float64) error, error) { return nil, nil } // all are there
	plan.Given = func(split data.Split, i int, u0, u []float64) (bool, error) {
		switch split.Name {
		case "train":
			if drawn {
				return false, nil
			}
			f.trainInput(u0, i)
			return true, CheckInitial(p, p.InitialOf(u0, g))
		case "test":
			i += count["validation"]
		}
		i += rest
		f.input(u0, i)
		f.solution(u, i)
		return true, CheckInitial(p, p.InitialOf(u0, g))
	}
	return &Given{f, rest}, nil
}

// ReadGiven reads all solutions of the problem's file, on the grid that its shape tells.
func ReadGiven(p *pde.Problem) (*Given, error) {
	f, err := readGiven(p, nil)
	if err == nil {
		err = f.compareStarts()
	}
	if err != nil {
		return nil, err
	}
	return &Given{f, 0}, nil
}

// givenDraws is how many samples of a file stand for its distribution.
const givenDraws = 64

// givenSampler draws from the first inputs that a file has to train with, or, without those, from those of its
// first solutions, at the points of g.
func givenSampler(p *pde.Problem, g *grid.Grid) (draw, error) {
	on, samples, err := p.Given(func() (*grid.Grid, [][]float64, error) {
		f, err := readGiven(p, nil)
		if err != nil {
			return nil, nil, err
		}
		count := f.count
		if f.train != nil {
			count = f.trains
		}
		if count == 0 {
			return nil, nil, f.fail("", "it has no samples")
		}
		var samples [][]float64
		for i := range min(count, givenDraws) {
			u0 := make([]float64, p.InputSize(f.grid))
			f.trainInput(u0, i)
			samples = append(samples, u0)
		}
		return f.grid, samples, nil
	})
	if err != nil {
		return nil, err
	}
	return func(rng *rand.Rand, dst []float64) error {
		copy(dst, InputsOn(p, samples[rng.IntN(len(samples))], on, g))
		return nil
	}, nil
}

// HintPoints is advice on an error of SameCoordinates.
const HintPoints = "range and boundary of the axis, in the PDE file, say where its points are"

// SameCoordinates compares the coordinates that a file of arrays states, in arrays with the names of axes, if it does, with those of the axes.
func SameCoordinates(arrays data.Arrays, axes []grid.Axis) error {
	for _, axis := range axes {
		shape, err := arrays.Shape(axis.Name)
		if err != nil {
			return err
		}
		if shape == nil {
			continue
		}
		if len(shape) != 1 || shape[0] != axis.Points {
			return fmt.Errorf("array %s has shape %s; there are %d points along it", axis.Name, words.Shape(shape), axis.Points)
		}
		x, err := arrays.Read(axis.Name, 0)
		if err != nil {
			return err
		}
		for i, v := range x.Float64() {
			if want := axis.Coordinate(i); !(math.Abs(v-want) <= 1e-4*axis.Step()) {
				digits := max(6, 3+int(math.Ceil(math.Log10(max(math.Abs(axis.Lo), math.Abs(axis.Hi))/axis.Step()))))
				return fmt.Errorf("point %d of axis %s is at %.*g; with %d points from %g to %g, %s, it is at %.*g", i, axis.Name, digits, v, axis.Points, axis.Lo, axis.Hi, axis.Boundary, digits, want)
			}
		}
	}
	return nil
}
