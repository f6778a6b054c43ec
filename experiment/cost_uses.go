package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"pihc/internal/discrete"
	"pihc/internal/inverse"
	"pihc/internal/words"
	"pihc/pde"
	"pihc/report"
)

// What is fitted to tell how many solutions an inverse problem takes: up to so many numbers of the file and coefficients of the field
// that it draws, to values at random points with noise.
const (
	usesNumbers      = 3
	usesField        = 16
	usesObservations = 100
	usesNoise        = 0.01 // of the root mean square of the solution
	usesOff          = 1.3  // that numbers start off the truth by
)

// uses measures how many solutions of the problem's own rows a fit of numbers and one of a field take, on the page's grid: what is a
// problem without such rows, or takes too long, becomes a note.
func (t *timing) uses(ctx context.Context) error {
	p := t.problem
	names, q := freeNumbers(p)
	m, seconds, err := t.observed(q)
	if err == nil && seconds*float64(1+max(usesNumbers, usesField)) > costLimit.Seconds()/4 {
		err = fmt.Errorf("a solution of the problem's own rows takes %s", words.Duration(seconds))
	}
	if err != nil {
		t.out.Uses.Note = "Fits were not measured: " + err.Error() + "."
		return ctx.Err()
	}
	begin := time.Now()
	add := func(what string, m *inverse.Model) error {
		solution := math.Inf(1)
		for range 3 {
			s, err := t.solution(q, m.Samples[0])
			if err != nil {
				return err
			}
			solution = min(solution, s)
		}
		ctx, cancel := context.WithTimeout(ctx, 2*costLimit)
		defer cancel()
		begin := time.Now()
		_, evaluations, err := m.Once(ctx)
		if err != nil {
			return err
		}
		n := len(m.Parameters)
		t.out.Uses.List = append(t.out.Uses.List, report.Use{What: what, Numbers: n, Solutions: time.Since(begin).Seconds() / solution, Evaluations: evaluations})
		return nil
	}
	var failed error
	if len(names) > 0 {
		m.Parameters = t.numbers(names, m)
		list, err := m.Distinct(ctx, usesNumbers)
		if err == nil && len(list) > 0 {
			var chosen []inverse.Parameter
			var what []string
			slices.Sort(list)
			for _, j := range list {
				chosen, what = append(chosen, m.Parameters[j]), append(what, m.Parameters[j].Name)
			}
			m.Parameters = chosen
			err = add("fit of "+words.List(what), m)
		}
		failed = err
	}
	if err := t.field(q, m); err == nil && len(m.Parameters) > 0 {
		err = add("field inversion, "+m.Parameters[0].Input, m)
		failed = errors.Join(failed, err)
	}
	if ctx.Err() == nil && failed != nil {
		t.out.Uses.Note = fmt.Sprintf("Not all fits were measured, in %s: %v.", words.Duration(time.Since(begin).Seconds()), failed)
	}
	return ctx.Err()
}

// freeNumbers are the constants that rows read and inputs that are numbers, and the problem that has them all as inputs.
func freeNumbers(p *pde.Problem) (names []string, q *pde.Problem) {
	q = p
	for _, c := range p.Constants {
		if next, err := p.Free(append(slices.Clone(names), c.Name)...); err == nil && c.Value != 0 && slices.Contains(next.WithoutUnread().InputNames(), c.Name) {
			names, q = append(names, c.Name), next
		}
	}
	for _, in := range p.Inputs {
		if in.Sampler.Number() {
			names = append(names, in.Name)
		}
	}
	return names, q
}

// observed is a model with observations of the first chosen sample, and how long its solution took.
func (t *timing) observed(q *pde.Problem) (m *inverse.Model, seconds float64, err error) {
	solver, err := discrete.New(q, t.grid, slices.Repeat([]int{1}, len(t.grid.Axes)))
	if err != nil {
		return nil, 0, err
	}
	sample := slices.Clone(t.samples.Inputs[t.chosen[0]])
	for _, in := range q.PlaceInputs(t.grid)[len(t.problem.Inputs):] {
		sample = append(sample, in.Sampler.Low)
	}
	u := make([]float64, len(q.Unknowns)*t.grid.Size())
	begin := time.Now()
	if _, err := solver.Solve(u, sample); err != nil {
		return nil, 0, err
	}
	m = &inverse.Model{Problem: q, Grid: t.grid, Samples: [][]float64{sample}}
	rng, sigma := rand.New(rand.NewPCG(1, 2)), 0.0
	for _, v := range u {
		sigma += v * v / float64(len(u))
	}
	sigma = max(usesNoise*math.Sqrt(sigma), 1e-12)
	for range usesObservations {
		k := rng.IntN(len(u))
		o := inverse.Observation{Unknown: k / t.grid.Size(), Value: u[k] + sigma*rng.NormFloat64(), Sigma: sigma}
		for p, a := k%t.grid.Size(), len(t.grid.Axes)-1; a >= 0; a-- {
			n := t.grid.Axes[a].Points
			o.At, p = append([]float64{t.grid.Axes[a].Coordinate(p % n)}, o.At...), p/n
		}
		m.Observations = append(m.Observations, o)
	}
	return m, time.Since(begin).Seconds(), nil
}

// solution is the time of one solution of the problem's own rows.
func (t *timing) solution(q *pde.Problem, sample []float64) (float64, error) {
	solver, err := discrete.New(q, t.grid, slices.Repeat([]int{1}, len(t.grid.Axes)))
	if err != nil {
		return 0, err
	}
	u := make([]float64, len(q.Unknowns)*t.grid.Size())
	begin := time.Now()
	_, err = solver.Solve(u, sample)
	return time.Since(begin).Seconds(), err
}

// numbers are parameters off what the sample has.
func (t *timing) numbers(names []string, m *inverse.Model) (all []inverse.Parameter) {
	placed := m.Problem.PlaceInputs(t.grid)
	for _, name := range names {
		in := placed[slices.Index(m.Problem.InputNames(), name)]
		v := m.Samples[0][in.Offset]
		if v != 0 {
			all = append(all, inverse.Parameter{Name: name, Input: name, Log: v > 0, Start: v * usesOff})
		}
	}
	return all
}

// field frees the first coefficients of the first input that is a field, in the background that the file says, from its mean.
func (t *timing) field(q *pde.Problem, m *inverse.Model) error {
	m.Parameters = nil
	for _, in := range q.PlaceInputs(t.grid) {
		if len(in.Space) == 0 {
			continue
		}
		b, err := inverse.NewBackground(in)
		if err != nil {
			return err
		}
		m.Backgrounds = map[string]*inverse.Background{in.Name: b}
		for k := range min(usesField, len(b.Functions)) {
			m.Parameters = append(m.Parameters, inverse.Parameter{Name: fmt.Sprintf("%s:%d", in.Name, k+1), Input: in.Name, Mode: k + 1, Prior: &inverse.Prior{Deviation: 1}})
		}
		return nil
	}
	return nil
}
