package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/words"
	"pihc/pde"
	"pihc/sim"
)

// DatasetPlan returns what to generate for a spec: initial conditions for
// training (solved only where loss.data asks for it), and initial conditions with
// solutions for validation and test where the problem has a reference.
// Test samples are on the finest of the grids they are scored on, and solutions
// then of type float32, which halves their size. Solutions that a file holds are not opened:
// GivenSolutions makes the plan take them.
func (s *Spec) DatasetPlan(p *pde.Problem, workers int) (data.Plan, error) {
	base, err := p.Grid(s.Grid)
	if err != nil {
		return data.Plan{}, err
	}
	others, err := s.EvaluationGrids(p)
	if err != nil {
		return data.Plan{}, err
	}
	finest := finestGrid(base, others)
	if err := checkDataset(s, p, finest); err != nil {
		return data.Plan{}, err
	}
	gridOf := func(split string) *grid.Grid {
		if split == "test" {
			return finest
		}
		return base
	}
	solvable := p.Reference.Solver != ""
	return data.Plan{
		Problem: p.Name, ProblemHash: dataset.ProblemHash(p),
		Metadata: map[string]string{"solver": p.Reference.Solver},
		Splits: []data.Split{
			newSplit(p, base, "train", s.Data.Train, s.Loss.Data != 0),
			newSplit(p, base, "validation", s.Data.Validation, solvable),
			newSplit(p, finest, "test", s.Data.Test.SplitSpec, solvable),
		},
		Float32: len(others) > 0,
		Sampler: func(split data.Split) (func(*rand.Rand, []float64) error, error) {
			draw, err := dataset.NewSampler(p, gridOf(split.Name))
			return func(rng *rand.Rand, dst []float64) error {
				if err := draw(rng, dst); err != nil {
					return err
				}
				return dataset.CheckInitial(p, p.InitialOf(dst, gridOf(split.Name)))
			}, err
		},
		Solver: func(split data.Split) (func(dst, initial []float64) error, error) {
			solver, err := dataset.ReferenceSolver(p, gridOf(split.Name))
			return func(dst, initial []float64) error {
				_, err := solver.Solve(dst, slices.Clone(initial)) // what is stored is what was drawn
				if at := slices.IndexFunc(dst, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); err == nil && at >= 0 {
					err = fmt.Errorf("solver %s gives %g at value %d of a solution", p.Reference.Solver, dst[at], at)
				}
				return err
			}, err
		},
		Workers: workers,
	}, nil
}

// checkDataset is an error for samples of a spec that there are not, or should not be.
func checkDataset(s *Spec, p *pde.Problem, finest *grid.Grid) error {
	train := s.Data.Train.Seed
	for i, other := range []SplitSpec{s.Data.Validation, s.Data.Test.SplitSpec} {
		if other.Seed == train {
			return fmt.Errorf("data.%s.seed and data.train.seed are both %d: the samples that are scored would be those of training", []string{"validation", "test"}[i], train)
		}
	}
	if s.Data.Validation.Seed == s.Data.Test.Seed {
		return fmt.Errorf("data.test.seed and data.validation.seed are both %d: the samples that are scored would be those that choose the best parameters", s.Data.Test.Seed)
	}
	file := p.Reference.File != ""
	if file && len(s.Data.Test.Grids) > 0 {
		return errors.New("data.test.grids: solutions of a file are on the spec's grid alone")
	}
	if _, err := dataset.NewSampler(p, finest); err != nil {
		return err
	}
	computed := p.Reference.Solver != "" && !file
	if s.Loss.Data != 0 && !computed {
		return errors.New("loss.data compares with solutions of training samples, and the PDE file names no solver (`reference: {solver: ...}`) that makes them")
	}
	if computed {
		_, err := dataset.ReferenceSolver(p, finest)
		return err
	}
	return nil
}

// newSplit describes the samples of a split on a grid.
func newSplit(p *pde.Problem, g *grid.Grid, name string, c SplitSpec, solve bool) data.Split {
	split := data.Split{Name: name, Count: c.Count, Seed: c.Seed, Solve: solve}
	for _, a := range g.Axes {
		split.Axes = append(split.Axes, data.AxisRecord{Name: a.Name, Lo: a.Lo, Hi: a.Hi, Points: a.Points, Boundary: a.Boundary.String()})
	}
	if !p.OnlyInitial() {
		for _, in := range p.Inputs {
			split.Inputs = append(split.Inputs, data.InputRecord{Name: dataset.InputArray(p, in.Name), Axes: in.Axes})
		}
	}
	if len(p.Unknowns) > 1 {
		split.Unknowns = p.UnknownNames()
	}
	return split
}

// ReferenceError is the discretisation error of a reference that solves the problem's
// own rows: of each of the first validation samples, two at most, the largest relative L2 distance
// of its solution to those with other refinements, and the mean of these. Solutions of
// classical solvers have their own tolerances, and ok is false.
func (s *Spec) ReferenceError(p *pde.Problem) (e float64, refined string, ok bool, err error) {
	if p.Reference.Solver != pde.DiscreteSolver {
		return 0, "", false, nil
	}
	g, err := p.Grid(s.Grid)
	if err != nil {
		return 0, "", false, err
	}
	draw, err := dataset.NewSampler(p, g)
	if err != nil {
		return 0, "", false, err
	}
	refine, others := discrete.Refinements(p, g)
	var solvers []sim.Solver // the one used first
	for _, r := range append([][]int{refine}, others...) {
		s, err := discrete.New(p, g, r)
		if err != nil {
			return 0, "", false, err
		}
		solvers = append(solvers, s)
	}
	sample, size := make([]float64, p.InputSize(g)), len(p.Unknowns)*g.Size()
	u, v := make([]float64, size), make([]float64, size)
	count := min(2, s.Data.Validation.Count)
	for i := range count {
		if err := draw(data.SampleRand(s.Data.Validation.Seed, i), sample); err != nil {
			return 0, "", false, err
		}
		distance := 0.0
		for k, solver := range solvers {
			if _, err := solver.Solve(v, sample); err != nil {
				return 0, "", false, fmt.Errorf("reference, validation sample %d: %w", i, err)
			}
			if k == 0 {
				copy(u, v)
				continue
			}
			distance = max(distance, grid.RelativeL2(v, u, len(p.Unknowns)))
		}
		e += distance / float64(count)
	}
	return e, words.Shape(refine), true, nil
}
