package discrete

import (
	"slices"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/fft"
	"pihc/pde"
)

// semilinear is a problem on periodic axes of space as y' = L y + N(t, y), y the unknowns and their derivatives in time below the
// highest: L has what multiplies terms by numbers, and is a small matrix for each Fourier mode; N is the rest of the rows, at points.
// An unknown without a derivative in time is what its own row says, in both.
type semilinear struct {
	march   *march
	orders  []int          // of each unknown in time
	first   []int          // of each unknown: where it is in y; of one without a derivative in time, its place among those
	state   int            // values of y at a point
	shape   []int          // of a slice
	modes   int            // of its half spectrum
	terms   []pde.Term     // of a System, those of the unknowns first
	rates   []int          // per term
	symbols [][]complex128 // per term (modes)
	rows    []instantRow   // those of unknowns without a derivative in time first, each after those that it reads
	linear  []complex128   // (modes, state, state): L
	names   []string       // what rests may read: axes, inputs, terms
	moves   bool           // that there is a rest
}

// instantRow is a residual: of is the unknown whose highest derivative in time it has, by the number leading. Coefs multiply terms, and
// rest is what they leave.
type instantRow struct {
	of      int
	leading float64
	coefs   []float64 // per term
	rest    *expr.Expr
	reads   []int // terms that the rest reads
	program *expr.Program
	linear  []complex128 // (modes, state), of a row without a derivative in time: what its unknown is of y
}

// newSemilinear returns nil where the problem is not of that form, or where what is not linear has derivatives of as high an order: such
// terms would bound the step.
func newSemilinear(m *march) *semilinear {
	p := m.problem
	periodic := func(a grid.Axis) bool { return a.Boundary == grid.Periodic }
	if len(m.space) == 0 || slices.ContainsFunc(m.space, func(a grid.Axis) bool { return !periodic(a) }) || len(p.Residuals) != len(p.Unknowns) || m.source != nil {
		return nil
	}
	for _, c := range p.Conditions {
		if c.At[p.Axes[0].Name] != "low" {
			return nil
		}
	}
	s := &semilinear{march: m, orders: TimeOrders(p), shape: m.step.sys.Grid.Shape()[1:]}
	for _, o := range s.orders {
		if o == 0 {
			s.first = append(s.first, -1)
			continue
		}
		s.first, s.state = append(s.first, s.state), s.state+o
	}
	for c, u := range p.Unknowns {
		s.terms = append(s.terms, pde.Term{Name: u.Name, Of: c})
	}
	s.rates = make([]int, len(p.Unknowns))
	for _, t := range p.Terms {
		order, space, _, _ := timeOrder(p, t)
		s.terms, s.rates = append(s.terms, space), append(s.rates, order)
	}
	s.names = append(p.AxisNames(), p.InputNames()...)
	for _, in := range p.Inputs {
		if slices.Contains(in.Axes, p.Axes[0].Name) {
			return nil
		}
	}
	if !s.divide() || !s.sort() {
		return nil
	}
	s.transform()
	return s
}

// divide takes every residual apart; false where one is not of the form.
func (s *semilinear) divide() bool {
	p := s.march.problem
	taken := make([]bool, len(p.Unknowns))
	for _, r := range p.Residuals {
		row := instantRow{of: -1, coefs: make([]float64, len(s.terms))}
		zero := map[string]*expr.Expr{}
		own := -1
		for t, term := range s.terms {
			if !r.Expr.DependsOn(term.Name) {
				continue
			}
			v, constant := r.Expr.Diff(term.Name).Constant()
			if constant {
				row.coefs[t], zero[term.Name] = v, expr.Const(0)
			} else {
				row.reads = append(row.reads, t)
			}
			if s.orders[term.Of] == 0 || s.rates[t] < s.orders[term.Of] {
				continue
			}
			if !constant || v == 0 || row.of >= 0 || len(term.Factors) > 0 || term.Spectral != nil {
				return false
			}
			row.of, own = term.Of, t
		}
		for t := range p.Unknowns { // a row without a derivative in time says what an unknown is
			if row.of < 0 && s.orders[t] == 0 && row.coefs[t] != 0 && !taken[t] {
				row.of, own = t, t
			}
		}
		if row.of < 0 || taken[row.of] {
			return false
		}
		taken[row.of] = true
		row.leading, row.coefs[own] = row.coefs[own], 0
		row.rest = r.Expr.Substitute(zero)
		known := slices.Clone(s.names)
		for _, t := range row.reads {
			known = append(known, s.terms[t].Name)
		}
		if slices.ContainsFunc(row.rest.Variables(), func(v string) bool { return !slices.Contains(known, v) }) {
			return false // a neighbour's input
		}
		if v, constant := row.rest.Constant(); !constant || v != 0 {
			var err error
			if row.program, err = expr.Compile([]*expr.Expr{row.rest}, known); err != nil {
				return false
			}
			s.moves = true
		}
		s.rows = append(s.rows, row)
	}
	return true
}

