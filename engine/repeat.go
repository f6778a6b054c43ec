package engine

import (
	"fmt"
	"math"
	"slices"

	"pihc/compute"
	"pihc/dataset"
	"pihc/grid"
	"pihc/pde"
)

// RepeatOptions say how often Repeat runs the network.
type RepeatOptions struct {
	// Tolerance ends a sample whose residual meets it: the root of its loss over that
	// of the field which keeps its initial values (Prediction.Residual). 0: none.
	Tolerance float64
	// Limit is the number of passes of a sample at most. Those on a coarser grid count by their
	// share of the points; there may be repeatPatience + 1 on every finer grid in any case.
	Limit    int
	Together int // samples that are held in memory at a time
}

// A residual has stopped falling when the lowest of the last repeatPatience passes is
// not repeatFall below the lowest before them.
const (
	repeatPatience = 4
	repeatFall     = 0.02
)

// Repeat returns an engine like e, of a spec with three passes or more, whose Predict
// runs the network on each sample until its residual has stopped falling or meets the
// tolerance; from the pass with the lowest residual it goes on to the last, with the
// method's own constraint. Predictions say how many passes there were, and what
// residual is left. Batches that ask for a pass are handed to e.
//
// coarse are engines of the same spec on coarser grids, the coarsest first, where a pass costs
// less (nested iteration; Brandt 1977). Passes begin on the first of them, and on every other grid
// with what the one before has left, interpolated. Close closes them too.
func Repeat[T compute.Float](e Engine[T], o RepeatOptions, coarse ...Engine[T]) (Engine[T], error) {
	info := e.Info()
	if info.Spec.Network.Passes < 3 {
		return nil, fmt.Errorf("network.passes: %d: want 3 at least, to be repeated", info.Spec.Network.Passes)
	}
	r := &repeated[T]{Engine: e, grids: append(slices.Clone(coarse), e), options: o}
	for _, on := range r.grids {
		info := on.Info()
		sys, err := info.Problem.Discretize(info.Grid)
		if err != nil {
			return nil, err
		}
		r.systems = append(r.systems, sys)
	}
	return r, nil
}

type repeated[T compute.Float] struct {
	Engine[T]
	grids   []Engine[T]   // the coarsest first, Engine last
	systems []*pde.System // on the whole of them
	options RepeatOptions
}

// Close implements Engine.
func (e *repeated[T]) Close() {
	for _, on := range e.grids {
		on.Close()
	}
}

// repetition is one sample on its way.
type repetition struct {
	History
	best         []float64
	lowest       float64 // loss of best
	before       float64 // the lowest when it last fell by repeatFall
	bestPass     int
	since, count int     // passes since then, and in all
	begun        int     // passes on coarser grids that led to where it begins
	used         float64 // all passes there, as many on this grid as have their points
	most         int     // passes on this grid, the last among them
	done         bool
}

// residual is the root of a loss over that of the initial condition at all times.
func (e *repeated[T]) residual(loss, still float64) float64 {
	if e.Info().Spec.Loss.Form == "norm" {
		return loss / still
	}
	return math.Sqrt(loss / still)
}

// Predict implements Engine.
func (e *repeated[T]) Predict(params []T, batch Batch, each func(i int, p *Prediction) error) error {
	if batch.Pass != 0 || batch.Previous != nil {
		return e.Engine.Predict(params, batch, each)
	}
	var levels []*repetitions[T]
	for i, runner := range e.grids {
		r, err := newRepetitions(runner, e.systems[i], e.Info().Grid, batch.Initial, e.options.Together)
		if err != nil {
			return err
		}
		levels = append(levels, r)
	}
	finest := levels[len(levels)-1]
	for lo := 0; lo < len(batch.Initial); lo += len(finest.samples) {
		hi := min(lo+len(finest.samples), len(batch.Initial))
		part := Batch{Seeds: batch.Seeds[lo:hi], Done: batch.Done}
		for l, r := range levels {
			part.Initial = r.initial[lo:hi]
			for i, u0 := range part.Initial {
				s := &r.samples[i]
				s.begin(r.system, u0, e.options.Limit)
				if l > 0 {
					coarse := levels[l-1]
					s.goOn(&coarse.samples[i], r.system.Grid, coarse.system, coarse.initial[lo+i])
				}
			}
			if err := e.settle(params, part, r, lo); err != nil {
				return err
			}
		}
		part.Pass = e.Info().Spec.Network.Passes
		for i := range part.Initial {
			part.Previous, part.Directions = append(part.Previous, finest.samples[i].best), append(part.Directions, finest.samples[i].Directions)
		}
		if err := e.Engine.Predict(params, part, func(i int, p *Prediction) error {
			s := &finest.samples[i]
			p.Passes, p.Residual = s.begun+s.bestPass+1, e.residual(p.Loss, finest.still[lo+i])
			return each(lo+i, p)
		}); err != nil {
			return err
		}
	}
	return nil
}

