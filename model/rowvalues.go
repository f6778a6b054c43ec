package model

import (
	"pihc/grid"
	"pihc/pde"
)

// rowValues evaluates one set of rows at some points.
type rowValues struct {
	sys       *pde.System
	gatherer  *grid.Gatherer
	rows      *pde.PointRows
	z         grid.Rows[float64]
	evaluator *pde.Evaluator
}

func newRowValues(sys *pde.System, set *pde.RowSet, points []int32) *rowValues {
	rows := sys.NewPointRows(set, points)
	rows.Prepare()
	return &rowValues{sys, sys.NewGatherer(nil), rows, rows.NewValues(), sys.NewEvaluator(len(points))}
}

// eval returns the rows at the points and, if asked for, their derivatives by their terms, for a field (C, P)
// and the inputs of a sample. They are valid until the next call.
func (v *rowValues) eval(order pde.Order, field, sample []float64) [][]float64 {
	v.rows.SetInitial(sample)
	grid.Gather(v.gatherer, field, 1, []grid.Rows[float64]{v.z})
	return v.evaluator.Eval(v.rows, order, v.z.Values, 0, len(v.rows.Points))
}
