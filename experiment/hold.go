package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"

	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
	"pihc/sim"
)

const (
	// mostGridError is the distance between solutions of the rows on a grid and those of the equation that is warned of.
	mostGridError = mostReferenceError
	// refusedGridError is that of which a training is not begun: eval warns of errors above it, however they come about.
	refusedGridError = 0.1
	// mostHoldSamples bounds the samples that are solved, mostHoldWork the values times steps of all of them, and three times that of
	// one that is solved all the same: some seconds.
	mostHoldSamples = 3
	mostHoldWork    = 1.5e6
	// mostFloorSteps bounds the minimiser of problems without time, as mostFloorWork does in check.
	mostFloorSteps = 1e9
	// mostFiner is how often points are doubled to see how many would do.
	mostFiner = 4
)

// holding is how well the rows on a grid hold the solutions of a problem.
type holding struct {
	points      map[string]int
	distance    float64 // relative L2 from solutions of the equation to those of the rows, in the mean: infinite where these cannot be had, NaN where not measured
	time, space float64 // what of it differences along time and along space make alone; of problems that are not marched NaN
	residual    float64 // what solutions of the equation leave in the rows, over their rate
}

// hold measures how well a problem's rows on a grid hold its solutions, to first order, before anything is trained: of problems in
// time by solutions on a grid refined in space, with inputs drawn there, and by discrete.Differences; of others, and of those too where it is had at once, by the minimiser
// of the rows: the larger counts. Solutions of a file are not asked. The error says why it was not measured, or is ctx's.
func hold(ctx context.Context, p *pde.Problem, spec *model.Spec, points map[string]int) (holding, error) {
	h := holding{points: points, distance: math.NaN(), time: math.NaN(), space: math.NaN()}
	own := *p // solved by itself
	if own.Reference.Solver == "" || own.Reference.File != "" {
		own.Reference = pde.Reference{Solver: pde.DiscreteSolver}
	}
	g, err := own.Grid(points)
	if err != nil {
		return h, err
	}
	if discrete.Marches(p) {
		err = h.march(ctx, p, &own, spec, g)
	} else {
		err = h.minimise(ctx, p, &own, spec, g)
	}
	return h, err
}

// minimise measures for a problem p that is solved at once; own is solved by itself.
func (h *holding) minimise(ctx context.Context, p, own *pde.Problem, spec *model.Spec, g *grid.Grid) error {
	solver, err := dataset.ReferenceSolver(own, g)
	if err != nil {
		return err
	}
	sys, err := own.Discretize(g)
	if err != nil {
		return err
	}
	scale, err := spec.RowScale(p)
	if err != nil {
		return err
	}
	samples, err := dataset.Draws(p, g, mostHoldSamples)
	if err != nil {
		return err
	}
	sum, truth := holding{}, make([]float64, sys.FieldSize())
	for _, sample := range samples {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := solver.Solve(truth, sample); err != nil {
			return fmt.Errorf("solution on a finer grid: %w", err)
		}
		f, err := discrete.MeasureFloor(sys, scale, sample, truth, mostFloorSteps)
		if err != nil {
			return err
		}
		sum.distance += f.Error / mostHoldSamples
		sum.residual += f.Residual / mostHoldSamples
	}
	h.distance, h.residual = sum.distance, sum.residual
	return nil
}

// holdSolver returns the solver of a problem's reference on a grid; that of its rows is a rough one with two axes of space, since a
// distance of a few percent is what is looked for.
func holdSolver(p *pde.Problem, g *grid.Grid) (sim.Solver, error) {
	if len(g.Axes) <= 2 || p.Reference.Solver != pde.DiscreteSolver {
		return dataset.ReferenceSolver(p, g)
	}
	refine, _ := discrete.Refinements(p, g)
	return discrete.NewRough(p, g, refine)
}

