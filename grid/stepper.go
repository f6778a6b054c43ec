package grid

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"pihc/internal/kernel"
)

// A SparseMatrix is a square one by its rows.
type SparseMatrix struct {
	rows   kernel.Stencils
	points []int32 // 0, 1, 2 and so on
}

// Append adds a row of entries.
func (m *SparseMatrix) Append(columns []int32, values []float64) {
	if len(m.points) == 0 {
		m.rows.Start = append(m.rows.Start, 0)
	}
	row := int32(len(m.points))
	for _, c := range columns {
		m.rows.Offset = append(m.rows.Offset, c-row)
	}
	m.rows.Coef = append(m.rows.Coef, values...)
	m.rows.Start = append(m.rows.Start, int32(len(m.rows.Coef)))
	m.rows.Which, m.points = append(m.rows.Which, uint16(row)), append(m.points, row)
}

// entries visits those of a row.
func (m *SparseMatrix) entries(row int, visit func(column int, value float64)) {
	for k := m.rows.Start[row]; k < m.rows.Start[row+1]; k++ {
		visit(row+int(m.rows.Offset[k]), m.rows.Coef[k])
	}
}

func (m *SparseMatrix) transposed() *SparseMatrix {
	columns, values := make([][]int32, len(m.points)), make([][]float64, len(m.points))
	for i := range m.points {
		m.entries(i, func(column int, value float64) {
			columns[column], values[column] = append(columns[column], int32(i)), append(values[column], value)
		})
	}
	out := &SparseMatrix{}
	for i := range m.points {
		out.Append(columns[i], values[i])
	}
	return out
}

// multiply sets dst to the matrix times src, both (rows, Stepped).
func (m *SparseMatrix) multiply(dst, src []float64) {
	kernel.GatherStencils(dst, src, Stepped, m.points, &m.rows)
}

// Stepped is how many functions a Stepper solves for at once.
const Stepped = 8

const (
	// seriesReach is the largest step, times the spectral radius, that Taylor's series is summed for.
	seriesReach = 8
	// seriesError is what the first term that is left out may be.
	seriesError = 1e-10
)

// A Stepper solves linear equations y' = A y + c(t) + B b(t) on a nodes axis of time, with the matrix A of differences on a slice and its walls. Fields
// are u = E y + e(t): values at walls follow from the others. Between two times b and c are the polynomial through the six points, or all of fewer,
// that are nearest, and y is Taylor's series in the step or equal parts of it, up to seriesError. The k-th derivative in time of an unknown is multiplied in
// y by h^k, h a step of time.
type Stepper struct {
	Times, Unknowns, Points int
	State                   int           // values of y at a point
	First                   []int         // per unknown: where its values are in y (State, Points), its derivatives in time in their order
	Matrix                  *SparseMatrix // h A
	Field                   *SparseMatrix // E, in the rows of y that are values of unknowns
	Source                  []float64     // (State, Points): h B, what b of the unknown and point adds; zero where it adds nothing
	Data, FieldData         []float64     // (Times, State, Points), (Times, Unknowns, Points): h c and e; nil where they are zero
	Step                    float64       // h

	matrixT, fieldT *SparseMatrix
	nodes           int         // times that b is interpolated between
	parts, terms    int         // of a step, and of the series
	forcing         [][]float64 // per place in the window: (parts, nodes of b, powers): what multiplies b there in the derivatives that the series is of
}

// Work is the number of products that the solution for one function takes.
func (s *Stepper) Work() float64 {
	return float64(s.Times*s.parts*s.terms) * float64(len(s.Matrix.rows.Coef))
}

// Prepare completes a Stepper whose exported fields are set.
func (s *Stepper) Prepare() error {
	for _, v := range slices.Concat(s.Matrix.rows.Coef, s.Field.rows.Coef) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("the linear part is not finite")
		}
	}
	radius := s.Matrix.radius()
	s.parts = max(1, int(math.Ceil(radius/seriesReach)))
	s.nodes = min(interpolated, s.Times)
	for left := 1.0; s.terms < s.nodes || left > seriesError; {
		s.terms++
		left *= radius / float64(s.parts) / float64(s.terms)
	}
	for i := range s.Matrix.rows.Coef {
		s.Matrix.rows.Coef[i] /= float64(s.parts)
	}
	s.matrixT, s.fieldT = s.Matrix.transposed(), s.Field.transposed()
	for i := 1; i < s.nodes; i++ {
		s.forcing = append(s.forcing, s.forcingOf(lagrangeOn(i, s.nodes)))
	}
	return nil
}

