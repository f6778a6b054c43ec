package grid

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"pihc/internal/kernel"
)

// A SparseMatrix has the entries Column[k] and Value[k] in row i for k from Start[i] to Start[i+1].
type SparseMatrix struct {
	Start, Column []int32
	Value         []float64
}

// Append adds a row of entries at columns that ascend.
func (m *SparseMatrix) Append(columns []int32, values []float64) {
	if len(m.Start) == 0 {
		m.Start = append(m.Start, 0)
	}
	m.Column, m.Value = append(m.Column, columns...), append(m.Value, values...)
	m.Start = append(m.Start, int32(len(m.Column)))
}

// Rows is their number.
func (m *SparseMatrix) Rows() int { return max(0, len(m.Start)-1) }

// transposed has so many rows.
func (m *SparseMatrix) transposed(rows int) *SparseMatrix {
	out := &SparseMatrix{Start: make([]int32, rows+1), Column: make([]int32, len(m.Column)), Value: make([]float64, len(m.Value))}
	for _, c := range m.Column {
		out.Start[c+1]++
	}
	for i := range rows {
		out.Start[i+1] += out.Start[i]
	}
	at := slices.Clone(out.Start)
	for i := range m.Rows() {
		for k := m.Start[i]; k < m.Start[i+1]; k++ {
			to := at[m.Column[k]]
			out.Column[to], out.Value[to] = int32(i), m.Value[k]
			at[m.Column[k]]++
		}
	}
	return out
}

// multiply sets dst (rows, Stepped) to add, which may be nil, and scale times the matrix times src (columns, Stepped).
func (m *SparseMatrix) multiply(dst, add, src []float64, scale float64) {
	for i := range m.Rows() {
		var sum [Stepped]float64
		for k := m.Start[i]; k < m.Start[i+1]; k++ {
			v, from := m.Value[k], (*[Stepped]float64)(src[int(m.Column[k])*Stepped:])
			for j := range sum {
				sum[j] += v * from[j]
			}
		}
		to := (*[Stepped]float64)(dst[i*Stepped:])
		for j, v := range sum {
			to[j] = scale * v
		}
		if add != nil {
			for j, v := range (*[Stepped]float64)(add[i*Stepped:]) {
				to[j] += v
			}
		}
	}
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
// are u = E y + e(t): values at walls follow from the others. Between two times b, c and e are the polynomial through the six points, or all of fewer,
// that are nearest, and y is Taylor's series in the step or equal parts of it, up to seriesError.
type Stepper struct {
	Times, Unknowns, Points int
	State                   int           // values of y at a point
	First                   []int         // per unknown: where its values are in y (State, Points); the k-th is its k-th derivative in time
	Matrix                  *SparseMatrix // of y: h A, for y whose k-th derivative is multiplied by h^k, h a step of time
	Field                   *SparseMatrix // (Unknowns Points, State Points): E
	Source                  []float64     // (State Points): what b of the unknown and point adds, h B; zero where it adds nothing
	Data, FieldData         []float64     // (Times, State Points), (Times, Unknowns Points): h c and e; nil where they are zero
	Step                    float64       // h

	matrixT, fieldT *SparseMatrix
	nodes           int         // times that b is interpolated between
	parts, terms    int         // of a step, and of the series
	forcing         [][]float64 // per place in the window: (parts, nodes of b, terms of the series): what multiplies b there
}

// Work is the number of products that the solution for one function takes.
func (s *Stepper) Work() float64 {
	return float64(s.Times*s.parts*s.terms) * float64(len(s.Matrix.Value))
}

// Prepare completes a Stepper whose exported fields are set.
func (s *Stepper) Prepare() error {
	for _, v := range slices.Concat(s.Matrix.Value, s.Field.Value) {
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
	s.matrixT, s.fieldT = s.Matrix.transposed(s.State*s.Points), s.Field.transposed(s.State*s.Points)
	s.forcing = s.forcing[:0]
	for i := 1; i < s.nodes; i++ {
		s.forcing = append(s.forcing, s.forcingOf(lagrangeOn(i, s.nodes)))
	}
	return nil
}

// forcingOf are, by part of a step, point of interpolation and power, the coefficients of Taylor's series of the polynomials in the parts' own time, over the factorials.
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
				for k := 1; k <= q; k++ {
					sum *= width / float64(k)
				}
				out[(part*s.nodes+j)*s.nodes+q] = sum * width
			}
		}
	}
	return out
}

