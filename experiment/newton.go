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
	// newtonDraws is how many samples are looked at, in longNewton seconds, and newtonPasses how many passes each has in a segment.
	newtonDraws, newtonPasses, longNewton = 4, 15, 10.0
	// mostDivisions is how many numbers of segments are tried.
	mostDivisions = 3
)

// tryNewton takes steps of Newton's method where passes are repeated, rows contain finite differences alone, and a step is not much work. Where some samples do not converge
// before anything is learnt, the time is divided into more segments, if all do then.
func (d *draft) tryNewton(ctx context.Context, o *SizeOptions) error {
	residual, err := d.untrained(ctx)
	if errors.Is(err, discrete.ErrNoSteps) || err == nil && math.IsNaN(residual) {
		return nil
	}
	if err != nil {
		return err
	}
	d.newton = true
	defer d.affordPredictions(o.Minutes)
	if residual <= mostUnsolved || d.segments < 2 {
		return nil
	}
	o.say("init: some samples do not converge: trying more segments of the time")
	first := d.segments
	for _, n := range d.moreSegments() {
		d.segments = n
		if residual, err = d.untrained(ctx); err != nil {
			return err
		}
		if residual > mostUnsolved {
			continue
		}
		d.added = append(d.added, fmt.Sprintf("%d segments of the time in the place of %d: with fewer, some samples do not converge", n, first))
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
	return nil
}

// moreSegments are the next larger numbers of segments that the grid can be divided into, the first of them twice as many as now or more, if there is one.
func (d *draft) moreSegments() (all []int) {
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
// begins with; it ends with the first that does not converge, or after longNewton seconds. NaN where passes are not repeated.
func (d *draft) untrained(ctx context.Context) (float64, error) {
	spec, err := d.fit(d.p)
	if err != nil || spec.Evaluation.Passes != model.AutoPasses {
		return math.NaN(), err
	}
	spec.Constraint.Directions = *spec.Evaluation.Directions
	g, err := d.p.Grid(spec.Grid)
	if err != nil {
		return 0, err
	}
	part, err := partOf(spec, d.p, g)
	if err != nil {
		return 0, err
	}
	e, err := newtonEngine(part, spec, d, g)
	if err != nil {
		return 0, err
	}
	defer e.Close()
	samples, err := draws(spec, d.p, "train", newtonDraws)
	if err != nil {
		return 0, err
	}
	batch := engine.Batch{Inputs: samples, Done: ctx.Done()}
	for i := range samples {
		batch.Seeds = append(batch.Seeds, constraint.Seed{Run: 1, Sample: uint64(i)})
	}
	worst, count := 0.0, 0
	begin, used := time.Now(), machine.CPUSeconds()
	err = e.Predict(engine.InitialParams[float32](e.Info()), batch, func(_ int, p *engine.Prediction) error {
		if worst = max(worst, p.Residual); math.IsNaN(p.Residual) {
			worst = math.Inf(1)
		}
		count++
		if d.prediction = seconds(begin, used, d.workers) / float64(count); worst > mostUnsolved || d.prediction*float64(count) > longNewton {
			return errSeen
		}
		return nil
	})
	if errors.Is(err, errSeen) {
		err = nil
	}
	return worst, err
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
	e, err := engine.New[float32](part.spec, part.problem, engine.Options{Grid: part.grid, Workers: d.workers})
	if err != nil {
		return nil, err
	}
	out, err := engine.Repeat(e, engine.RepeatOptions{Limit: newtonPasses, Together: 1, Newton: true})
	if err != nil {
		e.Close()
		return nil, err
	}
	if spec.Rollout > 1 {
		return engine.Rollout(out, spec, d.p, g, 1)
	}
	return out, nil
}
