package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/config"
	"pihc/internal/discrete"
	"pihc/internal/words"
	"pihc/pde"
	"pihc/sim"
)

// InputArray is the name of an input in files of samples: its own, but for the initial
// condition of a single unknown.
func InputArray(p *pde.Problem, name string) string {
	if len(p.Unknowns) == 1 && !p.Steady && name == p.Unknowns[0].InitialName() {
		return GivenInitial
	}
	return name
}

// ProblemHash is the SHA-256 of the PDE file, which datasets and checkpoints
// record.
func ProblemHash(p *pde.Problem) string {
	sum := sha256.Sum256(p.Source)
	return hex.EncodeToString(sum[:])
}

// ReferenceSolver returns the solver that the problem's reference names, on g. Where the
// problem asks for more points along a periodic axis than g has, solutions are
// computed on a multiple of g's points from the trigonometric interpolant of the
// inputs, and kept at the points of g.
func ReferenceSolver(p *pde.Problem, g *grid.Grid) (sim.Solver, error) {
	return ReferenceSolverWith(p, g, nil)
}

// ReferenceSolverWith is ReferenceSolver with options of the classical solver (sim.New).
func ReferenceSolverWith(p *pde.Problem, g *grid.Grid, options map[string]any) (sim.Solver, error) {
	if p.Reference.Solver == "" {
		return nil, fmt.Errorf("the PDE file of %s has no `reference:`, so there are no solutions to compare with", p.Name)
	}
	if p.Reference.File != "" {
		return nil, words.WithHint(
			fmt.Errorf("no solution of %s is computed on %s: there are those of the file %s, on its own grid", p.Name, words.Shape(g.Shape()), p.Reference.File),
			"on that grid, or one that has every second, third, ... of its points, they can be compared with; `reference: {solver: ...}` in the PDE file computes them on others",
		)
	}
	if p.Reference.Solver == pde.DiscreteSolver {
		fine, _ := discrete.Refinements(p, g)
		return discrete.New(p, g, fine)
	}
	if known := append(sim.Names(), pde.DiscreteSolver); !slices.Contains(known, p.Reference.Solver) {
		meant := ""
		if near := config.Nearest(p.Reference.Solver, known); near != "" {
			meant = fmt.Sprintf("; did you mean %s?", near)
		}
		return nil, fmt.Errorf("problem %s: reference: no solver %q; there are %s%s", p.Name, p.Reference.Solver, strings.Join(known, ", "), meant)
	}
	return classicalOn(p, g, referencePoints(p, g), options)
}

// referencePoints are how many times the points of g a classical solver has along each axis.
func referencePoints(p *pde.Problem, g *grid.Grid) []int {
	refine := slices.Repeat([]int{1}, len(g.Axes))
	for i, a := range g.Axes {
		if least := p.Reference.Points[a.Name]; a.Points < least {
			refine[i] = (least + a.Points - 1) / a.Points
		}
	}
	return refine
}

// classicalOn is ClassicalSolver on refine[i] times the points of axis i of g (of its intervals on an axis of nodes) for solutions at the points of g. Factors for
// axes of cells are odd.
func classicalOn(p *pde.Problem, g *grid.Grid, refine []int, options map[string]any) (sim.Solver, error) {
	fine := &grid.Grid{Axes: slices.Clone(g.Axes)}
	for i := range fine.Axes {
		if a := &fine.Axes[i]; a.Boundary == grid.Nodes {
			a.Points = (a.Points-1)*refine[i] + 1
		} else {
			a.Points *= refine[i]
		}
	}
	solver, err := ClassicalSolver(p, fine, options)
	if err != nil || slices.Equal(fine.Axes, g.Axes) {
		return solver, err
	}
	return &refined{solver: solver, problem: p, grid: g, fine: fine}, nil
}

// ClassicalSolver returns the solver of package sim that the problem's reference names, with
// g's own points.
func ClassicalSolver(p *pde.Problem, g *grid.Grid, options map[string]any) (sim.Solver, error) {
	s := sim.Setting{Axes: g.Axes, Unknowns: p.UnknownNames(), Constants: p.Reference.Constants, Options: options}
	for i, in := range p.PlaceInputs(g) {
		s.Inputs = append(s.Inputs, sim.Input{Name: in.Name, Initial: i < p.Initials(), Axes: in.Space})
	}
	solver, err := sim.New(p.Reference.Solver, s)
	if err != nil {
		return nil, fmt.Errorf("problem %s: reference: %w", p.Name, err)
	}
	return solver, nil
}

// refined solves on a finer grid in space and keeps the points of the coarser.
type refined struct {
	solver     sim.Solver
	problem    *pde.Problem
	grid, fine *grid.Grid
}

// Solve implements sim.Solver. Where the sample is one initial condition it is the first output.
func (s *refined) Solve(dst, sample []float64) (sim.Stats, error) {
	unknowns := len(s.problem.Unknowns)
	if len(dst) != unknowns*s.grid.Size() {
		panic("dataset: Solve: dst must have one value per grid point and unknown")
	}
	if size := s.problem.InputSize(s.grid); len(sample) != size {
		return sim.Stats{}, fmt.Errorf("inputs of %d values, want %d", len(sample), size)
	}
	solution := make([]float64, unknowns*s.fine.Size())
	var start []float64
	if s.problem.OnlyInitial() && s.periodic() {
		start = make([]float64, s.problem.InputSize(s.fine))
		sim.NewInterpolator(s.grid.Shape()[1:], s.fine.Shape()[1:]).Interpolate(start, sample)
	} else {
		start = InputsOn(s.problem, sample, s.grid, s.fine)
	}
	stats, err := s.solver.Solve(solution, start)
	if err != nil {
		return stats, err
	}
	grid.Thin(dst, solution, s.grid.Axes, s.fine.Axes)
	if s.problem.OnlyInitial() {
		copy(dst, sample)
	}
	return stats, nil
}

// periodic reports whether the axes that have more points are periodic ones.
func (s *refined) periodic() bool {
	return !slices.ContainsFunc(s.grid.Axes[1:], func(a grid.Axis) bool {
		return a.Boundary != grid.Periodic && !slices.Contains(s.fine.Axes, a)
	})
}

// meanTolerance is how large a mean of an initial condition, relative to its root
// mean square, counts as zero: rounding of float32 data.
const meanTolerance = 1e-6

// CheckInitial returns an error for an initial condition that the problem cannot
// have: a prediction u0 + ... from which the ansatz removes the mean keeps the
// mean of u0, and a velocity exists of a vorticity without one only.
func CheckInitial(p *pde.Problem, initial []float64) error {
	for c, u := range p.Unknowns {
		if u.Initial < 0 || !p.NeedsZeroMean(c) {
			continue
		}
		n, mean := len(initial)/p.Initials(), 0.0
		u0 := initial[u.Initial*n : (u.Initial+1)*n]
		for _, v := range u0 {
			mean += v / float64(n)
		}
		if rms := RootMeanSquare(u0); math.Abs(mean) > meanTolerance*rms {
			return fmt.Errorf("initial condition %s has mean %.3g (root mean square %.3g); the velocity of problem %s needs mean 0", u.InitialName(), mean, rms, p.Name)
		}
	}
	return nil
}
