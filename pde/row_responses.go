package pde

import (
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/kernel"
)

// scales are the units of the sources of each set, in which 1 makes fields of root mean square 1; with solves the solver that has some sources.
func (l *LinearRows) scales(with func(sources []grid.Source) grid.LinearSolver) []float64 {
	by := make([]float64, l.count)
	for set := range by {
		sum := 0.0
		for _, square := range l.response(set, with) {
			sum += square
		}
		by[set] = 1 / math.Sqrt(sum/float64(len(l.system.Problem.Unknowns)))
	}
	return by
}

// response are the mean squares of the unknowns where the sources of a set are 1.
func (l *LinearRows) response(set int, with func(sources []grid.Source) grid.LinearSolver) []float64 {
	var own []grid.Source
	for i, s := range l.sources {
		if l.sets[i] == set {
			s.By = 1
			own = append(own, s)
		}
	}
	solver := with(own)
	squares := make([]float64, len(l.system.Problem.Unknowns))
	solver.Apply(solver.NewStepping(), false, func(_, _ int, values []float64) {
		for i := range values {
			values[i] = 1
		}
	}, func(unknown, _ int, values []float64) {
		squares[unknown] += kernel.SumSquares64(values) / float64(grid.Stepped*l.system.Grid.Size())
	})
	return squares
}

// Responses are, by the name of a residual or condition that has a source, the root mean squares of the unknowns where fields of the linear part have 1 as that
// source everywhere, for a sample: how much of a field a row that misses makes.
func (l *LinearRows) Responses(sample []float64) (map[string][]float64, error) {
	if _, err := l.For(sample); err != nil {
		return nil, err
	}
	with := func(sources []grid.Source) grid.LinearSolver {
		if l.radau != nil {
			r := *l.radau
			r.Sources = sources
			return &r
		}
		d := *l.direct
		d.Sources = sources
		return &d
	}
	out := map[string][]float64{}
	for _, r := range l.parts {
		if r.set < 0 {
			continue
		}
		slopes := func(values *RowValues) (square float64) {
			for _, slope := range values.Eval(1, l.base, sample)[1:] {
				square += kernel.SumSquares64(slope)
			}
			return square
		}
		set := l.weighted.Set(r.Set.Name)
		weight := math.Sqrt(slopes(l.weighted.NewRowValues(set, set.Points)) / slopes(r.RowValues))
		rms := l.response(r.set, with)
		for c := range rms {
			rms[c] = math.Sqrt(rms[c]) / weight
		}
		out[r.Set.Name] = rms
	}
	return out, nil
}

// scaled are the sources in units of their sets.
func (l *LinearRows) scaled(by []float64) []grid.Source {
	sources := slices.Clone(l.sources)
	for i := range sources {
		sources[i].By = by[l.sets[i]]
	}
	return sources
}