// march measures for a problem p that is marched; own is solved by itself.
func (h *holding) march(ctx context.Context, p, own *pde.Problem, spec *model.Spec, g *grid.Grid) error {
	refine, _ := discrete.Refinements(own, g)
	steps, n := refine[0], len(p.Unknowns)
	points, work := g.PointsByName(), float64(n*steps)
	on := *own // the points of the finer grid are its own
	on.Reference.Refine = map[string]int{g.Axes[0].Name: steps}
	for i, a := range g.Axes {
		if i > 0 {
			on.Reference.Refine[a.Name] = 1
			if points[a.Name] *= refine[i]; a.Boundary == grid.Nodes {
				points[a.Name] -= refine[i] - 1
			}
		}
		work *= float64(points[a.Name])
	}
	count := min(mostHoldSamples, int(mostHoldWork/work))
	if count = max(count, 1); work > 3*mostHoldWork {
		return fmt.Errorf("%.2g values times steps are too many", work)
	}
	fine, err := p.Grid(points)
	if err != nil {
		return err
	}
	solver, err := holdSolver(&on, fine)
	if err != nil {
		return err
	}
	differences, err := discrete.NewDifferences(p, g, steps)
	if err != nil {
		return err
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return err
	}
	plain, err := sys.NewPlainResidual()
	if err != nil {
		return err
	}
	scale, err := spec.RowScale(p)
	if err != nil {
		return err
	}
	draws, coarse, err := drawsOn(p, fine, g, count)
	if err != nil {
		return err
	}
	var sum holding
	all := make([]float64, n*fine.Size())
	truth, exact, moved := make([]float64, n*g.Size()), make([]float64, n*g.Size()), make([]float64, n*g.Size())
	for i, inputs := range coarse {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := solver.Solve(all, draws[i]); err != nil {
			return fmt.Errorf("solution on a finer grid: %w", err)
		}
		grid.Thin(truth, all, g.Axes, fine.Axes)
		err := differences.Solve(exact, moved, inputs)
		if errors.Is(err, discrete.ErrNotConverged) && own.Reference.Solver == pde.DiscreteSolver { // as the finer grid's were
			h.distance, h.time, h.space = math.Inf(1), 0, math.Inf(1) // that is of layers in space
			return nil
		}
		if err != nil {
			return fmt.Errorf("solution on this grid: %w", err)
		}
		distance := grid.RelativeL2(moved, truth, n)
		if len(g.Axes) == 2 { // at once, or not at all
			if f, err := discrete.MeasureFloor(sys, scale, inputs, truth, 0); err == nil {
				distance = max(distance, f.Error)
			}
		}
		sum.distance += distance
		sum.time += grid.RelativeL2(moved, exact, n)
		sum.space += grid.RelativeL2(exact, truth, n)
		sum.residual += dataset.SolutionResidual(plain, truth, inputs)
	}
	by := float64(len(coarse))
	h.distance, h.time, h.space, h.residual = sum.distance/by, sum.time/by, sum.space/by, sum.residual/by
	if math.IsNaN(h.distance) {
		return discrete.ErrNotConverged
	}
	return nil
}

// drawsOn are the inputs of count samples on a fine grid and on a coarse one: of the same functions where those that are drawn do not depend on the
// grid, else interpolated.
func drawsOn(p *pde.Problem, fine, g *grid.Grid, count int) (draws, coarse [][]float64, err error) {
	if draws, err = dataset.Draws(p, fine, count); err != nil {
		return nil, nil, err
	}
	if coarse, err = dataset.Draws(p, g, count); err != nil {
		return nil, nil, err
	}
	for i, u := range coarse {
		if thinned := dataset.InputsOn(p, draws[i], fine, g); grid.Distance(thinned, u) > 1e-3*grid.Norm(u) {
			draws[i] = dataset.InputsOn(p, u, g, fine)
		}
	}
	return draws, coarse, nil
}

// poor reports a grid that does not hold the solutions.
func (h holding) poor() bool { return h.distance > mostGridError }

