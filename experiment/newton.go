package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"pihc/constraint"
	"pihc/engine"
	"pihc/grid"
	"pihc/internal/discrete"
	"pihc/internal/machine"
	"pihc/model"
)

const (
	// mostUnsolved is the residual, over that of what fields begin with, above which a prediction by steps of Newton's method has not converged.
	mostUnsolved = 0.05
	// newtonDraws is how many samples are looked at, in longNewton seconds, and newtonPasses how many passes each has in a segment. Where none is predicted in slowNewton
	// there are no steps.
	newtonDraws, newtonPasses, longNewton, slowNewton = 4, 15, 10.0, 30.0
	// mostDivisions is how many numbers of segments are tried.
	mostDivisions = 3
)

// errSlow says that a prediction with steps of Newton's method takes too long.
var errSlow = fmt.Errorf("a prediction with steps of Newton's method takes more than %g s", slowNewton)

// tryNewton takes steps of Newton's method where passes are repeated and a step is not much work. Where some samples do not converge
// before anything is learnt, the time is divided into more segments, if all do then. Linear rows that Duhamel's formula solves by modes are left alone: their differences in
// time are further from solutions than the formula.
func (d *draft) tryNewton(ctx context.Context, o *SizeOptions) error {
	if a := d.p.Unknowns[0].Ansatz; a.Duhamel && !a.ByRows && d.p.AllLinear() && d.p.ByModes() {
		return nil
	}
	if spec, err := d.fit(d.p); err != nil || spec.Evaluation.Passes != model.AutoPasses {
		return err
	}
	residual, prediction, err := d.untrained(ctx)
	switch {
	case errors.Is(err, errSlow):
		o.say("init: %v: there are none", err)
		return nil
	case errors.Is(err, discrete.ErrNoSteps):
		return nil
	case err != nil:
		return err
	}
	d.newton, d.prediction = true, prediction
	defer func() { d.affordPredictions(o.Minutes) }()
	if d.converges = residual <= mostUnsolved; d.converges {
		return nil
	}
	first := d.segments
	for _, n := range d.moreSegments() {
		o.say("init: some samples do not converge: trying %d segments of the time", n)
		d.segments = n
		if residual, prediction, err = d.untrained(ctx); ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || residual > mostUnsolved {
			continue
		}
		d.added = append(d.added, fmt.Sprintf("%d segments of the time in the place of %d, with which some samples do not converge before anything is learnt", n, first))
		d.prediction, d.converges = prediction, true
		if d.fitted, err = d.fit(d.p); err != nil {
			return err
		}
		if err := d.timeSteps(d.p, math.Inf(1)); err != nil {
			return err
		}
		d.allow(o.Minutes)
		return nil
	}
	d.segments = first
	o.say("init: some samples do not converge before anything is learnt")
	return nil
}

// moreSegments are the next larger numbers of segments that the grid can be divided into, if it is divided, the first of them twice as many as now or more, if there is one.
func (d *draft) moreSegments() (all []int) {
	if d.segments < 2 {
		return nil
	}
	g, err := d.p.Grid(d.fitted.Grid)
	if err != nil {
		return nil
	}
	on := *d.fitted
	var fewer []int
	for n := d.segments + 1; n < g.Axes[0].Points; n++ {
		on.Rollout = n
		if _, _, _, err := on.SegmentOn(d.p, g); err != nil {
			continue
		}
		if n < 2*d.segments {
			fewer = append(fewer, n)
		} else {
			all = append(all, n)
		}
	}
	slices.Reverse(fewer)
	all = append(all, fewer...)
	return all[:min(len(all), mostDivisions)]
}

// untrained is the largest residual, over that of what fields begin with, of predictions for some samples with steps of Newton's method, by the network that training
// begins with, and the seconds of one; it ends with the first that does not converge, or after longNewton seconds.
func (d *draft) untrained(ctx context.Context) (worst, prediction float64, err error) {
	spec, err := d.fit(d.p)
	if err != nil {
		return 0, 0, err
	}
	spec.Constraint.Directions = max(1, *spec.Evaluation.Directions)
	g, err := d.p.Grid(spec.Grid)
	if err != nil {
		return 0, 0, err
	}
	part, err := partOf(spec, d.p, g)
	if err != nil {
		return 0, 0, err
	}
	e, err := newtonEngine(part, spec, d, g)
	if err != nil {
		return 0, 0, err
	}
	defer e.Close()
	samples, err := draws(spec, d.p, "train", newtonDraws)
	if err != nil {
		return 0, 0, err
	}
	slow, cancel := context.WithTimeout(ctx, slowNewton*time.Second)
	defer cancel()
	batch := engine.Batch{Inputs: samples, Done: slow.Done()}
	for i := range samples {
		batch.Seeds = append(batch.Seeds, constraint.Seed{Run: 1, Sample: uint64(i)})
	}
	count, watch := 0.0, machine.Start()
	err = e.Predict(engine.InitialParams[float32](e.Info()), batch, func(_ int, p *engine.Prediction) error {
		if worst = max(worst, p.Residual); math.IsNaN(p.Residual) {
			worst = math.Inf(1)
		}
		count++
		if prediction = watch.Seconds() / count; worst > mostUnsolved || prediction*count > longNewton {
			return errSeen
		}
		return nil
	})
	switch late := slow.Err() != nil && ctx.Err() == nil; {
	case errors.Is(err, errSeen), late && count > 0:
		err = nil
	case late:
		err = errSlow
	}
	return worst, prediction, err
}

var errSeen = errors.New("enough samples are seen")

// affordPredictions takes as many test samples as are predicted in the time of a training, but some.
func (s *sizes) affordPredictions(minutes float64) {
	if s.given == nil && s.prediction > 0 {
		s.tests = max(min(s.tests, fewestSolved), min(s.tests, int(60*minutes/s.prediction)))
	}
}

// newtonEngine is an engine of a spec whose passes are repeated with steps of Newton's method, by that of a part.
func newtonEngine(part part, spec *model.Spec, d *draft, g *grid.Grid) (engine.Engine[float32], error) {
	if err := engine.CheckNewton(part.spec, part.problem, part.grid); err != nil {
		return nil, err
	}
	e, err := engine.New[float32](part.spec, part.problem, engine.Options{Grid: part.grid, Workers: d.workers, Blend: part.spec.Evaluation.BlendWidth()})
	if err != nil {
		return nil, err
	}
	out, err := engine.Repeat(e, engine.RepeatOptions{Limit: newtonPasses, Together: 1, Newton: true, Workers: d.workers})
	if err != nil {
		e.Close()
		return nil, err
	}
	if spec.Rollout > 1 {
		return engine.Rollout(out, spec, d.p, g, 1)
	}
	return out, nil
}
