package experiment

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"pihc/data"
	"pihc/engine"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/kernel"
	"pihc/pde"
	"pihc/report"
	"pihc/score"
	"pihc/sim"
)

// Sizes of the comparison of times: samples whose errors are compared (fewer where solutions
// are those of the problem's own rows, which take longer), predictions in a batch, and how long
// a batch or one grid may take: a slow network predicts fewer together, and no grid is tried
// that would take longer, as its time grows.
const (
	costSamples    = 32
	costOwnSamples = 4
	costBatch      = 16
	costLimit      = 10 * time.Second
)

// timing compares the time of predictions with that of a classical solver.
type timing struct {
	problem *pde.Problem
	grid    *grid.Grid // of the page
	space   int        // the first axis of space: 0 where there is no time
	samples score.Samples
	chosen  []int // samples whose errors are compared
	out     report.Cost
}

// newTiming returns nil where there is no solver to compare with. workers are those of the
// predictions, 0 for one on each core.
func newTiming(p *pde.Problem, g *grid.Grid, s score.Samples, workers int) *timing {
	if s.Truth == nil || !solvable(p) {
		return nil
	}
	t := &timing{problem: p, grid: g, samples: s}
	if discrete.Marches(p) || p.Reference.Solver != pde.DiscreteSolver {
		t.space = 1
	}
	count := min(costSamples, len(s.Inputs))
	if p.Reference.Solver == pde.DiscreteSolver {
		count = min(costOwnSamples, count)
	}
	for i := range count {
		t.chosen = append(t.chosen, i*len(s.Inputs)/count)
	}
	t.out = report.Cost{Machine: kernel.Machine(), Workers: cmp.Or(workers, runtime.GOMAXPROCS(0)), Samples: len(t.chosen)}
	return t
}

// method times a trained method: one prediction, and a batch.
func (t *timing) method(ctx context.Context, m *report.Method, e Predictor) error {
	s := t.samples
	c := report.MethodCost{Method: m.Key, Label: m.Label, Train: m.Evaluation.TrainSeconds}
	for _, i := range t.chosen {
		c.Error += data.Float(m.Evaluation.PerSample[i].RelativeL2 / float64(len(t.chosen)))
	}
	predict := func(count int) (float64, error) {
		batch := engine.Batch{}
		for i := range count {
			batch.Inputs, batch.Seeds = append(batch.Inputs, s.Inputs[i%len(s.Inputs)]), append(batch.Seeds, s.Seeds[i%len(s.Seeds)])
		}
		begin := time.Now()
		err := e.Predict(batch, func(int, *engine.Prediction) error { return ctx.Err() })
		return time.Since(begin).Seconds(), err
	}
	// The best of several, if they are fast: other work on the machine only ever adds, and the
	// first one also finds its memory.
	best := func(count, repeat int) (float64, error) {
		least := math.Inf(1)
		for n, begin := 0, time.Now(); n == 0 || n < repeat && time.Since(begin) < 2*time.Second; n++ {
			v, err := predict(count)
			if err != nil {
				return 0, err
			}
			least = min(least, v)
		}
		return least, nil
	}
	var err error
	if c.Seconds, err = best(1, 10); err != nil {
		return err
	}
	if t.out.Batch == 0 { // the same of all methods
		t.out.Batch = min(costBatch, max(t.out.Workers, int(costLimit.Seconds()/c.Seconds)))
	}
	together, err := best(t.out.Batch, 3)
	if err != nil {
		return err
	}
	c.PerSecond = float64(t.out.Batch) / together
	t.out.Methods = append(t.out.Methods, c)
	return nil
}

// cost runs the classical solver on grids of twice as many points in space each, until it is
// as accurate as the best method.
func (t *timing) cost(ctx context.Context) (*report.Cost, error) {
	best := math.Inf(1)
	for _, m := range t.out.Methods {
		best = min(best, float64(m.Error))
	}
	previous := time.Duration(0)
	for _, g := range t.grids() {
		begin := time.Now()
		run, err := t.classical(ctx, g)
		if err != nil {
			return nil, err
		}
		if run == nil {
			continue
		}
		t.out.Classical = append(t.out.Classical, *run)
		took := time.Since(begin)
		growth := took.Seconds() / cmp.Or(previous, took).Seconds()
		if float64(run.Error) <= best || took.Seconds()*max(1, growth) > costLimit.Seconds() {
			break
		}
		previous = took
	}
	t.out.Match()
	return &t.out, t.uses(ctx)
}