// forcingOf are, by part of a step, point of interpolation and power, the derivatives of the polynomials where the part begins, in its own time, times its length.
func (s *Stepper) forcingOf(lagrange [][]float64) []float64 {
	out := make([]float64, s.parts*s.nodes*s.nodes)
	width := 1 / float64(s.parts)
	for part := range s.parts {
		begin := float64(part) * width
		for j, of := range lagrange {
			for q := range of {
				sum, power := 0.0, 1.0
				for r := q; r < len(of); r++ {
					if r > q {
						power *= begin / float64(r-q)
					}
					sum += of[r] * power
				}
				out[(part*s.nodes+j)*s.nodes+q] = sum * math.Pow(width, float64(q+1))
			}
		}
	}
	return out
}

// radius is about the spectral radius of the absolute values, which bounds that of the matrix.
func (m *SparseMatrix) radius() float64 {
	n := len(m.points)
	x, y := slices.Repeat([]float64{1}, n), make([]float64, n)
	const rounds = 40
	sum := 0.0
	for round := range rounds {
		most := 0.0
		for i := range n {
			y[i] = 0
			m.entries(i, func(column int, value float64) { y[i] += math.Abs(value) * x[column] })
			most = max(most, y[i])
		}
		if most == 0 {
			return 0
		}
		kernel.MulScalar64(x, 1/most, y)
		if round >= rounds/2 { // the mean growth, where it alternates
			sum += math.Log(most)
		}
	}
	return math.Exp(sum / (rounds / 2))
}

// Of is the part of y (State, points) that belongs to an unknown.
func (s *Stepper) Of(y []float64, unknown int) []float64 {
	end := s.State
	if unknown+1 < s.Unknowns {
		end = s.First[unknown+1]
	}
	return y[s.First[unknown]*s.Points : end*s.Points]
}

// Stepping is the memory of a Stepper for Stepped functions at once. It belongs to one caller at a time.
type Stepping struct {
	b, bbar              []float64 // (Times, Unknowns, Points, Stepped)
	y, term, next, field []float64 // (State, Points, Stepped)
}

// NewStepping allocates.
func (s *Stepper) NewStepping() *Stepping {
	y, u := s.State*s.Points*Stepped, s.Unknowns*s.Points*Stepped
	return &Stepping{b: make([]float64, s.Times*u), bbar: make([]float64, s.Times*u), y: make([]float64, y), term: make([]float64, y), next: make([]float64, y), field: make([]float64, y)}
}

// window is as Propagator.Window.
func (s *Stepper) window(i int) (first, place int) {
	first = min(max(i-s.nodes/2, 0), s.Times-s.nodes)
	return first, i - first - 1
}

// slices visits those of all unknowns at a time.
func (s *Stepper) slices(values []float64, time int, visit Slices) {
	width := s.Points * Stepped
	for c := range s.Unknowns {
		visit(c, time, values[c*width:][:width])
	}
}

// Apply solves from zero with what load gives as b, and hands the solution to store; transposed it applies the transpose of that linear map.
func (s *Stepper) Apply(w *Stepping, transposed bool, load, store Slices) {
	all := s.Unknowns * s.Points * Stepped
	for time := range s.Times {
		s.slices(w.b[time*all:], time, load)
	}
	clear(w.y)
	if transposed {
		s.backward(w)
		for time := range s.Times {
			s.slices(w.bbar[time*all:], time, store)
		}
		return
	}
	for i := range s.Times {
		if i > 0 {
			s.march(w, i, func(j int, by float64) {
				b := w.b[j*all:]
				s.eachSource(func(state, at int, source float64) {
					kernel.Axpy64(w.next[state:state+Stepped], by*source, b[at:at+Stepped])
				})
			})
		}
		s.fields(w, i, nil, store)
	}
}

// fields hands those of y at a time, and data (Unknowns, Points), to store.
func (s *Stepper) fields(w *Stepping, time int, data []float64, store Slices) {
	s.Field.multiply(w.field, w.y)
	for c, first := range s.First {
		values := w.field[first*s.Points*Stepped:][:s.Points*Stepped]
		if data != nil {
			addToAll(values, data[c*s.Points:][:s.Points], 1)
		}
		store(c, time, values)
	}
}

