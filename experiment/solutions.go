package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"pihc/data"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/words"
	"pihc/pde"
)

const (
	// mostCompared is how many solutions of a split are compared with others, in half the time that all
	// took, or leastComparison.
	mostCompared    = 64
	leastComparison = 10 * time.Second
)

// compared is what is known of one solution of a dataset.
type compared struct {
	split              string
	sample             int
	distance, residual float64 // from a solution of another refinement; of the rows, over the rate
}

// checkSolutions compares the solutions of a dataset, which are those of the problem's own rows, one by one with
// those of another refinement, and with the equation on their own grid, as many as a time allows, and returns what is to be warned of: an
// estimate from a few says nothing of single ones whose layers no grid holds.
func checkSolutions(ctx context.Context, dir string, p *pde.Problem, workers int, allowed time.Duration) ([]string, error) {
	if p.Reference.Solver != pde.DiscreteSolver {
		return nil, nil
	}
	set, err := data.Open(dir)
	if err != nil {
		return nil, err
	}
	var all []compared
	until := time.Now().Add(allowed)
	for _, split := range slices.Backward(set.Splits) { // test first
		if split.Solve && split.Name != "train" {
			own, err := compareSplit(ctx, set, split, p, workers, until)
			if err != nil {
				return nil, err
			}
			all = append(all, own...)
		}
	}
	var out []string
	say := func(of func(c compared) float64, most float64, text, hint string) {
		count, worst := 0, compared{}
		for _, c := range all {
			if of(c) > most {
				if count++; count == 1 || of(c) > of(worst) {
					worst = c
				}
			}
		}
		if count > 0 {
			out = append(out, fmt.Sprintf("%d of %d solutions compared %s %s (the worst, %s sample %d: %s): %s", count, len(all), text, words.Percent(most), worst.split, worst.sample, words.Percent(of(worst)), hint))
		}
	}
	say(func(c compared) float64 { return c.distance }, mostReferenceError,
		"differ from those of another refinement by more than", "errors of these samples say no more than that; see `refine` in docs/reference/pde-files.md")
	say(func(c compared) float64 { return c.residual }, dataset.MostResidual,
		"have a residual of the equation on their own grid, over their rate, of more than", "layers that it does not hold, where solutions of a refined grid may be wrong too; compare another `refine`, or take more points")
	return out, nil
}

// compareSplit compares the first solutions of a split, as many as are begun until a time.
func compareSplit(ctx context.Context, set *data.Dataset, split data.Split, p *pde.Problem, workers int, until time.Time) ([]compared, error) {
	g, err := p.Grid(pointsOf(split))
	if err != nil {
		return nil, err
	}
	_, others := discrete.Refinements(p, g)
	solver, err := discrete.New(p, g, others[0])
	if err != nil {
		return nil, err
	}
	count := min(split.Count, mostCompared)
	initial, err := set.InputRange(split.Name, 0, count)
	if err != nil {
		return nil, err
	}
	inputs, out := rowsOf(initial.Float64(), count), make([]compared, count)
	var group sync.WaitGroup
	var files sync.Mutex
	failed := make([]error, cmp.Or(workers, runtime.GOMAXPROCS(0)))
	for w := range failed {
		group.Go(func() {
			failed[w] = func() error {
				sys, err := p.Discretize(g)
				if err != nil {
					return err
				}
				plain, err := sys.NewPlainResidual()
				if err != nil {
					return err
				}
				other := make([]float64, sys.FieldSize())
				for i := w; i < count && ctx.Err() == nil && time.Now().Before(until); i += len(failed) {
					files.Lock()
					a, err := set.SolutionsRange(split.Name, i, 1)
					files.Unlock()
					if err != nil {
						return err
					}
					u := a.Float64()
					c := compared{split: split.Name, sample: i, residual: dataset.SolutionResidual(plain, u, inputs[i])}
					if _, err := solver.Solve(other, inputs[i]); err == nil { // it may have none
						c.distance = grid.RelativeL2(other, u, len(p.Unknowns))
					}
					out[i] = c
				}
				return ctx.Err()
			}()
		})
	}
	group.Wait()
	out = slices.DeleteFunc(out, func(c compared) bool { return c.split == "" })
	return out, cmp.Or(ctx.Err(), errors.Join(failed...))
}
