package engine

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"pihc/compute"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/kernel"
	"pihc/internal/words"
	"pihc/model"
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
	// Newton adds a step of Newton's method to the functions of every pass but the first and the last of all, in the place of the oldest correction. The spec
	// has room for one (model.Spec.Directions).
	Newton  bool
	Workers int // threads that find steps, 0 for all cores; results do not depend on it
}

// A residual has stopped falling when the lowest of the last repeatPatience passes is
// not repeatFall below the lowest before them.
const (
	repeatPatience = 4
	repeatFall     = 0.02
)

// Steps of Newton's method converge or do not. Where no tolerance is asked for, below newtonNear a residual has stopped falling already when its square has not halved in
// newtonPatience passes with such steps, and below newtonSolved no more is sought.
// Above newtonLost they begin again, once, with what a march of newtonSteps times the usual steps leads to from what fields begin with.
const (
	newtonPatience = 2
	newtonLost     = 0.05
	newtonSteps    = 4
	newtonNear     = 1e-2
	newtonSolved   = 1e-5
)

// A step that leads nowhere, and is more than newtonShort of the field, is taken whole, though the residual grows by that, newtonWhole times at most: beside a kink the sum of
// squares has minima that are no solutions (the watchdog of Chamberlain et al. 1982).
const (
	newtonShort = 1e-3
	newtonWhole = 3
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
	if o.Newton && info.Spec.Directions() == 0 {
		return nil, errors.New("constraint.directions: 0: want 1 at least, for steps of Newton's method")
	}
	if o.Workers < 1 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	r := &repeated[T]{Engine: e, options: o}
	for _, on := range append(slices.Clone(coarse), e) {
		info := on.Info()
		sys, err := info.Problem.Discretize(info.Grid)
		if err != nil {
			return nil, err
		}
		l := &level[T]{engine: on, system: sys}
		if o.Newton {
			if l.newton, err = newCorrector(info.Spec, info.Problem, info.Grid); err != nil {
				return nil, err
			}
		}
		r.levels = append(r.levels, l)
	}
	return r, nil
}

type repeated[T compute.Float] struct {
	Engine[T]
	levels  []*level[T] // the coarsest first, Engine last
	options RepeatOptions
}

// Close implements Engine.
func (e *repeated[T]) Close() {
	for _, l := range e.levels {
		l.engine.Close()
	}
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
	for _, l := range e.levels {
		if err := l.load(batch.Inputs, e.Info().Grid, e.options.Together); err != nil {
			return err
		}
	}
	finest := e.levels[len(e.levels)-1]
	for lo := 0; lo < len(batch.Inputs); lo += len(finest.samples) {
		hi := min(lo+len(finest.samples), len(batch.Inputs))
		part := Batch{Seeds: batch.Seeds[lo:hi], Done: batch.Done}
		for k, l := range e.levels {
			part.Inputs = l.inputs[lo:hi]
			for i, inputs := range part.Inputs {
				l.samples[i].start(l.system, inputs, e.options.Limit)
				if k > 0 {
					below := e.levels[k-1]
					l.samples[i].startFrom(&below.samples[i], l.system.Grid, below.system, below.inputs[lo+i])
				}
			}
			if err := e.run(params, part, l, lo); err != nil {
				return err
			}
		}
		part.Pass = e.Info().Spec.Network.Passes
		for i := range part.Inputs {
			part.Previous, part.Directions = append(part.Previous, finest.samples[i].best), append(part.Directions, finest.samples[i].Directions)
		}
		if err := e.Engine.Predict(params, part, func(i int, p *Prediction) error {
			s := &finest.samples[i]
			p.Passes, p.Residual = s.below+s.bestPass+1, e.residual(p.Loss, finest.still[lo+i])
			p.Points = int(math.Round((s.used + float64(s.count) + 1) * float64(e.Info().Grid.Size())))
			return each(lo+i, p)
		}); err != nil {
			return err
		}
	}
	return nil
}

