package engine

import (
	"slices"

	"pihc/grid"
	"pihc/pde"
)

// A Trivial is what a prediction that needs no training scores: "zero", "persistence" (what
// it begins with at all times) or "mean" (of the solutions of the other samples: of one's own
// it would know a part, all of it where there is but one).
type Trivial struct {
	Name   string
	Losses []float64 // per sample: the whole loss, conditions included, border terms not
	Errors []float64 // per sample: relative L2 (grid.RelativeL2); nil without solutions
	// OutsideAnsatz says that the field does not begin with the initial condition, which the
	// ansatz keeps: no row of the loss holds it to that, and a low loss means nothing.
	OutsideAnsatz bool
}

// Trivials scores the trivial predictions, for samples of inputs (InputSize);
// truth returns the solution (C, P) of one, valid until its next call, and is nil where
// there are none. Without solutions, or with one, there is no mean, without time no persistence.
func (i *Info) Trivials(inputs [][]float64, truth func(i int) ([]float64, error)) ([]Trivial, error) {
	sys, l, err := i.wholeLoss()
	if err != nil {
		return nil, err
	}
	p := sys.Problem
	field, kept, sum := make([]float64, sys.FieldSize()), make([]float64, sys.FieldSize()), make([]float64, sys.FieldSize())
	// each calls f for every sample with its solution and with the field that keeps its initial values.
	each := func(f func(i int, solution []float64)) error {
		for i, of := range inputs {
			var solution []float64
			if truth != nil {
				var err error
				if solution, err = truth(i); err != nil {
					return err
				}
			}
			p.Persist(kept, of, sys.Grid)
			f(i, solution)
		}
		return nil
	}
	scored := func(t *Trivial, i int, field, truth []float64) {
		loss, _ := l.Evaluate(field, inputs[i])
		t.Losses = append(t.Losses, loss)
		t.OutsideAnsatz = t.OutsideAnsatz || outsideAnsatz(p, field, kept, sys.SliceSize())
		if truth != nil {
			t.Errors = append(t.Errors, grid.RelativeL2(field, truth, len(p.Unknowns)))
		}
	}
	zero, still, mean := Trivial{Name: "zero"}, Trivial{Name: "persistence"}, Trivial{Name: "mean"}
	err = each(func(i int, solution []float64) {
		scored(&zero, i, field, solution)
		if !p.Steady {
			scored(&still, i, kept, solution)
		}
		for q, x := range solution {
			sum[q] += x
		}
	})
	out := []Trivial{zero}
	if !p.Steady {
		out = append(out, still)
	}
	if err != nil || truth == nil || len(inputs) < 2 {
		return out, err
	}
	err = each(func(i int, solution []float64) {
		for q, x := range solution {
			field[q] = (sum[q] - x) / float64(len(inputs)-1)
		}
		scored(&mean, i, field, solution)
	})
	return append(out, mean), err
}

// outsideAnsatz reports whether an unknown's field, in slices of so many points along the
// first axis, does not begin as kept does, with the initial condition that its ansatz, and no
// condition, holds it to.
func outsideAnsatz(p *pde.Problem, field, kept []float64, slice int) bool {
	size := len(field) / len(p.Unknowns)
	for c, u := range p.Unknowns {
		in := func(r pde.Rows) bool { return r.Expr.DependsOn(u.InitialName()) }
		if u.Initial < 0 || !u.Ansatz.Offset.DependsOn(u.InitialName()) || slices.ContainsFunc(p.Conditions, in) {
			continue
		}
		if !slices.Equal(field[c*size:c*size+slice], kept[c*size:c*size+slice]) {
			return true
		}
	}
	return false
}
