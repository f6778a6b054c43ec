package pde

import (
	"math"
	"slices"

	"pihc/internal/band"
)

// An algebraic finds the values that unknowns without a derivative in time begin with: those that solve their rows at the first time beside what the other unknowns
// begin with, by Newton's method from zero (consistent initial values: Brenan, Campbell and Petzold, Numerical Solution of Initial-Value Problems in
// Differential-Algebraic Equations, chapter 2).
type algebraic struct {
	parts   []*linearRows
	columns []int   // per value of a slice: which column it is, -1 for those of other unknowns
	rows    [][]int // per part and node
	count   int     // of rows and columns
	matrix  *band.Matrix
	entries [][]algebraicEntry // per part
}

// algebraicEntry is by times the slope of a term at a node.
type algebraicEntry struct {
	term, node, column int
	by                 float64
}

const (
	// mostBeginning bounds the steps of Newton's method, and leftBeginning is what rows may have left, relative to the sum of their entries by the largest value of each
	// unknown.
	mostBeginning, leftBeginning = 30, 1e-11
)

// newAlgebraic returns nil where there are no such unknowns, where what multiplies unknowns and terms does not depend on them, or where their rows at the first time are not
// as many as their values.
func (l *LinearRows) newAlgebraic() *algebraic {
	p, n := l.system.Problem, l.size()
	begun := func(c int) bool { return p.timeOrder(c) > 0 }
	var unknowns []int
	for c := range p.Unknowns {
		if !begun(c) {
			unknowns = append(unknowns, c)
		}
	}
	owners := p.owners()
	if owners == nil || !p.slopesDependOn(unknowns) {
		return nil
	}
	a := &algebraic{columns: slices.Repeat([]int{-1}, len(l.columns))}
	var places []int // of rows, and then of columns, in the whole matrix
	for k, r := range l.parts {
		rows := p.rowsOf(r.Set.Name)
		of := p.Holds(*rows)
		if r.Set.Kind == ResidualRows {
			of = owners[k]
		} else if of < 0 && !slices.ContainsFunc(p.unknownsOf(rows.Expr), begun) {
			of = unknowns[0]
		}
		if of < 0 || begun(of) || slices.ContainsFunc(r.rates, func(rate int) bool { return rate > 0 }) {
			continue
		}
		a.parts, places = append(a.parts, r), append(places, r.rows...)
	}
	slices.Sort(places)
	for _, r := range a.parts {
		rows := make([]int, len(r.nodes))
		for i, row := range r.rows {
			rows[i], _ = slices.BinarySearch(places, row)
		}
		a.rows = append(a.rows, rows)
	}
	a.count, places = len(places), places[:0]
	for _, c := range unknowns {
		places = append(places, l.columns[c*n:(c+1)*n]...)
	}
	if len(places) != a.count {
		return nil
	}
	slices.Sort(places)
	for _, c := range unknowns {
		for q := range n {
			a.columns[c*n+q], _ = slices.BinarySearch(places, l.columns[c*n+q])
		}
	}
	lower, upper := 0, 0
	for k, r := range a.parts {
		var entries []algebraicEntry
		l.each(r, func(term, node, value int, by float64) {
			if column := a.columns[value]; column >= 0 {
				entries = append(entries, algebraicEntry{term, node, column, by})
				lower, upper = max(lower, a.rows[k][node]-column), max(upper, column-a.rows[k][node])
			}
		})
		a.entries = append(a.entries, entries)
	}
	if band.FactorWork(a.count, lower, upper)*mostBeginning > mostFactored {
		return nil
	}
	a.matrix = band.New(a.count, lower, upper)
	return a
}

// slopesDependOn reports whether what multiplies unknowns and terms in rows depends on some unknowns or terms of them.
func (p *Problem) slopesDependOn(unknowns []int) bool {
	var names []string
	for _, c := range unknowns {
		names = append(names, p.Unknowns[c].Name)
	}
	for _, t := range p.Terms {
		if slices.Contains(unknowns, t.Of) {
			names = append(names, t.Name)
		}
	}
	return slices.ContainsFunc(p.AllRows(), func(r Rows) bool {
		return slices.ContainsFunc(p.valueNames(), func(name string) bool {
			return slices.ContainsFunc(names, r.Expr.Diff(name).DependsOn)
		})
	})
}

// solve adds to the base (C, P), which is zero there, the values that such unknowns begin with, at all times; nothing where no such values are found.
func (a *algebraic) solve(l *LinearRows, sample []float64) {
	n, p := l.size(), l.system.Problem
	values, largest := make([]float64, a.count), make([]float64, a.count) // the latter of a value's unknown
	change, parts := make([]float64, a.count), make([]float64, a.count)
	set := func() {
		for c := range p.Unknowns {
			if p.timeOrder(c) > 0 {
				continue
			}
			columns, most := a.columns[c*n:(c+1)*n], 0.0
			for _, column := range columns {
				most = max(most, math.Abs(values[column]))
			}
			for q, column := range columns {
				largest[column] = most
				for t := range l.times {
					l.base[(c*l.times+t)*n+q] = values[column]
				}
			}
		}
	}
	for range mostBeginning {
		a.matrix.Clear()
		clear(parts)
		for k, r := range a.parts {
			out := r.Eval(1, l.base, sample)
			for i, v := range r.continued(out[0], l.times)[0] {
				change[a.rows[k][i]] = -v
			}
			slopes := make([][]float64, len(r.ops))
			for j := range slopes {
				slopes[j] = r.continued(out[1+j], l.times)[0]
			}
			for _, e := range a.entries[k] {
				v := slopes[e.term][e.node] * e.by
				a.matrix.Add(a.rows[k][e.node], e.column, v)
				parts[a.rows[k][e.node]] += math.Abs(v) * largest[e.column]
			}
		}
		ends := true
		for i, v := range change {
			ends = ends && math.Abs(v) <= leftBeginning*parts[i]
		}
		if ends {
			return
		}
		if !a.matrix.Factor() {
			break
		}
		if a.matrix.Solve(change); !finite(change) {
			break
		}
		for i, v := range change {
			values[i] += v
		}
		set()
	}
	clear(values)
	set()
}