// sort puts rows without a derivative in time first, each after those that it reads; false where they read each other, or where derivatives
// of what is not linear are of too high an order.
func (s *semilinear) sort() bool {
	var sorted []instantRow
	ready := make([]bool, len(s.orders))
	linear, rest := make([]int, len(s.orders)), make([]int, len(s.orders)) // of unknowns without a derivative in time: -1 for none
	for c, o := range s.orders {
		ready[c], rest[c] = o > 0, -1
	}
	for len(sorted) < len(s.rows) {
		before := len(sorted)
		for _, row := range s.rows {
			of := row.of
			done := slices.ContainsFunc(sorted, func(r instantRow) bool { return r.of == of })
			reads := func(t int) bool { return row.coefs[t] != 0 || slices.Contains(row.reads, t) }
			wait := s.orders[of] > 0 && slices.Contains(ready, false)
			for t, term := range s.terms {
				wait = wait || reads(t) && !ready[term.Of]
			}
			if done || wait {
				continue
			}
			l, n := 0, -1
			if row.program != nil {
				n = 0
			}
			for t, term := range s.terms {
				order := s.order(term)
				if row.coefs[t] != 0 {
					l = max(l, order+linear[term.Of])
					if rest[term.Of] >= 0 {
						n = max(n, order+rest[term.Of])
					}
				}
				if slices.Contains(row.reads, t) {
					n = max(n, order+max(linear[term.Of], rest[term.Of]))
				}
			}
			if s.orders[of] > 0 && n > max(1, l-1) {
				return false
			}
			if s.orders[of] == 0 {
				linear[of], rest[of] = l, n
			}
			ready[of] = true
			sorted = append(sorted, row)
		}
		if len(sorted) == before {
			return false
		}
	}
	s.rows = sorted
	return true
}

// order is the order of a term's derivative in space.
func (s *semilinear) order(t pde.Term) (order int) {
	for _, f := range t.Factors {
		order += f.Scheme.Derivative
	}
	switch {
	case t.PerStep:
		order += 2 // part of a flux
	case t.Spectral != nil && t.Spectral.Kind == "laplacian":
		order += 2
	case t.Spectral != nil:
		order += t.Spectral.Derivative
	}
	return order
}

// transform takes the terms' symbols, and L from them.
func (s *semilinear) transform() {
	sys, n := s.march.step.sys, s.march.step.points
	f := fft.NewReal(s.shape, 1)
	s.modes, s.symbols = f.Modes(), make([][]complex128, len(s.terms))
	re, im := make([]float64, s.modes), make([]float64, s.modes)
	unit, response := make([]float64, stages*n), make([]float64, stages*n)
	unit[0] = 1 // on axes without ends all points have one stencil
	for t := range s.terms {
		if !slices.ContainsFunc(s.rows, func(r instantRow) bool { return r.coefs[t] != 0 || slices.Contains(r.reads, t) }) {
			continue
		}
		sys.Terms[t].Operator.Apply(response, unit)
		f.Forward(re, im, response[:n])
		s.symbols[t] = make([]complex128, s.modes)
		for i := range re {
			s.symbols[t][i] = complex(re[i], im[i])
		}
	}
	for c := range s.orders { // the unknowns themselves are the output
		s.symbols[c] = slices.Repeat([]complex128{1}, s.modes)
	}
	d := s.state
	s.linear = make([]complex128, s.modes*d*d)
	for i := range s.rows {
		row := &s.rows[i]
		own := make([]complex128, s.modes*d)
		for t, coef := range row.coefs {
			if coef == 0 {
				continue
			}
			by := complex(-coef/row.leading, 0)
			of := s.terms[t].Of
			for k, symbol := range s.symbols[t] {
				if s.orders[of] > 0 {
					own[k*d+s.first[of]+s.rates[t]] += by * symbol
					continue
				}
				for j, v := range s.row(of).linear[k*d : (k+1)*d] {
					own[k*d+j] += by * symbol * v
				}
			}
		}
		if s.orders[row.of] == 0 {
			row.linear = own
			continue
		}
		first, last := s.first[row.of], s.first[row.of]+s.orders[row.of]-1
		for k := range s.modes {
			for q := first; q < last; q++ {
				s.linear[(k*d+q)*d+q+1] = 1
			}
			copy(s.linear[(k*d+last)*d:], own[k*d:(k+1)*d])
		}
	}
}

// row is that of an unknown.
func (s *semilinear) row(of int) *instantRow {
	return &s.rows[slices.IndexFunc(s.rows, func(r instantRow) bool { return r.of == of })]
}
