package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/words"
	"pihc/pde"
	"pihc/report"
	"pihc/score"
)

// addBaselines adds the predictions that need no training.
func addBaselines(page *report.Page, p *pde.Problem, g *grid.Grid, s score.Samples) error {
	if s.Truth == nil {
		return nil
	}
	zero, err := s.ZeroBaseline()
	if err != nil {
		return err
	}
	page.Baselines = append(page.Baselines, report.Method{Key: "zero", Label: "zero", Note: "the field that is zero everywhere", Evaluation: *zero})
	if len(s.Inputs) > 1 {
		mean, err := s.MeanBaseline()
		if err != nil {
			return err
		}
		page.Baselines = append(page.Baselines, report.Method{Key: "mean_field", Label: "mean field", Note: "mean of the other test solutions", Evaluation: *mean})
	}
	linear, err := interpolation(p, g, s)
	if err != nil {
		return err
	}
	if linear != nil {
		page.Baselines = append(page.Baselines, *linear)
		return nil
	}
	if p.Steady {
		return nil
	}
	still, err := s.PersistenceBaseline(&page.Methods[0].Evaluation, p, g)
	if err != nil {
		return err
	}
	var starts []string
	for _, u := range p.Unknowns {
		starts = append(starts, words.Clip(u.Start.String(), 1000))
	}
	page.Baselines = append(page.Baselines, report.Method{
		Key: "persistence", Label: "persistence", Note: strings.Join(starts, ", ") + " at all times", Evaluation: *still,
	})
	return nil
}

// addLevels adds what the discretisation alone costs (pihc check), where it can be found: the
// distance from the solution of the field that minimises all rows, on at most 256 points along
// an axis of space.
func addLevels(ctx context.Context, page *report.Page, r *Run, own *grid.Grid) error {
	p, spec := r.Problem, r.Spec
	if !solvable(p) || p.Reference.Solver == pde.DiscreteSolver {
		return nil
	}
	g, err := floorGrid(spec, p, nil)
	if err != nil {
		return err
	}
	sys, err := r.systems.on(p, g)
	if err != nil {
		return err
	}
	floors, err := measureFloors(ctx, spec, sys, mostFloorWork, func(int) {})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // a figure less, and no reason for no page
		page.Notes = append(page.Notes, fmt.Sprintf("The discretisation floor was not found: %v.", err))
		return nil
	}
	shape := strings.ReplaceAll(words.Shape(g.Shape()), "x", "×")
	floor := meanOf(floors, errorOf)
	if math.IsNaN(floor) {
		page.Notes = append(page.Notes, fmt.Sprintf("The discretisation floor was not looked for: on %s points it takes too long; pihc check --grid measures it on fewer.", shape))
		return nil
	}
	label := "discretisation floor"
	if !slices.Equal(g.Shape(), own.Shape()) {
		label += " on " + shape
	}
	page.Levels = append(page.Levels, report.Level{Label: label, Value: floor})
	return nil
}

// interpolation scores linear interpolation between the solutions at the ends of the distribution of constant
// initial conditions; nil where there is none.
func interpolation(p *pde.Problem, g *grid.Grid, s score.Samples) (*report.Method, error) {
	if s.Truth == nil {
		return nil, nil
	}
	low, high, ok, err := endpoints(p, g)
	if err != nil || !ok {
		return nil, err
	}
	linear, ok, err := s.InterpolationBaseline(low, high)
	if err != nil || !ok {
		return nil, err
	}
	name := p.Unknowns[0].Name + "₀"
	return &report.Method{
		Key: "interpolation", Label: "interpolation in " + name, Evaluation: *linear,
		Note: fmt.Sprintf("between the solutions at %s = %.6g and %.6g", name, low.Value, high.Value),
	}, nil
}

// endpoints solves the problem at the two ends of the distribution of constant
// initial conditions; the result is false for other distributions.
func endpoints(p *pde.Problem, g *grid.Grid) (low, high score.Endpoint, ok bool, err error) {
	from, constant := p.Inputs[0].Sampler.Constant(0)
	to, _ := p.Inputs[0].Sampler.Constant(1)
	if !constant || !p.OnlyInitial() || !solvable(p) {
		return low, high, false, nil
	}
	solver, err := dataset.ReferenceSolver(p, g)
	if err != nil {
		return low, high, false, err
	}
	at := func(value float64) score.Endpoint {
		u0 := slices.Repeat([]float64{value}, g.Size()/g.Axes[0].Points)
		end := score.Endpoint{Value: value, Solution: make([]float64, g.Size())}
		if _, e := solver.Solve(end.Solution, u0); e != nil && err == nil {
			err = fmt.Errorf("%s₀ = %g: %w", p.Unknowns[0].Name, value, e)
		}
		return end
	}
	low, high = at(min(from, to)), at(max(from, to))
	return low, high, err == nil, err
}
