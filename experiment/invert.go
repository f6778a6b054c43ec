package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/inverse"
	"pihc/internal/words"
	"pihc/pde"
	"pihc/sim"
)

// InvertOptions say what is to be found, and from where. A free name is a constant of the PDE file, an input that is a number, or, as in
// "u0:8", the first coefficients of the series that an input is drawn from; "D:linear" keeps a positive number off its logarithm.
type InvertOptions struct {
	Options
	Free    []string
	Values  map[string]float64 // where free numbers start, and what other numbers among the inputs are
	Priors  []string           // "file", of all that the file draws, or "k=lognormal(median, sigma of the logarithm)", "k=normal(mean, sigma)"
	Initial string             // file of initial conditions and inputs, a sample an experiment; "": the file says all that is not free
	Observe string             // file of observations (readObservations)
	Profile bool               // find points of the profiles of all parameters
	Starts  int                // others that every fit of numbers begins from; 0: some, and only where the data reject it or it stalls

	ModelError float64 // of InvertField: density of a noise of u_t, white in time and space; 0: the equation is exact
}

// An Inversion is what observations tell of the free numbers of a problem.
type Inversion struct {
	Problem  *pde.Problem
	Grid     *grid.Grid  // of Fields
	Names    []string    // of the free numbers
	Fields   [][]float64 // per experiment: the fitted solution (C, P)
	Seconds  float64
	Warnings []string

	Interrupted bool // before there was a fit: nothing but the last step's numbers, and its chi-squared

	parameters   []inverse.Parameter
	observations []inverse.Observation
	fit          *inverse.Fit
	profiles     [][]inverse.ProfilePoint // per parameter, with InvertOptions.Profile
}

// Rejected reports whether the data reject the fit, on finer grids as well.
func (v *Inversion) Rejected() bool {
	return inverse.Rejects(v.fit.ChiSquared, v.fit.ChiMoved, v.fit.Degrees)
}

// Invert finds the free numbers of a problem, on grids from g on. When ctx ends the error is its, and the inversion, if any step was taken, is
// one that was Interrupted.
func Invert(ctx context.Context, p *pde.Problem, g *grid.Grid, o InvertOptions) (*Inversion, error) {
	begin := time.Now()
	free, err := parseFree(o.Free)
	if err != nil {
		return nil, err
	}
	if o.ModelError != 0 {
		return nil, words.WithHint(usagef("--model-error: it is for an initial field, and %s are numbers", strings.Join(o.Free, ", ")), "--free u0 frees the initial condition of that name")
	}
	q, err := freed(p, free)
	if err != nil {
		return nil, err
	}
	if o.Starts < 0 || o.Starts > mostStarts {
		return nil, usagef("--starts %d: want 1 to %d", o.Starts, mostStarts)
	}
	m := &inverse.Model{Problem: q, Grid: g, Starts: o.Starts}
	if m.Parameters, err = parameters(p, q, g, free, o); err != nil {
		return nil, err
	}
	if m.Samples, err = experiments(q, g, m.Parameters, o); err != nil {
		return nil, err
	}
	if m.Observations, err = readObservations(o.Observe, p, len(m.Samples)); err != nil {
		return nil, err
	}
	known := len(m.Observations)
	for _, x := range m.Parameters {
		if x.Prior != nil {
			known++
		}
		if x.Mode > 0 && len(m.Samples) > 1 {
			return nil, usagef("--free %s: experiments have initial conditions and inputs of their own, and one series cannot be that of %d", x.Name, len(m.Samples))
		}
	}
	if known < len(m.Parameters) {
		return nil, words.WithHint(usagef("%s: observations: %d, free numbers: %d; want at least as many observations", o.Observe, len(m.Observations), len(m.Parameters)), "free fewer, or say what is known by --prior")
	}
	v := &Inversion{Problem: q, Grid: g, parameters: m.Parameters, observations: m.Observations}
	for _, text := range o.remarks(q, g, m.Samples, m.Observations) {
		o.warn(&v.Warnings, "%s", text)
	}
	for _, x := range m.Parameters {
		v.Names = append(v.Names, x.Name)
	}
	if v.fit, err = m.Run(ctx, func(format string, args ...any) { o.say("invert: "+format, args...) }); err != nil {
		switch {
		case ctx.Err() == nil:
			return nil, unfitted(p, m, err)
		case v.fit == nil:
			return nil, ctx.Err()
		}
		return v.interrupt(begin), ctx.Err()
	}
	for _, text := range v.fit.Warnings {
		o.warn(&v.Warnings, "%s", text)
	}
	if v.Fields, err = m.Fields(v.fit); err != nil {
		return nil, err
	}
	if o.Profile {
		for j := range v.parameters {
			v.profiles = append(v.profiles, m.Profile(v.fit, j, 10))
		}
	}
	if err := ctx.Err(); err != nil {
		return v.interrupt(begin), err
	}
	v.Seconds = time.Since(begin).Seconds()
	return v, nil
}

// mostStarts bounds InvertOptions.Starts.
const mostStarts = 1000

