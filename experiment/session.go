package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"pihc/engine"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
	"pihc/train"
)

// A Session is a run made ready to predict many times in one way: engine, parameters and what predictions are judged by are
// made once. Later changes of the run folder do not reach it. It is used by one caller at a time, and ended by Close.
type Session struct {
	run       *Run
	options   PredictOptions
	grid      *grid.Grid
	predictor Predictor
	system    *pde.System
	like      *dataset.Range     // what training draws; nil: not known
	estimator *dataset.Estimator // nil: none
	closed    bool
}

// Session prepares predictions as the block evaluation of the spec and the options say.
func (r *Run) Session(o PredictOptions) (*Session, error) {
	g, err := r.Grid(o.Evaluation)
	if err != nil {
		return nil, err
	}
	s := &Session{run: r, options: o, grid: g}
	s.options.Name = cmp.Or(o.Name, "inputs")
	if o.Out != "" {
		if err := s.empty().check(o.Out, 1); err != nil { // Write knows how many
			return nil, err
		}
	}
	if s.predictor, err = r.open(o.Evaluation, "predict"); err != nil {
		return nil, err
	}
	if s.system, err = r.systems.on(r.Problem, g); err == nil {
		s.like, err = dataset.NewRange(r.Problem, g)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	if !o.NoEstimates {
		s.estimator = dataset.NewEstimator(r.Problem, g)
	}
	return s, nil
}

// Close ends the engine, and with it the session.
func (s *Session) Close() {
	s.predictor.Close()
	s.closed = true
}

// Grid is where inputs are given and fields are predicted.
func (s *Session) Grid() *grid.Grid { return s.grid }

// empty are predictions of nothing yet.
func (s *Session) empty() *Predictions {
	p := s.run.Problem
	return &Predictions{Grid: s.grid, Unknowns: p.UnknownNames(), Fields: make([][]float64, len(p.Unknowns)), problem: p, overwrite: s.options.Overwrite, reads: []string{s.options.Name}}
}

// Predict computes the fields for the inputs of samples, each those of the problem one after another on the points of the
// grid. A field that is not finite is an error.
func (s *Session) Predict(ctx context.Context, inputs [][]float64) (*Predictions, error) {
	if s.closed {
		return nil, errors.New("the session is closed")
	}
	r, o, g, e, p := s.run, &s.options, s.grid, s.predictor, s.run.Problem
	out := s.empty()
	out.Edited = e.Meta().Edited
	o.warnEdits(&out.Warnings, r.Dir, out.Edited)
	if err := r.checkInputs(inputs, g, o); err != nil {
		return nil, err
	}
	if text := endsTwice(p, g, inputs); text != "" {
		o.warn(&out.Warnings, "%s: %s", o.Name, text)
	}
	s.warnFar(inputs, out)
	if err := o.Agree(r.Spec, p, [2]string{"initial conditions", hashOf(inputs)}); err != nil {
		return nil, err
	}
	bar := o.Stage("predict", len(inputs))
	defer bar.End()
	early := 0
	judge, err := newJudge(s.system, len(inputs))
	if err != nil {
		return nil, err
	}
	beyond, err := r.newBeyond(g)
	if err != nil {
		return nil, err
	}
	estimates := s.estimator.Begin(o.Workers)
	err = e.Predict(engine.Batch{Inputs: inputs, Seeds: train.EvaluationSeeds(len(inputs))}, func(i int, x *engine.Prediction) error {
		for q, u := range x.Field {
			if math.IsNaN(u) || math.IsInf(u, 0) {
				return words.WithHint(fmt.Errorf("the prediction for sample %d of %s is not finite (%g at point %d)", i, o.Name, u, q),
					"its values range from %g to %g; training saw what the PDE file's distributions draw", slices.Min(inputs[i]), slices.Max(inputs[i]))
			}
		}
		for c := range out.Fields {
			out.Fields[c] = append(out.Fields[c], x.Field[c*g.Size():(c+1)*g.Size()]...)
		}
		if o.passes(r.Spec) == model.AutoPasses {
			out.Passes, out.RelativeLoss = append(out.Passes, float64(x.Passes)), append(out.RelativeLoss, x.Residual)
		}
		judge.add(x.Field, inputs[i])
		beyond.add(i, x.Field, inputs[i])
		estimates.Add(x.Field, inputs[i])
		for _, expert := range x.Experts {
			if expert.Status.Early() {
				early++
			}
		}
		bar.Set(i+1, "")
		return ctx.Err()
	})
	estimated, why := estimates.Wait()
	if err != nil {
		return nil, err
	}
	for _, x := range estimated {
		out.ErrorEstimate, out.GridError, out.RowsError = append(out.ErrorEstimate, x.Error), append(out.GridError, x.Grid), append(out.RowsError, x.Rows)
	}
	bar.End()
	if early > 0 {
		o.warn(&out.Warnings, "%d of %d solves ended before they converged; their fields may be poor", early, len(inputs)*e.Info().Experts)
	}
	out.ResidualOverRate = judge.residuals
	out.judge(slices.Concat(judge.warnings(), beyond.warnings(len(inputs))), why, o.Options)
	return out, nil
}

// warnFar says how many inputs are unlike those of training.
func (s *Session) warnFar(inputs [][]float64, out *Predictions) {
	if s.like == nil {
		return
	}
	what := "initial conditions"
	if !s.run.Problem.OnlyInitial() {
		what = "samples"
	}
	if count, first := tally(inputs, func(u0 []float64) bool { return s.like.Outside(u0) != "" }); count > 0 {
		s.options.warn(&out.Warnings, "%d of %d %s in %s are unlike those of training, and their predictions may be far off; sample %d has %s",
			count, len(inputs), what, s.options.Name, first, s.like.Outside(inputs[first]))
	}
}

// Predict computes fields by a Session of one call.
func (r *Run) Predict(ctx context.Context, inputs [][]float64, o PredictOptions) (*Predictions, error) {
	s, err := r.Session(o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if o.Out != "" {
		if err := s.empty().check(o.Out, len(inputs)); err != nil {
			return nil, err
		}
	}
	return s.Predict(ctx, inputs)
}