// finer is what twice the points make of it, along the axis that is to blame: time, or space, or either where what differences along each
// make alone is less than half of the distance (the floor of the rows is the larger one); of several axes the one that does most, or all of
// them where that does much more.
func (h holding) finer(ctx context.Context, p *pde.Problem, spec *model.Spec) (best holding, err error) {
	first, end := 0, len(p.Axes)
	switch {
	case h.time+h.space < h.distance/2:
	case h.time >= h.space:
		end = 1
	case h.time < h.space:
		first = 1
	}
	try := func(from, to int) (holding, error) {
		points := maps.Clone(h.points)
		for _, a := range p.Axes[from:to] {
			if points[a.Name] *= 2; a.Boundary == grid.Nodes {
				points[a.Name]--
			}
		}
		return hold(ctx, p, spec, points)
	}
	for i := first; i < end; i++ {
		next, err := try(i, i+1)
		if err != nil {
			return h, err
		}
		if best.points == nil || next.distance < best.distance {
			best = next
		}
	}
	if end > first+1 && best.poor() {
		all, err := try(first, end)
		if err == nil && all.distance <= lowerFloor*best.distance {
			best = all
		}
	}
	return best, ctx.Err()
}

// enough is what holds solutions, or comes nearest to it, of grids with more and more points, coarsest first and without h itself;
// it ends where nothing is gained, or measured.
func (h holding) enough(ctx context.Context, p *pde.Problem, spec *model.Spec) (grids []holding, err error) {
	for last := h; last.poor() && len(grids) < mostFiner; {
		next, err := last.finer(ctx, p, spec)
		if ctx.Err() != nil {
			return grids, ctx.Err()
		}
		if err != nil || next.distance >= last.distance && !math.IsInf(next.distance, 1) {
			break
		}
		grids, last = append(grids, next), next
	}
	return grids, nil
}

// describe says that a grid does not hold the solutions, and how many points would do, if grids tell.
func (h holding) describe(p *pde.Problem, grids []holding) string {
	text := fmt.Sprintf("the grid (%s) does not hold the solutions: its rows cannot be solved, and those of a finer one can", h.shape(p, nil))
	if !math.IsInf(h.distance, 1) {
		text = fmt.Sprintf("the grid (%s) does not hold the solutions: those of its rows are %s from them (relative L2), and no network is expected to be nearer; the solutions leave %s of their rate there",
			h.shape(p, nil), words.Percent(h.distance), words.Percent(h.residual))
	}
	if n := len(grids); n > 0 && !math.IsInf(grids[n-1].distance, 1) {
		last := grids[n-1]
		text += fmt.Sprintf("; with %s they are %s away", last.shape(p, h.points), words.Percent(last.distance))
	}
	return text
}

// shape lists the points of a grid, but for those that are the same in another.
func (h holding) shape(p *pde.Problem, but map[string]int) string {
	var all []string
	for _, a := range p.AxisNames() {
		if h.points[a] != but[a] {
			all = append(all, fmt.Sprintf("%s: %d", a, h.points[a]))
		}
	}
	return strings.Join(all, ", ")
}

// unheld is the warning of a grid that does not hold the solutions of a problem, empty for one that does or that
// was not measured.
func unheld(ctx context.Context, p *pde.Problem, spec *model.Spec) (string, error) {
	h, err := hold(ctx, p, spec, pointsOn(p, spec))
	if ctx.Err() != nil || err != nil || !h.poor() {
		return "", ctx.Err()
	}
	grids, err := h.enough(ctx, p, spec)
	return h.describe(p, grids), err
}

// notHeld says that it was not measured.
func notHeld(why error) string {
	return fmt.Sprintf("how well this grid holds solutions was not measured: %v", why)
}

// pointsOn are the points of a spec's grid along all axes.
func pointsOn(p *pde.Problem, spec *model.Spec) map[string]int {
	points := map[string]int{}
	for _, a := range p.Axes {
		points[a.Name] = a.Points
	}
	maps.Copy(points, spec.Grid)
	return points
}
