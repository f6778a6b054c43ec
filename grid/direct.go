package grid

import (
	"math/rand/v2"

	"pihc/internal/kernel"
)

// A Direct is a LinearSolver for steady problems: by a factored matrix.
type Direct struct {
	Times, Points, Unknowns int       // slices along the first axis, points of one
	Matrix                  Factored  // of the rows
	Columns                 []int     // (Unknowns, Times, Points): where the matrix has a value
	Sources                 []Source  // of rows of the matrix that have one
	Data                    []float64 // (Unknowns, Times, Points): the solution for the constants of the rows
}

// A Factored matrix solves for right-hand sides (rows, Stepped) in place.
type Factored interface {
	SolveMany(x []float64)
	SolveTransposedMany(x []float64)
	Work() float64 // about the number of products that one of them takes
}

// NewStepping implements LinearSolver.
func (d *Direct) NewStepping() *Stepping {
	n := len(d.Columns) * Stepped
	return &Stepping{b: make([]float64, n), bbar: make([]float64, n)}
}

// Apply implements LinearSolver.
func (d *Direct) Apply(w *Stepping, transposed bool, load, store Slices) {
	d.slices(w.b, load)
	x := w.bbar
	if transposed {
		for value, column := range d.Columns {
			copy(x[column*Stepped:][:Stepped], w.b[value*Stepped:])
		}
		d.Matrix.SolveTransposedMany(x)
		clear(w.b)
		for _, s := range d.Sources {
			kernel.Axpy64(w.b[s.Value*Stepped:][:Stepped], s.By, x[s.Row*Stepped:][:Stepped])
		}
	} else {
		clear(x)
		for _, s := range d.Sources {
			kernel.Axpy64(x[s.Row*Stepped:][:Stepped], s.By, w.b[s.Value*Stepped:][:Stepped])
		}
		d.Matrix.SolveMany(x)
		for value, column := range d.Columns {
			copy(w.b[value*Stepped:][:Stepped], x[column*Stepped:])
		}
	}
	d.slices(w.b, store)
}

// slices visits those of all unknowns.
func (d *Direct) slices(values []float64, visit Slices) {
	width := d.Points * Stepped
	for c := range d.Unknowns {
		for time := range d.Times {
			visit(c, time, values[(c*d.Times+time)*width:][:width])
		}
	}
}

// Begin implements LinearSolver.
func (d *Direct) Begin(w *Stepping, _ []float64, store Slices) {
	for value, v := range d.Data {
		for i := range Stepped {
			w.b[value*Stepped+i] = v
		}
	}
	d.slices(w.b, store)
}

// Of implements LinearSolver: there is no first time.
func (d *Direct) Of([]float64, int) []float64 { return nil }

// Work implements LinearSolver.
func (d *Direct) Work() float64 { return d.Matrix.Work() }

// Growth implements LinearSolver: nothing is there at first.
func (d *Direct) Growth(*rand.Rand) float64 { return 1 }