// repetitions are the samples of a batch on one grid, as many of them as are held together.
type repetitions[T compute.Float] struct {
	engine  Engine[T]
	system  *pde.System
	initial [][]float64 // of the whole batch
	still   []float64   // loss of the field that keeps it
	samples []repetition
}

// newRepetitions takes the initial conditions of a batch on grid g.
func newRepetitions[T compute.Float](e Engine[T], sys *pde.System, g *grid.Grid, initial [][]float64, together int) (*repetitions[T], error) {
	info := e.Info()
	r := &repetitions[T]{engine: e, system: sys, samples: make([]repetition, max(1, together))}
	for _, u0 := range initial {
		r.initial = append(r.initial, dataset.InputsOn(info.Problem, u0, g, info.Grid))
	}
	var err error
	if r.still, err = StillLosses(info, r.initial); err != nil {
		return nil, err
	}
	size := info.FieldSize()
	for i := range r.samples {
		r.samples[i].History, r.samples[i].best = NewHistory(info.Spec, size), make([]float64, size)
	}
	return r, nil
}

// settle runs all passes but the last on the samples of a batch together, which are those of
// the whole from first on; those that have ended are left out.
func (e *repeated[T]) settle(params []T, batch Batch, r *repetitions[T], first int) error {
	for {
		next := Batch{Done: batch.Done}
		var at []int
		for i := range batch.Initial {
			s := &r.samples[i]
			pass := min(s.begun+s.count+1, 2) // the second stands for all that have a pass before and one after
			if s.done || s.count >= s.most-1 || len(at) > 0 && pass != next.Pass {
				continue
			}
			at, next.Pass = append(at, i), pass
			next.Initial, next.Seeds = append(next.Initial, batch.Initial[i]), append(next.Seeds, batch.Seeds[i])
			if pass > 1 {
				next.Previous, next.Directions = append(next.Previous, s.Field), append(next.Directions, s.Directions)
			}
		}
		if len(at) == 0 {
			return nil
		}
		if err := r.engine.Predict(params, next, func(i int, p *Prediction) error {
			s := &r.samples[at[i]]
			s.take(p)
			s.done = s.done || e.residual(s.lowest, r.still[first+at[i]]) <= e.options.Tolerance
			return nil
		}); err != nil {
			return err
		}
	}
}

// begin begins with the offset of the ansatz, which the first pass corrects.
func (s *repetition) begin(sys *pde.System, initial []float64, most int) {
	*s = repetition{History: s.History, best: s.best, most: most, lowest: math.Inf(1), before: math.Inf(1)}
	s.Directions = nil
	sys.Offset(s.Field, initial)
}

// goOn adds to that what another grid has left of corrections, unless it is no number. The
// offset itself is not interpolated: the field meets here what the ansatz meets.
func (s *repetition) goOn(from *repetition, g *grid.Grid, coarse *pde.System, initial []float64) {
	if !(from.lowest < math.Inf(1)) {
		return
	}
	s.begun, s.used = from.begun+from.bestPass, (from.used+float64(from.count))*float64(coarse.Grid.Size())/float64(g.Size())
	s.most = max(s.most-int(math.Ceil(s.used)), repeatPatience+1)
	correction := make([]float64, len(from.best))
	coarse.Offset(correction, initial)
	for p, v := range from.best {
		correction[p] = v - correction[p]
	}
	for p, v := range grid.Resample(correction, coarse.Grid.Axes, g.Axes) {
		s.Field[p] += v
	}
}

// take takes the field of a further pass.
func (s *repetition) take(p *Prediction) {
	s.Add(p.Field)
	s.count++
	s.since++
	if s.bestPass == 0 || p.Loss < s.lowest {
		copy(s.best, p.Field)
		s.lowest, s.bestPass = p.Loss, s.count
	}
	if s.lowest < (1-repeatFall)*s.before {
		s.before, s.since = s.lowest, 0
	}
	s.done = s.since >= repeatPatience || !(p.Loss < math.Inf(1))
}