// grids are those of the page with fewer and more points in space, coarsest first.
func (t *timing) grids() []*grid.Grid {
	var out []*grid.Grid
	for by := 64; by >= 1; by /= 2 {
		if g := t.scaled(func(n int) int { return n / by }); g != nil {
			out = append(out, g)
		}
	}
	finer := func(factor int) bool {
		return slices.ContainsFunc(t.grid.Axes[t.space:], func(a grid.Axis) bool { return a.Points*factor <= t.problem.Reference.Points[a.Name] })
	}
	for factor := 2; finer(factor); factor *= 2 {
		out = append(out, t.scaled(func(n int) int { return n * factor }))
	}
	return out
}

// scaled returns nil where an axis would have fewer than eight points.
func (t *timing) scaled(points func(n int) int) *grid.Grid {
	g := &grid.Grid{Axes: slices.Clone(t.grid.Axes)}
	for i := range g.Axes[t.space:] {
		a := &g.Axes[t.space+i]
		if a.Points = points(a.Points); a.Points < 8 {
			return nil
		}
	}
	return g
}

// classical runs the solver on one grid; nil where it has no solution there.
func (t *timing) classical(ctx context.Context, g *grid.Grid) (*report.ClassicalRun, error) {
	var solver sim.Solver
	var err error
	if t.problem.Reference.Solver == pde.DiscreteSolver {
		solver, err = discrete.New(t.problem, g, slices.Repeat([]int{1}, len(g.Axes)))
	} else {
		solver, err = dataset.ClassicalSolver(t.problem, g, nil)
	}
	if err != nil {
		return nil, nil // too coarse for its stencils
	}
	run := &report.ClassicalRun{Grid: g.Shape()}
	fields, initial := make([][]float64, len(t.chosen)), make([][]float64, len(t.chosen))
	var times []float64
	for k, i := range t.chosen {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		initial[k], fields[k] = dataset.InputsOn(t.problem, t.samples.Inputs[i], t.grid, g), make([]float64, len(t.problem.Unknowns)*g.Size())
		least := math.Inf(1)
		for n := 0; n < 3 && (n == 0 || least < 0.1); n++ {
			begin := time.Now()
			if _, err := solver.Solve(fields[k], initial[k]); err != nil {
				return nil, nil // it breaks down on a grid this coarse
			}
			least = min(least, time.Since(begin).Seconds())
		}
		times = append(times, least)
		truth, err := t.samples.Truth(i)
		if err != nil {
			return nil, err
		}
		run.Error += data.Float(grid.RelativeL2(t.onPage(fields[k], g), truth, len(t.problem.Unknowns)) / float64(len(t.chosen)))
	}
	run.Seconds = score.Summarize(times).Median
	for n := 0; n < 3 && (n == 0 || run.Seconds < 0.1); n++ {
		run.PerSecond = max(run.PerSecond, throughput(solver, fields, initial, t.out.Workers))
	}
	return run, nil
}

// onPage interpolates fields (C, P) in space, time by time.
func (t *timing) onPage(u []float64, g *grid.Grid) []float64 {
	if slices.Equal(g.Axes, t.grid.Axes) {
		return u
	}
	parts := len(t.problem.Unknowns)
	if t.space == 1 {
		parts *= g.Axes[0].Points
	}
	size := len(u) / parts
	var out []float64
	for i := range parts {
		out = append(out, grid.Resample(u[i*size:(i+1)*size], g.Axes[t.space:], t.grid.Axes[t.space:])...)
	}
	return out
}

// throughput is how many solutions a second the solver makes, one at a time on each worker.
func throughput(solver sim.Solver, fields, initial [][]float64, workers int) float64 {
	var group sync.WaitGroup
	begin := time.Now()
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(fields); i += workers {
				solver.Solve(fields[i], initial[i]) // it solved them before
			}
		})
	}
	group.Wait()
	return float64(len(fields)) / time.Since(begin).Seconds()
}
