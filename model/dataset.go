package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"

	"pihc/data"
	"pihc/grid"
	"pihc/pde"
	"pihc/sim"
)

// DatasetPlan returns what to generate for a spec: initial conditions for
// training (no solution is ever computed for them), and initial conditions with
// solutions for validation and test where the problem names a classical solver.
func DatasetPlan(s *Spec, p *pde.Problem, workers int) (data.Plan, error) {
	g, err := p.Grid(s.Grid)
	if err != nil {
		return data.Plan{}, err
	}
	axes := make([]data.Axis, len(g.Axes))
	for i, a := range g.Axes {
		axes[i] = data.Axis{Name: a.Name, Lo: a.Lo, Hi: a.Hi, Points: a.Points, Boundary: a.Boundary.String()}
	}
	draw, err := sampler(p, g)
	if err != nil {
		return data.Plan{}, err
	}
	solvable := p.Reference.Solver != ""
	if solvable {
		if _, err := ReferenceSolver(p, g); err != nil {
			return data.Plan{}, err
		}
	}
	split := func(name string, c SplitSpec, solve bool) data.Split {
		return data.Split{Name: name, Count: c.Count, Seed: c.Seed, Solve: solve, Axes: axes}
	}
	return data.Plan{
		Problem: p.Name, ProblemHash: ProblemHash(p),
		Metadata: map[string]string{"solver": p.Reference.Solver},
		Splits: []data.Split{
			split("train", s.Data.Train, false),
			split("validation", s.Data.Validation, solvable),
			split("test", s.Data.Test, solvable),
		},
		Sampler: func(data.Split) (func(*rand.Rand, []float64) error, error) { return draw, nil },
		Solver: func(data.Split) (func(dst, initial []float64) error, error) {
			solver, err := ReferenceSolver(p, g)
			if err != nil {
				return nil, err
			}
			return func(dst, initial []float64) error {
				_, err := solver.Solve(dst, initial)
				return err
			}, nil
		},
		Workers: workers,
	}, nil
}

// ProblemHash is the SHA-256 of the PDE file, which datasets and checkpoints
// record.
func ProblemHash(p *pde.Problem) string {
	sum := sha256.Sum256(p.Source)
	return hex.EncodeToString(sum[:])
}

// ReferenceSolver returns the classical solver the problem names, on g.
func ReferenceSolver(p *pde.Problem, g *grid.Grid) (sim.Solver, error) {
	if p.Reference.Solver == "" {
		return nil, fmt.Errorf("problem %s names no classical solver (`reference:`), so there are no solutions to compare with", p.Name)
	}
	solver, err := sim.New(p.Reference.Solver, g.Axes, p.Reference.Constants, nil)
	if err != nil {
		return nil, fmt.Errorf("problem %s: reference: %w", p.Name, err)
	}
	return solver, nil
}

// sampler draws initial conditions from the problem's distribution:
//
//	uniform-constant  a constant from U(low, high)
//	random-sines      Σ_{k=1..4} a_k sin(2πk(x-lo)/(hi-lo) + φ_k), a_k from
//	                  U(low, high)/k, φ_k from U(0, 2π), along the last axis
func sampler(p *pde.Problem, g *grid.Grid) (func(rng *rand.Rand, dst []float64) error, error) {
	low, high := p.Initial.Low, p.Initial.High
	last := g.Axes[len(g.Axes)-1]
	switch p.Initial.Distribution {
	case "uniform-constant":
		return func(rng *rand.Rand, dst []float64) error {
			v := low + (high-low)*rng.Float64()
			for i := range dst {
				dst[i] = v
			}
			return nil
		}, nil
	case "random-sines":
		return func(rng *rand.Rand, dst []float64) error {
			clear(dst)
			for k := 1; k <= 4; k++ {
				a := (low + (high-low)*rng.Float64()) / float64(k)
				phase := 2 * math.Pi * rng.Float64()
				for i := range dst {
					x := (last.Coordinate(i%last.Points) - last.Lo) / (last.Hi - last.Lo)
					dst[i] += a * math.Sin(2*math.Pi*float64(k)*x+phase)
				}
			}
			return nil
		}, nil
	}
	return nil, fmt.Errorf("problem %s states no distribution of initial conditions (`initial:`)", p.Name)
}
