package pde

import (
	"fmt"
	"slices"

	"pihc/expr"
	"pihc/grid"
)

// mostGiven is the highest derivative that a condition at a wall may make zero.
const mostGiven = 5

// parities are how unknowns go on beyond the walls, with the conditions that say so: each makes a derivative zero, of even order where a
// field is odd, of odd order where it is even. Of an unknown with no condition at a wall its own equation says that it is even, or
// those of others do; odd it is only where a condition makes it zero, or the unknown whose velocity it is. The error names a condition of another
// form, or what nothing is known of.
func (p *Problem) parities(terms []linearTerm) (out grid.Parities, met [][]string, err error) {
	met = make([][]string, len(p.Unknowns))
	for range p.Unknowns {
		out = append(out, make([][2]grid.Parity, len(p.Axes)-1))
	}
	for axis, a := range p.Axes[1:] {
		switch a.Boundary {
		case grid.Periodic:
			continue
		case grid.Cells:
			return nil, nil, fmt.Errorf("axis %s has cells: want nodes, or a periodic one", a.Name)
		}
		held := make([][2]bool, len(p.Unknowns)) // at zero
		said := make([][2]bool, len(p.Unknowns)) // by conditions
		for _, c := range p.Conditions {
			if c.At[a.Name] == "" {
				continue
			}
			end := 0
			if c.At[a.Name] == "high" {
				end = 1
			}
			unknown, order := p.zero(c, 1+axis, end == 1)
			if order < 0 {
				return nil, nil, fmt.Errorf("%s does not make a value or a derivative along %s of one unknown zero, on all of a wall", c.Name, a.Name)
			}
			parity := grid.Even
			if order%2 == 0 {
				parity = grid.Odd
				held[unknown][end] = held[unknown][end] || order == 0
			}
			if of := &out[unknown][axis][end]; *of == -parity {
				return nil, nil, fmt.Errorf("at the %s end of %s conditions make an even and an odd derivative of %s zero: want one of them", c.At[a.Name], a.Name, p.Unknowns[unknown].Name)
			} else {
				*of = parity
			}
			said[unknown][end] = true
			met[unknown] = append(met[unknown], c.Name)
		}
		for end, name := range []string{"low", "high"} {
			for _, t := range terms { // a velocity that the equation of another unknown names (u_t - v) goes on as that does
				others := slices.ContainsFunc(terms, func(o linearTerm) bool { return o.row == t.row && o != t })
				if u, v := t.row, t.of; u != v && !others && t.term < len(p.Unknowns) && said[u][end] && !said[v][end] {
					out[v][axis][end], held[v][end], said[v][end] = out[u][axis][end], held[u][end], true
				}
			}
			for _, own := range []bool{true, false} { // by terms of its own equation first
				for range p.Unknowns {
					for _, t := range terms {
						from, to := out[t.of][axis][end], &out[t.row][axis][end]
						if !own {
							from, to = *to, &out[t.of][axis][end]
						}
						if p.oddAlong(t.term, a.Name) {
							from = -from
						}
						if *to == grid.Unbounded && from == grid.Even {
							*to = grid.Even
						}
					}
				}
			}
			for c, u := range p.Unknowns {
				if of := out[c][axis][end]; of == grid.Unbounded || of == grid.Odd && !held[c][end] {
					return nil, nil, fmt.Errorf("nothing says how %s goes on beyond the %s end of %s: want its value or its slope to be zero", u.Name, name, a.Name)
				}
			}
			for _, t := range terms { // of an unknown that its equation alone says it of, all terms have to agree
				from := out[t.of][axis][end]
				if p.oddAlong(t.term, a.Name) {
					from = -from
				}
				if u := t.row; t.of != u && !said[u][end] && from != out[u][axis][end] {
					return nil, nil, fmt.Errorf("terms of the equation of %s disagree how it goes on beyond the %s end of %s: want its value or its slope to be zero", p.Unknowns[u].Name, name, a.Name)
				}
			}
		}
	}
	return out, met, nil
}

// zero is the unknown of which a condition makes a derivative zero at an end of an axis, and its order; -1 where it does not.
func (p *Problem) zero(c Rows, axis int, high bool) (unknown, order int) {
	for unknown := range p.Unknowns {
		for order := range mostGiven + 1 {
			if value, ok := p.given(unknown, c, axis, high, order); ok && equals(value, 0) {
				return unknown, order
			}
		}
	}
	return 0, -1
}

