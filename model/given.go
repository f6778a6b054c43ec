package model

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"pihc/data"
	"pihc/grid"
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

// givenSolutions takes validation and test samples of a plan from the problem's file:
// the last ones for test, those before them for validation. Initial conditions to
// train with are those of the array GivenTrain, or else drawn from the problem's
// distribution, or, where it has none, those of the samples that are left.
func givenSolutions(plan *data.Plan, s *Spec, p *pde.Problem, g *grid.Grid, grids bool) error {
	if grids {
		return errors.New("data.test.grids: solutions of a file are on the spec's grid alone")
	}
	path := p.Reference.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(p.File()), path)
	}
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reference: there is no file %s; its path is relative to the folder of the PDE file", path)
	}
	if err != nil {
		return err
	}
	arrays, err := data.ReadNPZ(path)
	if err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	fail := func(format string, args ...any) error {
		return fmt.Errorf("reference: %s: %s", path, fmt.Sprintf(format, args...))
	}
	shape := g.Shape()
	samples := func(name string, want []int) (values []float64, count int, err error) {
		a := data.Find(arrays, name)
		if a == nil {
			return nil, 0, nil
		}
		if len(a.Shape) != len(want)+1 || data.FormatShape(a.Shape[1:]) != data.FormatShape(want) {
			return nil, 0, fail("array %s has shape %s; want (sample, %s), one value for each point of the spec's grid", name, data.FormatShape(a.Shape), data.FormatShape(want))
		}
		if err := a.CheckFinite(); err != nil {
			return nil, 0, fail("array %s: %v", name, err)
		}
		return a.Float64(), a.Shape[0], nil
	}
	var solutions [][]float64 // per unknown
	count := 0
	for i, name := range SolutionArrays(p) {
		solution, n, err := samples(name, shape)
		if err != nil {
			return err
		}
		if solution == nil {
			return fail("it has no array %q of shape (sample, %s)", name, data.FormatShape(shape))
		}
		if i > 0 && n != count {
			return fail("%d solutions in array %s, %d in that before it", n, name, count)
		}
		solutions, count = append(solutions, solution), n
	}
	size, width := g.Size(), g.Size()/g.Axes[0].Points
	inputs := p.PlaceInputs(g)
	own := make([][]float64, len(inputs)) // (sample, values of an input); nil: from the solutions
	for i, in := range inputs {
		name := InputArray(p, in.Name)
		values, n, err := samples(name, in.Shape())
		if err != nil {
			return err
		}
		if values == nil && i >= p.Initials() {
			return fail("it has no array %q of shape %s, the input of each solution", name, data.FormatShape(append([]int{count}, in.Shape()...)))
		}
		if values != nil && n != count {
			if name == GivenInitial {
				name = "initial conditions"
			}
			return fail("%d %s for %d solutions", n, name, count)
		}
		own[i] = values
	}
	train, trains, err := samples(GivenTrain, shape[1:])
	if err != nil {
		return err
	}
	if train != nil && !p.OnlyInitial() {
		return fail("array %s: a problem with inputs besides the initial condition is trained with the samples that validation and test leave, or with draws", GivenTrain)
	}
	for _, axis := range g.Axes {
		if err := sameCoordinates(data.Find(arrays, axis.Name), axis); err != nil {
			return fail("%v", err)
		}
	}
	start := func(dst []float64, i int) {
		for k, in := range inputs {
			if own[k] != nil {
				copy(in.Of(dst), own[k][i*in.Size:(i+1)*in.Size])
				continue
			}
			for c, u := range p.Unknowns {
				if u.Initial == k {
					copy(in.Of(dst), solutions[c][i*size:i*size+width])
				}
			}
		}
	}
	d := s.Data
	rest := count - d.Validation.Count - d.Test.Count
	if rest < 0 {
		return fail("%d solutions; data.validation.count and data.test.count want %d and %d", count, d.Validation.Count, d.Test.Count)
	}
	drawn := train == nil && p.Drawn()
	if train == nil {
		trains = rest
	}
	if !drawn && trains != d.Train.Count {
		return fail("it has %d initial conditions to train with, data.train.count is %d; set that to %[1]d", trains, d.Train.Count)
	}
	sum := sha256.Sum256(src)
	plan.Metadata["file"] = hex.EncodeToString(sum[:])
	plan.Given = func(split data.Split, i int, u0, u []float64) (bool, error) {
		switch split.Name {
		case "train":
			if drawn {
				return false, nil
			}
			if train != nil {
				copy(u0, train[i*width:(i+1)*width])
			} else {
				start(u0, i)
			}
			return true, CheckInitial(p, p.InitialOf(u0, g))
		case "test":
			i += d.Validation.Count
		}
		i += rest
		start(u0, i)
		for c, solution := range solutions {
			copy(u[c*size:(c+1)*size], solution[i*size:(i+1)*size])
		}
		return true, CheckInitial(p, p.InitialOf(u0, g))
	}
	return nil
}

// sameCoordinates compares the coordinates that a file states, if it does, with those
// of an axis.
func sameCoordinates(a *data.Array, axis grid.Axis) error {
	if a == nil {
		return nil
	}
	x := a.Float64()
	if len(a.Shape) != 1 || len(x) != axis.Points {
		return fmt.Errorf("array %s has shape %s; the axis has %d points", axis.Name, data.FormatShape(a.Shape), axis.Points)
	}
	for i, v := range x {
		if want := axis.Coordinate(i); math.Abs(v-want) > 1e-4*axis.Step() {
			return fmt.Errorf("point %d of axis %s is at %.6g; in the spec's grid, %s, it is at %.6g", i, axis.Name, v, axis.Boundary, want)
		}
	}
	return nil
}
