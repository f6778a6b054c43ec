package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
	"pihc/sim"
)

// floorGrid is the grid the floor is measured on.
func floorGrid(spec *model.Spec, p *pde.Problem, given map[string]int) (*grid.Grid, error) {
	points := map[string]int{}
	maps.Copy(points, spec.Grid)
	for i, axis := range p.Axes {
		if _, ok := points[axis.Name]; !ok {
			points[axis.Name] = axis.Points
		}
		if i > 0 {
			points[axis.Name] = min(points[axis.Name], 256)
		}
	}
	maps.Copy(points, given)
	return p.Grid(points)
}

// StatedInputs returns inputs on a grid that can be named, with their names: constants at the
// given fractions of the range where the distribution is one of constants, draws
// otherwise.
func (x *Experiment) StatedInputs(g *grid.Grid, fractions []float64) ([][]float64, []string, error) {
	p := x.Problem
	var titles []string
	if _, constant := p.Inputs[0].Sampler.Constant(0); constant && p.OnlyInitial() {
		var fields [][]float64
		for _, f := range fractions {
			v, _ := p.Inputs[0].Sampler.Constant(f)
			fields = append(fields, slices.Repeat([]float64{v}, p.InputSize(g)))
			titles = append(titles, fmt.Sprintf("%s = %.3g", p.Unknowns[0].InitialName(), v))
		}
		return fields, titles, nil
	}
	on := *x.Spec
	on.Grid, on.Data.Test.Grids = g.PointsByName(), nil
	for i := range fractions {
		titles = append(titles, fmt.Sprintf("test sample %d", i))
	}
	fields, err := draws(&on, p, "test", len(fractions))
	return fields, titles, err
}

// checkFloors measures the discretisation floor for three initial conditions.
func checkFloors(ctx context.Context, out *Checked, spec *model.Spec, sys *pde.System, o Options) error {
	m := o.Stage("floor", 3)
	defer m.End()
	floors, err := measureFloors(ctx, spec, sys, mostFloorWork, func(i int) { m.Set(i, "") })
	if err != nil {
		return err
	}
	out.Floors, out.FloorGrid = floors, sys.Grid.Shape()
	residual, floor := data.Float(meanOf(floors, func(f CheckedFloor) *data.Float { return &f.Residual })), data.Float(meanOf(floors, errorOf))
	out.FloorResidual = &residual
	if !math.IsNaN(float64(floor)) {
		out.FloorError = &floor
	}
	return nil
}

// mostFloorWork bounds what discrete.MeasureFloor does for one initial condition: half a minute
// of a core.
const mostFloorWork = 4e9

// mostBriefWork is that of one initial condition, in products of factored matrices, after which no other is looked at where only the nearest of several
// problems is wanted: about a second.
const mostBriefWork = 5e9

var errEnough = errors.New("enough initial conditions")

// measureFloors measures what the discretisation costs for three initial conditions, with so much
// work for each, and calls done after each. Without, work is that of factored matrices, and there may be fewer than three.
func measureFloors(ctx context.Context, spec *model.Spec, sys *pde.System, work float64, done func(i int)) ([]CheckedFloor, error) {
	brief := work == 0
	p, g := sys.Problem, sys.Grid
	scale, err := spec.RowScale(p)
	if err != nil {
		return nil, err
	}
	var start *startResidual
	if discrete.Marches(p) {
		if start, err = newStartResidual(p, g); err != nil {
			return nil, err
		}
	}
	var floors []CheckedFloor
	err = eachReference(ctx, spec, p, g, dataset.ReferenceSolver, func(title string, u0, truth []float64) error {
		f, err := discrete.MeasureFloor(sys, scale, u0, truth, work)
		floor := CheckedFloor{Initial: title, Residual: data.Float(f.Residual)}
		switch {
		case errors.Is(err, discrete.ErrLarge):
			work = 0 // of the others there would be no mean either
		case err != nil:
			return words.WithHint(fmt.Errorf("floor, %s: %w", title, err), "try a smaller --grid")
		default:
			distance := data.Float(f.Error)
			floor.Error, floor.Iterations = &distance, f.Iterations
		}
		if start != nil {
			v := data.Float(start.relative(truth, u0))
			floor.Start = &v
		}
		floors = append(floors, floor)
		done(len(floors))
		if brief && f.Work > mostBriefWork {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return floors, err
}

// eachReference solves three stated initial conditions on a grid, by the solver that solverOf makes, and visits each with its title and
// solution (C, P).
func eachReference(ctx context.Context, spec *model.Spec, p *pde.Problem, g *grid.Grid, solverOf func(*pde.Problem, *grid.Grid) (sim.Solver, error), visit func(title string, u0, truth []float64) error) error {
	initial, titles, err := (&Experiment{Spec: spec, Problem: p}).StatedInputs(g, []float64{0.1, 0.5, 0.9})
	if err != nil {
		return err
	}
	solver, err := solverOf(p, g)
	if err != nil {
		return err
	}
	truth := make([]float64, len(p.Unknowns)*g.Size())
	for i, u0 := range initial {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := solver.Solve(truth, u0); err != nil {
			return fmt.Errorf("reference solution, %s: %w", titles[i], err)
		}
		if err := visit(titles[i], u0, truth); err != nil {
			return err
		}
	}
	return nil
}

// meanOf is the mean of what floors have, NaN where one has it not or there are none.
func meanOf(floors []CheckedFloor, of func(CheckedFloor) *data.Float) float64 {
	sum := 0.0
	for _, f := range floors {
		v := of(f)
		if v == nil {
			return math.NaN()
		}
		sum += float64(*v)
	}
	return sum / float64(len(floors))
}

// errorOf is the floor_error of one initial condition.
func errorOf(f CheckedFloor) *data.Float { return f.Error }