// Begin solves with c and e in the place of b, from y (State, Points) at the first time, whose values fields have there; all functions are the same.
func (s *Stepper) Begin(w *Stepping, y []float64, store Slices) {
	states, width, fields := s.State*s.Points, s.Points*Stepped, s.Unknowns*s.Points
	clear(w.y)
	for c, first := range s.First {
		by := 1.0
		for r, of := 0, s.Of(y, c); len(of) > 0; r, of = r+1, of[s.Points:] {
			addToAll(w.y[(first+r)*width:], of[:s.Points], by)
			by *= s.Step
		}
		store(c, 0, w.y[first*width:][:width])
	}
	for i := 1; i < s.Times; i++ {
		s.march(w, i, func(j int, by float64) {
			if s.Data != nil {
				addToAll(w.next, s.Data[j*states:][:states], by)
			}
		})
		var data []float64
		if s.FieldData != nil {
			data = s.FieldData[i*fields:][:fields]
		}
		s.fields(w, i, data, store)
	}
}

// addToAll adds one number for each point, times a factor, to all functions.
func addToAll(to, from []float64, by float64) {
	for p, v := range from {
		v *= by
		all := (*[Stepped]float64)(to[p*Stepped:])
		for j := range all {
			all[j] += v
		}
	}
}

// eachSource visits the states that b adds to, with where these and b begin in memory.
func (s *Stepper) eachSource(visit func(state, at int, source float64)) {
	for c := range s.Unknowns {
		end := s.State
		if c+1 < s.Unknowns {
			end = s.First[c+1]
		}
		for p := range s.Points {
			if state := (end-1)*s.Points + p; s.Source[state] != 0 {
				visit(state*Stepped, (c*s.Points+p)*Stepped, s.Source[state])
			}
		}
	}
}

// force adds to b (Unknowns, Points, Stepped) what the transpose of the source makes of y, times a factor.
func (s *Stepper) force(b, y []float64, by float64) {
	s.eachSource(func(state, at int, source float64) {
		kernel.Axpy64(b[at:at+Stepped], by*source, y[state:state+Stepped])
	})
}

// march goes on with w.y to time i; force adds to w.next what is given at time j, times a factor.
func (s *Stepper) march(w *Stepping, i int, force func(j int, by float64)) {
	first, place := s.window(i)
	for part := range s.parts {
		copy(w.term, w.y)
		by := 1.0 // 1/k!
		for k := range s.terms {
			s.Matrix.multiply(w.next, w.term)
			for j := 0; j < s.nodes && k < s.nodes; j++ {
				if v := s.forcing[place][(part*s.nodes+j)*s.nodes+k]; v != 0 {
					force(first+j, v)
				}
			}
			w.term, w.next = w.next, w.term
			by /= float64(k + 1)
			kernel.Axpy64(w.y, by, w.term)
		}
	}
}

// backward sets w.bbar to the transpose of Apply of w.b; w.y is zero.
func (s *Stepper) backward(w *Stepping) {
	width := s.Points * Stepped
	all := s.Unknowns * width
	last := 1.0 // 1/terms!
	for k := range s.terms {
		last /= float64(k + 1)
	}
	clear(w.bbar)
	for i := s.Times - 1; i > 0; i-- {
		clear(w.field)
		for c, first := range s.First {
			copy(w.field[first*width:], w.b[i*all+c*width:][:width])
		}
		s.fieldT.multiply(w.next, w.field)
		kernel.Add64(w.y, w.y, w.next)
		first, place := s.window(i)
		for part := s.parts - 1; part >= 0; part-- {
			by := last
			kernel.MulScalar64(w.term, by, w.y)
			for k := s.terms - 1; k >= 0; k-- {
				for j := 0; j < s.nodes && k < s.nodes; j++ {
					if v := s.forcing[place][(part*s.nodes+j)*s.nodes+k]; v != 0 {
						s.force(w.bbar[(first+j)*all:], w.term, v)
					}
				}
				s.matrixT.multiply(w.next, w.term)
				by *= float64(k + 1)
				kernel.Axpy64(w.next, by, w.y)
				w.term, w.next = w.next, w.term
			}
			w.y, w.term = w.term, w.y
		}
	}
}

// Growth is how many times larger, by root mean square, fields without b, c and e become that begin at random and at rest.
func (s *Stepper) Growth(random *rand.Rand) float64 {
	n := s.Points
	y, size, most := make([]float64, s.State*n), 0.0, 0.0
	for _, first := range s.First {
		for p := range n {
			v := random.NormFloat64()
			y[first*n+p], size = v, size+v*v
		}
	}
	free := *s
	free.Data, free.FieldData = nil, nil
	sums := make([]float64, s.Times)
	free.Begin(s.NewStepping(), y, func(_, time int, values []float64) {
		for p := range n {
			sums[time] += values[p*Stepped] * values[p*Stepped]
		}
	})
	for _, v := range sums {
		if math.IsNaN(v) {
			return v
		}
		most = max(most, v)
	}
	return math.Sqrt(most / size)
}