// interrupt leaves of an inversion what Interrupted says.
func (v *Inversion) interrupt(begin time.Time) *Inversion {
	v.Interrupted, v.Seconds = true, time.Since(begin).Seconds()
	return v
}

// unfitted adds advice to why there is no fit.
func unfitted(p *pde.Problem, m *inverse.Model, err error) error {
	var at []string
	for _, x := range m.Parameters {
		at = append(at, fmt.Sprintf("%s = %.4g", x.Name, x.Start))
	}
	return words.WithHint(fmt.Errorf("problem %s, from %s: %w", p.Name, words.List(at), err), "--value %s=... starts elsewhere; pihc solve shows whether there is a solution", m.Parameters[0].Name)
}

// freeName is one of --free.
type freeName struct {
	name   string
	modes  int
	linear bool
}

func parseFree(list []string) (all []freeName, err error) {
	for _, text := range list {
		name, suffix, found := strings.Cut(strings.TrimSpace(text), ":")
		f := freeName{name: name, linear: suffix == "linear"}
		if found && !f.linear {
			if f.modes, err = strconv.Atoi(suffix); err != nil || f.modes < 1 {
				return nil, usagef("--free %s: want a name, name:8 for the first coefficients of a series, or name:linear", text)
			}
		}
		if name == "" || slices.ContainsFunc(all, func(x freeName) bool { return x.name == name }) {
			return nil, usagef("--free %q: a name is missing or there twice", strings.Join(list, ","))
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		return nil, usagef("--free NAME,... missing: the numbers to be found")
	}
	return all, nil
}

// freed is the problem whose free constants are inputs.
func freed(p *pde.Problem, free []freeName) (*pde.Problem, error) {
	var names []string
	for _, f := range free {
		if f.modes == 0 && slices.ContainsFunc(p.Constants, func(c pde.Constant) bool { return c.Name == f.name }) {
			names = append(names, f.name)
		}
	}
	q, err := p.Free(names...)
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		return nil, words.WithHint(usagef("--free: %s", text), "axes, distributions, ghost values and other constants are made of numbers that are known")
	}
	q = q.WithoutUnread()
	for _, f := range free {
		if slices.Contains(q.InputNames(), f.name) {
			continue
		}
		if slices.Contains(names, f.name) || slices.Contains(p.InputNames(), f.name) {
			return nil, words.WithHint(usagef("--free %s: it enters no row of %s", f.name, p.Name), "the file's `reference` and its distributions do not count")
		}
		all := p.InputNames()
		for _, c := range p.Constants {
			all = append(all, c.Name)
		}
		if slices.Contains(p.UnknownNames(), f.name) {
			return nil, words.WithHint(usagef("--free %s: it is what %s solves for, and no number", f.name, p.Name), "there are %s", words.List(all))
		}
		if len(all) == 0 {
			return nil, usagef("--free %s: %s has no constants and no inputs", f.name, p.Name)
		}
		return nil, words.WithHint(usagef("--free %s: %s has no constant or input of that name", f.name, p.Name), "there are %s", words.List(all))
	}
	return q, nil
}

