package experiment

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"pihc/grid"
	"pihc/internal/inverse"
	"pihc/internal/words"
	"pihc/pde"
)

// A FieldInversion is what observations tell of an unknown initial field.
type FieldInversion struct {
	Problem    *pde.Problem
	Grid       *grid.Grid // of the field
	Input      string     // its name
	Certain    string     // what of it is taken as known
	ModelError float64
	Seconds    float64
	Warnings   []string

	Interrupted bool // after the first grid: the field alone

	observations []inverse.Observation
	fit          *inverse.FieldFit
}

// Rejected reports whether the data reject the fit, on finer grids as well.
func (v *FieldInversion) Rejected() bool {
	return inverse.Rejects(v.fit.ChiSquared, v.fit.ChiMoved, len(v.observations))
}

// InvertsField reports whether what is to be found is an initial condition as a whole: InvertField finds it.
func InvertsField(p *pde.Problem, free []string) bool {
	return slices.ContainsFunc(p.Inputs[:p.Initials()], func(in pde.Input) bool {
		return len(in.Axes) > 0 && slices.ContainsFunc(free, func(name string) bool { return strings.TrimSpace(name) == in.Name })
	})
}

// InvertField finds an initial condition from observations, of which o.Free names it alone, with the distribution of the file as the
// background, on grids from g on. When ctx ends after a first grid, the fit of the last one comes
// with ctx's error, Interrupted.
func InvertField(ctx context.Context, p *pde.Problem, g *grid.Grid, o InvertOptions) (*FieldInversion, error) {
	begin := time.Now()
	if len(o.Free) == 0 {
		return nil, usagef("--free NAME missing: the field to find")
	}
	name := strings.TrimSpace(o.Free[0])
	switch {
	case !InvertsField(p, []string{name}):
		return nil, usagef("--free %s: it is no initial field of problem %s", name, p.Name)
	case o.Starts > 0:
		return nil, usagef("--starts %d: a field has one start, the distribution of the file", o.Starts)
	case len(o.Free) > 1:
		return nil, words.WithHint(usagef("--free %s: a field is found alone", strings.Join(o.Free, ",")), "%s:8 frees the first coefficients of a series beside numbers", name)
	case slices.ContainsFunc(o.Priors, func(text string) bool { return text != "file" }):
		return nil, usagef("--prior %s: of a field the prior is the distribution of the file", words.List(o.Priors))
	case !(o.ModelError >= 0) || math.IsInf(o.ModelError, 0):
		return nil, usagef("--model-error %g: want a density above 0", o.ModelError)
	case len(g.Axes) != 2:
		return nil, words.WithHint(usagef("--free %s: a field is found with one axis of space, and %s has two", name, p.Name), "%s:8 frees the first coefficients of a series", name)
	}
	samples, err := experiments(p, g, []inverse.Parameter{{Name: name, Input: name}}, o)
	if err != nil {
		return nil, err
	}
	if len(samples) > 1 {
		return nil, usagef("--initial %s: %d experiments, and a field is that of one", o.Initial, len(samples))
	}
	m := &inverse.FieldModel{Problem: p, Grid: g, Sample: samples[0], Input: name, ModelError: o.ModelError}
	if m.Observations, err = readObservations(o.Observe, p, 1); err != nil {
		return nil, err
	}
	in := p.PlaceInputs(g)[slices.Index(p.InputNames(), name)]
	if m.Background, err = inverse.NewBackground(in); err != nil {
		return nil, words.WithHint(usagef("--free %s: %w", name, err), "initial: {distribution: ...} in the file says what is known before")
	}
	v := &FieldInversion{Problem: p, Grid: g, Input: name, Certain: m.Background.Certain(in), ModelError: o.ModelError, observations: m.Observations}
	for _, text := range o.remarks(p, g, samples, m.Observations) {
		o.warn(&v.Warnings, "%s", text)
	}
	if v.fit, err = m.Run(ctx, func(format string, args ...any) { o.say("invert: "+format, args...) }); err != nil {
		if errors.Is(err, inverse.ErrField) {
			err = words.WithHint(usagef("--free %s: %w", name, err), "%s:8 frees the first coefficients of a series", name)
		}
		if v.fit == nil {
			return nil, err
		}
		v.Interrupted, v.Seconds = true, time.Since(begin).Seconds()
		return v, err
	}
	for _, text := range v.fit.Warnings {
		o.warn(&v.Warnings, "%s", text)
	}
	v.Seconds = time.Since(begin).Seconds()
	return v, nil
}