// radius is about the spectral radius of the absolute values, which bounds that of the matrix.
func (m *SparseMatrix) radius() float64 {
	n := m.Rows()
	x, y := slices.Repeat([]float64{1}, n), make([]float64, n)
	const rounds = 40
	sum := 0.0
	for round := range rounds {
		most := 0.0
		for i := range n {
			y[i] = 0
			for k := m.Start[i]; k < m.Start[i+1]; k++ {
				y[i] += math.Abs(m.Value[k]) * x[m.Column[k]]
			}
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
	b, bbar       []float64 // (Times, Unknowns, Points, Stepped)
	y, term, next []float64 // (State, Points, Stepped)
	field         []float64 // (Unknowns, Points, Stepped)
}

// NewStepping allocates.
func (s *Stepper) NewStepping() *Stepping {
	y, u := s.State*s.Points*Stepped, s.Unknowns*s.Points*Stepped
	return &Stepping{b: make([]float64, s.Times*u), bbar: make([]float64, s.Times*u), y: make([]float64, y), term: make([]float64, y), next: make([]float64, y), field: make([]float64, u)}
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
			s.march(w, i, func(j int, by float64) { s.force(w.next, w.b[j*all:], by) })
		}
		s.Field.multiply(w.field, nil, w.y, 1)
		s.slices(w.field, i, store)
	}
}

// Begin solves with c and e in the place of b, from y (State, Points) at the first time, whose values fields have there; all functions are the same.
func (s *Stepper) Begin(w *Stepping, y []float64, store Slices) {
	states, fields := s.State*s.Points, s.Unknowns*s.Points
	for c := range s.Unknowns {
		by := 1.0
		for r, of := 0, s.Of(y, c); len(of) > 0; r, of = r+1, of[s.Points:] {
			to := w.y[(s.First[c]+r)*s.Points*Stepped:][:s.Points*Stepped]
			clear(to)
			addToAll(to, of[:s.Points], by)
			by *= s.Step
		}
	}
	for i := range s.Times {
		if i == 0 {
			clear(w.field)
			for c := range s.Unknowns {
				addToAll(w.field[c*s.Points*Stepped:], s.Of(y, c)[:s.Points], 1)
			}
		} else {
			s.march(w, i, func(j int, by float64) {
				if s.Data != nil {
					addToAll(w.next, s.Data[j*states:][:states], by)
				}
			})
			s.Field.multiply(w.field, nil, w.y, 1)
			if s.FieldData != nil {
				addToAll(w.field, s.FieldData[i*fields:][:fields], 1)
			}
		}
		s.slices(w.field, i, store)
	}
}

// addToAll adds one number for each point, times a factor, to all functions.
func addToAll(to, from []float64, by float64) {
	for p, v := range from {
		v *= by
		for j := range (*[Stepped]float64)(to[p*Stepped:]) {
			to[p*Stepped+j] += v
		}
	}
}

// force adds what b (Unknowns, Points, Stepped) gives y.
func (s *Stepper) force(y, b []float64, by float64) {
	s.eachSource(func(state, at int, source float64) {
		kernel.Axpy64(y[state:state+Stepped], by*source, b[at:at+Stepped])
	})
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

// march goes on with w.y to time i; force adds to w.next what is given at time j, times a factor.
func (s *Stepper) march(w *Stepping, i int, force func(j int, by float64)) {
	first, place := s.window(i)
	width := 1 / float64(s.parts)
	for part := range s.parts {
		copy(w.term, w.y)
		for k := range s.terms {
			by := 1 / float64(k+1)
			s.Matrix.multiply(w.next, nil, w.term, width*by)
			for j := 0; j < s.nodes && k < s.nodes; j++ {
				if v := s.forcing[place][(part*s.nodes+j)*s.nodes+k]; v != 0 {
					force(first+j, v*by)
				}
			}
			w.term, w.next = w.next, w.term
			kernel.Add64(w.y, w.y, w.term)
		}
	}
}

// backward sets w.bbar to the transpose of Apply of w.b; w.y is zero.
func (s *Stepper) backward(w *Stepping) {
	all := s.Unknowns * s.Points * Stepped
	width := 1 / float64(s.parts)
	clear(w.bbar)
	for i := s.Times - 1; i > 0; i-- {
		s.fieldT.multiply(w.next, w.y, w.b[i*all:], 1)
		w.y, w.next = w.next, w.y
		first, place := s.window(i)
		for part := s.parts - 1; part >= 0; part-- {
			copy(w.term, w.y)
			for k := s.terms - 1; k >= 0; k-- {
				by := 1 / float64(k+1)
				for j := 0; j < s.nodes && k < s.nodes; j++ {
					if v := s.forcing[place][(part*s.nodes+j)*s.nodes+k]; v != 0 {
						to := w.bbar[(first+j)*all:]
						s.eachSource(func(state, at int, source float64) {
							kernel.Axpy64(to[at:at+Stepped], v*by*source, w.term[state:state+Stepped])
						})
					}
				}
				s.matrixT.multiply(w.next, w.y, w.term, width*by)
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