// run runs all passes but the last on the samples of a batch together, which are those of
// the whole from first on; those that have ended are left out.
func (e *repeated[T]) run(params []T, batch Batch, l *level[T], first int) error {
	for {
		next := Batch{Done: batch.Done}
		if l.newton != nil {
			l.correct(batch, e.options.Workers)
		}
		var at []int
		for i := range batch.Inputs {
			s := &l.samples[i]
			pass := min(s.below+s.count+1, 2) // the second stands for all that have a pass before and one after
			if s.ends() || len(at) > 0 && pass != next.Pass {
				continue
			}
			at, next.Pass = append(at, i), pass
			next.Inputs, next.Seeds = append(next.Inputs, batch.Inputs[i]), append(next.Seeds, batch.Seeds[i])
			if pass > 1 {
				next.Previous, next.Directions = append(next.Previous, s.Field), append(next.Directions, s.directions())
			}
		}
		if len(at) == 0 {
			return nil
		}
		if err := l.engine.Predict(params, next, func(i int, p *Prediction) error {
			s := &l.samples[at[i]]
			s.take(p)
			residual := e.residual(s.lowest, l.still[first+at[i]])
			s.done = s.done || residual <= e.options.Tolerance
			if l.newton != nil {
				l.look(s, p.Loss, l.still[first+at[i]], residual, e.options.Tolerance)
			}
			return nil
		}); err != nil {
			return err
		}
	}
}

// mostCorrected bounds the products of a step of Newton's method: half a second or so.
const mostCorrected = 1e10

// CheckNewton says why the passes of a spec cannot take steps of Newton's method on a grid (RepeatOptions.Newton): too much work, or rows that are neither finite differences nor marched. A
// spec that is divided into segments is asked by one of them (model.Spec.SegmentOn).
func CheckNewton(s *model.Spec, p *pde.Problem, g *grid.Grid) error {
	_, err := newCorrector(s, p, g)
	return err
}

// newCorrector returns what finds steps of Newton's method for the rows of a spec on a grid.
func newCorrector(s *model.Spec, p *pde.Problem, g *grid.Grid) (*discrete.Corrector, error) {
	scale, err := s.RowScale(p)
	if err != nil {
		return nil, err
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return nil, err
	}
	c, err := discrete.NewCorrector(sys, scale, mostCorrected)
	if err != nil {
		return nil, words.WithHint(fmt.Errorf("evaluation.newton: %w", err), "`--set evaluation.newton=false` predicts without")
	}
	return c, nil
}

// level is one of the grids that passes run on.
type level[T compute.Float] struct {
	engine Engine[T]
	system *pde.System         // on the whole grid
	newton *discrete.Corrector // or nil
	// Of a batch: the inputs, the losses of the fields that keep them, and the samples that are together in memory.
	inputs  [][]float64
	still   []float64
	samples []repetition
}

// load takes the inputs of a batch on grid g.
func (l *level[T]) load(inputs [][]float64, g *grid.Grid, together int) (err error) {
	info := l.engine.Info()
	l.inputs, l.samples = nil, make([]repetition, max(1, together))
	for _, u0 := range inputs {
		l.inputs = append(l.inputs, dataset.InputsOn(info.Problem, u0, g, info.Grid))
	}
	for i := range l.samples {
		l.samples[i].History, l.samples[i].best = info.NewHistory(), make([]float64, info.FieldSize())
	}
	l.still, err = info.StillLosses(l.inputs)
	return err
}

// repetition is one sample on its way.
type repetition struct {
	History
	best         []float64
	lowest       float64 // loss of best
	before       float64 // the lowest when it last fell by repeatFall
	bestPass     int
	since, count int     // passes since then, and in all
	below        int     // passes on coarser grids that led to where it starts
	used         float64 // all passes there, as many on this grid as have their points
	most         int     // passes on this grid, the last among them
	done         bool
	inputs       []float64

	// With Newton's method: a step, in the unit of weights, or nil, and its length over that of Field; whether the next pass is to have none, or Field is to be moved by a
	// whole one first, and how often it was; the loss of Field; the square of the lowest residual when it had last halved, and the steps since then.
	step    []float64
	length  float64
	alone   bool
	begin   bool // Field is to begin again by a march, which it does once
	begun   bool
	move    bool
	moves   int
	loss    float64
	half    float64
	halving int
}

// start starts from the offset of the ansatz, which the first pass corrects.
func (s *repetition) start(sys *pde.System, inputs []float64, most int) {
	*s = repetition{History: s.History, best: s.best, most: most, lowest: math.Inf(1), before: math.Inf(1), loss: math.Inf(1), half: math.Inf(1), inputs: inputs}
	s.Directions = nil
	sys.Offset(s.Field, inputs)
}