// parameters are the free numbers, where they start, and their priors.
func parameters(p, q *pde.Problem, g *grid.Grid, free []freeName, o InvertOptions) (all []inverse.Parameter, err error) {
	file := slices.Contains(o.Priors, "file")
	placed := q.PlaceInputs(g)
	for _, f := range free {
		in := placed[slices.Index(q.InputNames(), f.name)]
		if f.modes > 0 || len(in.Space) > 0 {
			modes, err := seriesParameters(in, f, file)
			if err != nil {
				return nil, err
			}
			all = append(all, modes...)
			continue
		}
		constant := slices.ContainsFunc(p.Constants, func(c pde.Constant) bool { return c.Name == f.name })
		x := inverse.Parameter{Name: f.name, Input: f.name, Start: (in.Sampler.Low + in.Sampler.High) / 2, Log: in.Sampler.Low > 0}
		if x.Log && !constant && in.Sampler.Distribution == "log-uniform" {
			x.Start = math.Sqrt(in.Sampler.Low * in.Sampler.High)
		}
		start, given := o.Values[f.name]
		if given {
			x.Start = start
		}
		x.Log = x.Log && x.Start > 0 && !f.linear || constant && x.Start > 0 && !f.linear
		if !constant {
			low, high := x.Coordinate(in.Sampler.Low), x.Coordinate(in.Sampler.High)
			if x.Spread = (high - low) / math.Sqrt(12); file {
				x.Prior = &inverse.Prior{Mean: (low + high) / 2, Deviation: x.Spread}
			}
		}
		all = append(all, x)
	}
	if file && !slices.ContainsFunc(all, func(p inverse.Parameter) bool { return p.Prior != nil }) {
		return nil, words.WithHint(usagef("--prior file: the file draws none of %s", strings.Join(o.Free, ", ")), "constants have no distribution: --prior \"%s=lognormal(median, 0.5)\" states one", all[0].Name)
	}
	for _, text := range o.Priors {
		if text != "file" {
			if err := addPrior(all, text, o.Values); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// seriesParameters are the first coefficients of the series that an input is drawn from.
func seriesParameters(in pde.PlacedInput, f freeName, prior bool) (all []inverse.Parameter, err error) {
	switch {
	case in.Sampler.Distribution != "random-series" || len(in.Sampler.Levels) > 0:
		return nil, usagef("--free %s: coefficients are those of a random-series, and the file draws %s otherwise", f.name, f.name)
	case f.modes == 0:
		return nil, usagef("--free %s: it is a field; %s:8 frees the first eight coefficients of its series", f.name, f.name)
	}
	series, err := sim.NewSeries(in.Sampler.Series, in.Space, in.Sampler.Parameters)
	if err != nil {
		return nil, err
	}
	_, deviation := series.Functions(f.modes)
	if len(deviation) < f.modes {
		return nil, usagef("--free %s:%d: its series has %d coefficients", f.name, f.modes, len(deviation))
	}
	for i, d := range deviation {
		x := inverse.Parameter{Name: fmt.Sprintf("%s:%d", f.name, i+1), Input: f.name, Mode: i + 1, Spread: d}
		if in.Sampler.Positive == "square" {
			x.Start = d // it has no slope at zero
		}
		if prior {
			x.Prior = &inverse.Prior{Deviation: d}
		}
		all = append(all, x)
	}
	return all, nil
}

// addPrior reads "k=lognormal(3.5e-4, 0.5)" or "k=normal(0, 1)".
func addPrior(all []inverse.Parameter, text string, values map[string]float64) error {
	bad := usagef("--prior %s: want file, NAME=lognormal(median, sigma of the logarithm) or NAME=normal(mean, sigma)", text)
	name, what, _ := strings.Cut(strings.ReplaceAll(text, " ", ""), "=")
	kind, rest, _ := strings.Cut(what, "(")
	parts := strings.Split(strings.TrimSuffix(rest, ")"), ",")
	at := slices.IndexFunc(all, func(p inverse.Parameter) bool { return p.Name == name })
	if at < 0 {
		return usagef("--prior %s: %q is not free", text, name)
	}
	if len(parts) != 2 || !strings.HasSuffix(rest, ")") || kind != "normal" && kind != "lognormal" {
		return bad
	}
	middle, err1 := strconv.ParseFloat(parts[0], 64)
	deviation, err2 := strconv.ParseFloat(parts[1], 64)
	if err1 != nil || err2 != nil || !(deviation > 0) || math.IsInf(deviation, 0) || math.IsNaN(middle) || math.IsInf(middle, 0) || kind == "lognormal" && middle <= 0 {
		return bad
	}
	p := &all[at]
	p.Log = kind == "lognormal"
	if _, given := values[name]; !given {
		p.Start = middle
	}
	if p.Log && p.Start <= 0 {
		return usagef("--value %s=%g: a lognormal number is positive", name, p.Start)
	}
	p.Prior = &inverse.Prior{Mean: p.Coordinate(middle), Deviation: deviation}
	return nil
}

// experiments are the inputs of every experiment, but for what is free.
func experiments(q *pde.Problem, g *grid.Grid, free []inverse.Parameter, o InvertOptions) ([][]float64, error) {
	inputs := q.PlaceInputs(g)
	known := map[string][]float64{}
	var wanted []pde.PlacedInput
	for _, in := range inputs {
		value, given := o.Values[in.Name]
		switch {
		case slices.ContainsFunc(free, func(p inverse.Parameter) bool { return p.Input == in.Name }):
			known[in.Name] = make([]float64, in.Size)
		case given && len(in.Space) == 0:
			known[in.Name] = []float64{value}
		default:
			wanted = append(wanted, in)
		}
	}
	for name := range o.Values {
		if known[name] == nil {
			hint := "--value is for free numbers and inputs that are numbers"
			if slices.ContainsFunc(q.Constants, func(c pde.Constant) bool { return c.Name == name }) {
				hint = fmt.Sprintf("it is a constant: --set constants.%s=%g", name, o.Values[name])
			}
			return nil, words.WithHint(usagef("--value %s: it is neither free nor a number among the inputs of %s", name, q.Name), "%s", hint)
		}
	}
	count := 1
	if o.Initial != "" {
		var err error
		if count, err = readInputsInto(known, o.Initial, q, g, wanted); err != nil {
			return nil, err
		}
	} else if len(wanted) > 0 {
		hint := "--initial FILE.npz has its values"
		if len(wanted[0].Space) == 0 {
			hint = fmt.Sprintf("--value %s=..., an NPZ file for --initial, or --free it", wanted[0].Name)
		}
		return nil, words.WithHint(usagef("%s has no value, and is not free", wanted[0].Name), "%s", hint)
	}
	samples := make([][]float64, count)
	for i := range samples {
		for _, in := range inputs {
			v := known[in.Name]
			samples[i] = append(samples[i], v[i*in.Size%len(v):][:in.Size]...)
		}
		if u0 := q.InitialOf(samples[i], g); u0 != nil {
			if err := dataset.CheckInitial(q, u0); err != nil {
				return nil, fmt.Errorf("%s, experiment %d: %w", cmp.Or(o.Initial, "inputs"), i, err)
			}
		}
	}
	return samples, nil
}
