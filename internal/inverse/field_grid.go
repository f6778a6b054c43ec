package inverse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/kernel"
	"pihc/pde"
)

// fieldState is a fit on one grid. Its unknowns are the coordinates of the background and, with a model error, the fields after each error.
type fieldState struct {
	*FieldModel
	ctx        context.Context
	grid       *grid.Grid
	in         pde.PlacedInput
	background *Background
	solver     *discrete.Solver
	stepper    *discrete.Stepper
	sample     []float64
	times      []float64
	size       int // values of an instant
	directions int
	points     []fieldPoint

	x                  []float64   // the unknowns
	fields, slopes     [][]float64 // per instant, and the derivatives by the unknowns that it follows from, (these, size)
	after, afterSlopes [][]float64 // the same where the model errs after an instant
	residual           []float64   // of the observations
	cost               float64     // half the sum

	matrix *discrete.Banded
	scale  []float64 // of the unknowns: to a unit diagonal
}

// fieldPoint is what predicts an observation.
type fieldPoint struct {
	instant, first int
	w              []float64
}

// solve fits on a level, from another fit or from the mean of the background.
func (m *FieldModel) solve(ctx context.Context, l level, from *fieldState, out *FieldFit) (*fieldState, error) {
	s, err := m.prepare(ctx, l)
	if err != nil {
		return nil, err
	}
	s.x = make([]float64, s.count())
	if from == nil {
		if from, err = m.half(ctx, l, out); err != nil {
			return nil, err
		}
	}
	if from != nil {
		s.take(from)
	} else {
		s.march()
	}
	if err := s.evaluate(s.x, true); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	steps, ended, err := s.minimise()
	out.Iterations += steps
	if !ended {
		out.warn("the fit may not be at its end: the sum of squares still falls, or rises all around")
	}
	return s, err
}

// half fits to the observations of the first half of the time that has some, nil where that leaves none: what is far from the truth at later times
// is then not where the fit to them begins (quasi-static, C. Pires, R. Vautard and O. Talagrand, Tellus 48A, 1996).
func (m *FieldModel) half(ctx context.Context, l level, out *FieldFit) (*fieldState, error) {
	first, last := m.Grid.Axes[0].Lo, m.Grid.Axes[0].Lo
	for _, o := range m.Observations {
		last = max(last, o.At[0])
	}
	early := *m
	early.Observations = slices.DeleteFunc(slices.Clone(m.Observations), func(o Observation) bool { return o.At[0] > (first+last)/2 })
	if len(early.Observations) == 0 || len(early.Observations) == len(m.Observations) {
		return nil, nil
	}
	return early.solve(ctx, l, nil, &FieldFit{})
}

func (m *FieldModel) prepare(ctx context.Context, l level) (*fieldState, error) {
	if len(m.Grid.Axes) != 2 {
		return nil, ErrField
	}
	s := &fieldState{FieldModel: m, ctx: ctx, times: m.instants(l)}
	s.grid = (&Model{Grid: m.Grid, Problem: m.Problem}).on(l)
	placed, at := m.Problem.PlaceInputs(s.grid), slices.Index(m.Problem.InputNames(), m.Input)
	s.in = placed[at]
	var err error
	if s.background, err = m.Background.on(m.Problem.PlaceInputs(m.Grid)[at], s.in); err != nil {
		return nil, err
	}
	if s.solver, err = discrete.New(m.Problem, s.grid, []int{1, 1}); err != nil {
		return nil, err
	}
	s.size = s.grid.Axes[1].Points * len(m.Problem.Unknowns)
	s.sample = slices.Clone(dataset.InputsOn(m.Problem, m.Sample, m.Grid, s.grid))
	s.directions = max(s.size, len(s.background.Functions))
	if s.stepper, err = s.solver.NewStepper(s.sample, at, s.directions); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrField, err)
	}
	for _, o := range m.Observations {
		k := 0
		for i, t := range s.times {
			if math.Abs(t-o.At[0]) < math.Abs(s.times[k]-o.At[0]) {
				k = i
			}
		}
		w := interpolate(s.grid.Axes[1], o.At[1])
		s.points = append(s.points, fieldPoint{k, o.Unknown*s.grid.Axes[1].Points + w.first, w.w})
	}
	return s, nil
}

// count is the number of unknowns.
func (s *fieldState) count() int {
	n := len(s.background.Functions)
	if s.ModelError > 0 {
		n += s.size * (len(s.times) - 1)
	}
	return n
}

// later is the part of unknowns x that are the fields after the error before instant k, from 1.
func (s *fieldState) later(x []float64, k int) []float64 {
	return x[len(s.background.Functions)+(k-1)*s.size:][:s.size]
}

// march sets the later fields to those that follow from the first, or stay with it where that has no solution.
func (s *fieldState) march() {
	if s.ModelError == 0 {
		return
	}
	u, _, err := s.begin(s.x, false)
	if err != nil {
		return // what begins cannot be evaluated either
	}
	t := s.times[0]
	for k := 1; k < len(s.times); k++ {
		if err == nil {
			err = s.stepper.Step(u, nil, t, s.errs(k)-t)
		}
		copy(s.later(s.x, k), u)
		t = s.errs(k)
	}
}

// take interpolates the unknowns of a fit on another grid.
func (s *fieldState) take(from *fieldState) {
	copy(s.x[:len(s.background.Functions)], from.x)
	if s.ModelError == 0 {
		return
	}
	at := 0
	for k := 1; k < len(s.times); k++ {
		t, last := s.errs(k), len(from.times)-1
		if t >= from.times[last] {
			copy(s.later(s.x, k), grid.Resample(from.fields[last], from.grid.Axes[1:], s.grid.Axes[1:]))
			continue
		}
		for at < len(from.times)-2 && from.times[at+1] < t {
			at++
		}
		part := (t - from.times[at]) / (from.times[at+1] - from.times[at])
		u := scaled(from.fields[at], 1-part)
		kernel.Axpy64(u, part, from.fields[at+1])
		copy(s.later(s.x, k), grid.Resample(u, from.grid.Axes[1:], s.grid.Axes[1:]))
	}
}

// begin returns the first fields of unknowns x and their derivatives by z.
func (s *fieldState) begin(x []float64, slopes bool) (u []float64, along [][]float64, err error) {
	field, by := s.background.at(s.in.Sampler, x[:len(s.background.Functions)], slopes)
	copy(s.in.Of(s.sample), field)
	for _, f := range by {
		direction := make([]float64, len(s.sample))
		copy(s.in.Of(direction), f)
		along = append(along, direction)
	}
	return s.solver.Begin(s.sample, along)
}