// oddAlong reports whether a term, by its position in System.Terms, is of odd order along an axis of space.
func (p *Problem) oddAlong(term int, axis string) bool {
	if term -= len(p.Unknowns); term < 0 {
		return false
	}
	order := 0
	for _, f := range p.Terms[term].Factors {
		if f.Axis == axis {
			order += f.Scheme.Derivative
		}
	}
	return order%2 == 1
}

// keepsParity reports whether a term of the linear part continues beyond all walls as the unknown does whose equation it is in.
func (p *Problem) keepsParity(t linearTerm, of grid.Parities) bool {
	for i, a := range p.Axes[1:] {
		for end := range 2 {
			want := of[t.of][i][end]
			if p.oddAlong(t.term, a.Name) {
				want = -want
			}
			if want != of[t.row][i][end] {
				return false
			}
		}
	}
	return true
}

// ghostsMirror is an error where a term of the linear part has a ghost value that is not that of a field with the parity of its unknown.
func (p *Problem) ghostsMirror(l *linear) error {
	for _, t := range l.terms {
		if t.term < len(p.Unknowns) {
			continue
		}
		term := p.Terms[t.term-len(p.Unknowns)]
		for _, f := range term.Factors {
			for end, ghost := range []*expr.Expr{f.Low, f.High} {
				if ghost != nil && !mirrors(ghost, l.parities[t.of][p.Axis(f.Axis)-1][end]) {
					return fmt.Errorf("the ghost values of %s are not those of fields that conditions at the ends of %s mirror", term.Name, f.Axis)
				}
			}
		}
	}
	return nil
}

// mirrors reports whether a ghost value is what a field has one step beyond a node at the end of an axis: the value one step within it, or where
// it is odd, and zero at the node, minus that.
func mirrors(ghost *expr.Expr, parity grid.Parity) bool {
	want := []float64{0, float64(parity), 0, 0}
	zeros := map[string]*expr.Expr{}
	for i, name := range ghostPoints {
		if !(equals(ghost.Diff(name), want[i]) || i == 0 && parity == grid.Odd) {
			return false
		}
		zeros[name] = expr.Const(0)
	}
	return equals(ghost.Substitute(zeros), 0)
}

// DuhamelAnsatz is the ansatz of every unknown whose fields are solutions of the linear part, with the conditions that they meet; ok is
// false where conditions do not give what every unknown begins with.
func (p *Problem) DuhamelAnsatz() (all []Ansatz, met []string, ok bool) {
	l, err := p.linearPart()
	if err != nil {
		return nil, nil, false
	}
	all, met, ok = p.beginAnsatz(Ansatz{Multiplier: expr.Const(1), Duhamel: true})
	return all, append(met, slices.Concat(l.met...)...), ok
}

// beginAnsatz is an ansatz for every unknown with the offset that begins as conditions at the first time ask for, and these.
func (p *Problem) beginAnsatz(a Ansatz) (all []Ansatz, met []string, ok bool) {
	for c := range p.Unknowns {
		walls := p.walls(c)
		if p.timeOrder(c) == 0 && (len(walls) == 0 || walls[0].axis != 0) {
			a.Offset = expr.Const(0)
			all = append(all, a)
			continue
		}
		if len(walls) == 0 || walls[0].axis != 0 || walls[0].high || len(walls[0].values) != p.timeOrder(c) {
			return nil, nil, false
		}
		a.Offset = p.lift(p.endConditions(c, walls[:1], nil))
		all, met = append(all, a), append(met, walls[0].names...)
	}
	return all, met, true
}

// odd are the points (C, SliceSize) of walls where unknowns of an ansatz by Duhamel's formula are zero.
func (s *System) odd() []bool {
	if s.Problem.byRows() {
		return s.held()
	}
	l, err := s.Problem.linearPart()
	if err != nil {
		return nil
	}
	out := make([]bool, 0, len(l.orders)*s.SliceSize())
	index := make([]int, len(s.Grid.Axes))
	for _, of := range l.parities {
		for q := range s.SliceSize() {
			s.Grid.Unravel(q, index)
			zero := false
			for i, a := range s.Grid.Axes[1:] {
				zero = zero || of[i][0] == grid.Odd && index[1+i] == 0 || of[i][1] == grid.Odd && index[1+i] == a.Points-1
			}
			out = append(out, zero)
		}
	}
	return out
}
