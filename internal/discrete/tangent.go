package discrete

import (
	"fmt"
	"math"
	"slices"

	"pihc/internal/kernel"
)

// slopes differentiate the solution of a state along directions of its inputs: J du = -(∂F/∂known)·dknown - (∂F/∂inputs)·direction, with
// the matrix that Newton's method has factored, and the exact derivatives of the rows (pde.System.InputSlopes).
type slopes struct {
	*state
	programs []func(n int, out, in [][]float64) // per set of rows; nil: it reads no input
	out      [][][]float64                      // per set, by input that it reads: the derivatives of rows at the solution
	along    [][][][]float64                    // per direction, set and input: the direction at the rows, nil for zeros
}

func newSlopes(st *state, along [][]float64) (*slopes, error) {
	s := &slopes{state: st, along: make([][][][]float64, len(along))}
	for _, rows := range st.rows {
		program, err := st.sys.InputSlopes(rows.Set)
		if err != nil {
			return nil, err
		}
		if program == nil {
			s.programs, s.out = append(s.programs, nil), append(s.out, nil)
		} else {
			out := make([][]float64, program.Outputs())
			for i := range out {
				out[i] = make([]float64, len(rows.Points))
			}
			s.programs, s.out = append(s.programs, program.Evaluator()), append(s.out, out)
		}
		for j, direction := range along {
			var own [][]float64
			for _, x := range rows.Set.Extras {
				if x.Axis >= 0 {
					continue
				}
				in := &st.sys.Inputs[x.Input]
				var values []float64
				if slices.ContainsFunc(in.Of(direction), func(v float64) bool { return v != 0 }) {
					values = make([]float64, len(rows.Points))
					for i, p := range rows.Points {
						values[i] = direction[in.At(p, x.Along, x.Shift)]
					}
				}
				own = append(own, values)
			}
			s.along[j] = append(s.along[j], own)
		}
	}
	return s, nil
}

// evaluate forms the derivatives by inputs where the state was evaluated last.
func (s *slopes) evaluate() {
	for k, rows := range s.rows {
		if s.programs[k] != nil {
			s.programs[k](len(rows.Points), s.out[k], slices.Concat(rows.Terms.Values, rows.Extras))
		}
	}
}

// tangent moves du (values) to the derivative of the solution along direction j; known is that of what the state knows.
func (s *slopes) tangent(du []float64, j int, known [orders][]float64) bool {
	const iterations = 30
	st := s.state
	kept := st.known
	st.known = known
	defer func() { st.known = kept }()
	enough := 1e-9
	if !st.factors {
		enough = 1e-7
	}
	first, last, fresh := 0.0, math.Inf(1), false
	for k := range iterations {
		s.rowsAlong(du, j)
		size := math.Sqrt(kernel.SumSquares64(st.res))
		if k == 0 {
			first = size
		}
		if size <= enough*first*1e-2 {
			return true
		}
		if k > 0 && st.factors && !fresh && size > 0.1*last { // the matrix is that of another point
			if fresh = true; !st.factor() {
				return false
			}
		}
		last = size
		if !st.solve() {
			return false
		}
		kernel.Axpy64(du, -1, st.step)
		if norm := math.Sqrt(kernel.SumSquares64(du)); math.Sqrt(kernel.SumSquares64(st.step)) <= enough*norm {
			return true
		}
	}
	return false
}

// rowsAlong sets the rows to their derivative along du and direction j.
func (s *slopes) rowsAlong(du []float64, j int) {
	st := s.state
	st.differentiate(du, false)
	st.linear(st.res)
	row := 0
	for k := range st.rows {
		own := st.res[row:][:len(st.out[k][0])]
		for x, slope := range s.out[k] {
			for i, v := range s.along[j][k][x] {
				own[i] += slope[i] * v
			}
		}
		row += copy(st.out[k][0], own)
	}
}

// tangentsAtStart differentiates the solution of the rows of the first time.
func (w *walk) tangentsAtStart(st *state, along [][]float64) error {
	if len(along) == 0 {
		return nil
	}
	s, err := newSlopes(st, along)
	if err != nil {
		return err
	}
	s.evaluate()
	for j := range along {
		du := make([]float64, st.values())
		if !s.tangent(du, j, [orders][]float64{}) {
			return fmt.Errorf("%w for the derivatives at the initial conditions", ErrNotConverged)
		}
		w.begins(&w.tangents[j], du)
	}
	return nil
}

// advanceTangents takes the tangents over the step that the state has just solved, with weights d of its stages.
func (w *walk) advanceTangents(d [][]float64) error {
	if w.slopes == nil {
		return nil
	}
	st := w.state
	w.slopes.evaluate()
	kept := st.known
	for j := range w.tangents {
		x := &w.tangents[j]
		var known [orders][]float64
		w.known(&known, x, d)
		du := make([]float64, st.values())
		if !w.slopes.tangent(du, j, known) {
			return fmt.Errorf("%w for the derivatives at %s = %g", ErrNotConverged, w.problem.Axes[0].Name, st.instants[0])
		}
		st.known = known
		w.arrive(x, du)
	}
	st.known = kept
	return nil
}

// SolveAlong solves for inputs and differentiates the solution along directions of these, each of the inputs' size, exactly but for
// rounding and, of least-squares rows, for what these leave. visit gets every point of the first axis in order: the unknowns (C, points of
// a slice) and their derivatives by each direction, valid until it returns. The solver has to keep all points that it solves on (refine
// of 1).
func (s *Solver) SolveAlong(sample []float64, along [][]float64, visit func(k int, u []float64, du [][]float64)) error {
	if !slices.Equal(s.grid.Axes, s.fine.Axes) {
		panic("discrete: SolveAlong is for a solver that refines no axis")
	}
	du := make([][]float64, len(along))
	if s.march != nil {
		_, err := s.march.solve(sample, along, func(k int, w *walk) {
			for j := range du {
				du[j] = w.tangents[j].u
			}
			visit(k, w.u, du)
		})
		return err
	}
	u, err := s.solveWhole(sample, along, du)
	if err != nil {
		return err
	}
	times := s.grid.Axes[0].Points
	slice := func(all []float64, k int) []float64 {
		n := s.grid.Size() / times
		out := make([]float64, 0, s.fields*n)
		for f := range s.fields {
			out = append(out, all[(f*times+k)*n:][:n]...)
		}
		return out
	}
	for k := range times {
		at := make([][]float64, len(du))
		for j := range du {
			at[j] = slice(du[j], k)
		}
		visit(k, slice(u, k), at)
	}
	return nil
}

// solveWhole solves for all values at once and sets du to their derivatives.
func (s *Solver) solveWhole(sample []float64, along, du [][]float64) ([]float64, error) {
	st, u := s.whole.newState(sample), make([]float64, s.whole.values())
	s.whole.sys.Problem.Persist(u, sample, s.whole.sys.Grid)
	if !st.newton(u, true) {
		return nil, ErrNotConverged
	}
	x, err := newSlopes(st, along)
	if err != nil {
		return nil, err
	}
	x.evaluate()
	for j := range along {
		du[j] = make([]float64, len(u))
		if !x.tangent(du[j], j, [orders][]float64{}) {
			return nil, fmt.Errorf("%w for the derivatives", ErrNotConverged)
		}
	}
	return u, nil
}