// startFrom adds to that what another grid has left of corrections, unless it is no number. The
// offset itself is not interpolated: the field meets here what the ansatz meets.
func (s *repetition) startFrom(from *repetition, g *grid.Grid, coarse *pde.System, inputs []float64) {
	if !(from.lowest < math.Inf(1)) {
		return
	}
	s.below, s.used = from.below+from.bestPass, (from.used+float64(from.count))*float64(coarse.Grid.Size())/float64(g.Size())
	s.most = max(s.most-int(math.Ceil(s.used)), repeatPatience+1)
	correction := make([]float64, len(from.best))
	coarse.Offset(correction, inputs)
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
		s.bestPass = s.count
		if p.Loss < s.lowest { // and is a number
			s.lowest = p.Loss
		}
	}
	if s.lowest < (1-repeatFall)*s.before {
		s.before, s.since = s.lowest, 0
	}
	s.done = s.since >= repeatPatience || !(p.Loss < math.Inf(1))
}

// look sees what a pass with a step of Newton's method has led to, by the loss of that and of the field that keeps its initial values. Where it led nowhere the field is moved
// by it, or the next pass is without: such a step hides what the network's own functions are good for.
func (l *level[T]) look(s *repetition, loss, still, residual, tolerance float64) {
	if s.step != nil {
		s.halving++
	}
	if square := residual * residual; square < 0.5*s.half {
		s.half, s.halving = square, 0
	}
	s.done = s.done || tolerance == 0 && (residual <= newtonSolved || residual <= newtonNear && s.halving >= newtonPatience)
	failed := s.step != nil && !(loss < (1-repeatFall)*s.loss)
	s.move = failed && loss < math.Inf(1) && residual > max(tolerance, newtonSolved) && s.moves < newtonWhole && s.length > newtonShort
	if s.alone = failed && !s.move; s.move {
		s.since, s.done = 0, false
	}
	s.loss = loss
	if s.done && residual > max(tolerance, newtonLost) && !s.begun && l.newton.Marches() {
		s.begin, s.begun, s.done, s.move, s.alone, s.since, s.loss, s.half, s.halving = true, true, false, false, false, 0, math.Inf(1), math.Inf(1), 0
	}
	if s.below+s.count == 1 && !(loss <= still) {
		l.persist(s)
		s.loss, s.done = still, false
	}
}

// persist goes on from the field that keeps its initial values, but for those that the ansatz fixes: of equations that are far from linear the first pass may lead
// further away than that, where Newton's method fails.
func (l *level[T]) persist(s *repetition) {
	offset := make([]float64, len(s.Field))
	l.system.Offset(offset, s.inputs)
	l.system.Problem.Persist(s.Field, s.inputs, l.system.Grid)
	l.newton.Hold(s.Field, offset)
	s.Directions = nil
}

// correct finds the steps of Newton's method of the samples of a batch that go on, so many at a time.
func (l *level[T]) correct(batch Batch, workers int) {
	var group sync.WaitGroup
	free := make(chan struct{}, workers)
	for i := range batch.Inputs {
		s := &l.samples[i]
		if s.step = nil; s.alone || s.ends() || s.below+s.count == 0 {
			continue
		}
		free <- struct{}{}
		group.Go(func() {
			l.find(s)
			<-free
		})
	}
	group.Wait()
}

// find sets the step, after one that moves the field, if that is to be and it can go on from there.
func (l *level[T]) find(s *repetition) {
	newton, step, field := l.newton, make([]float64, len(s.Field)), s.Field
	if s.begin {
		s.begin = false
		if l.persist(s); newton.March(step, field, s.inputs, newtonSteps) {
			kernel.Axpy64(field, 1, step)
		}
	}
	if s.move && newton.Correct(step, field, s.inputs) {
		moved := slices.Clone(field)
		kernel.Axpy64(moved, 1, step)
		if newton.Correct(step, moved, s.inputs) {
			copy(field, moved)
			s.moves, s.loss, s.Directions = s.moves+1, math.Inf(1), nil
			s.set(step)
		}
		return
	}
	if newton.Correct(step, field, s.inputs) {
		s.set(step)
	}
}

// set sets the step.
func (s *repetition) set(step []float64) {
	s.step, s.length = step, grid.Norm(step)/grid.Norm(s.Field)
	s.scale()
}

// scale makes a step as long as the field, if it is shorter, so that the weight of a short one is small and the ridge does not hold it back.
func (s *repetition) scale() {
	by := 1 / s.unit
	if s.length > 0 && s.length < 1 {
		by /= s.length
	}
	for p := range s.step {
		s.step[p] *= by
	}
}

// ends reports whether the sample has no further pass on its grid but the last.
func (s *repetition) ends() bool { return s.done || s.count >= s.most-1 }

// directions are those of a further pass: the step, if there is one, and what it leaves room for of the corrections.
func (s *repetition) directions() [][]float64 {
	if s.step == nil {
		return s.Directions
	}
	return append([][]float64{s.step}, s.Directions[:min(len(s.Directions), len(s.memory)-1)]...)
}
