package grid

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pihc/internal/band"
	"pihc/internal/kernel"
)

// beginning is the part of a step after which unknowns without a derivative in time have the values that they begin with.
const beginning = 1e-6

// mostValues bounds the values of a slice at all stages: rows of a sparseMatrix are counted so far.
const mostValues = 1 << 16

var errNotSolved = errors.New("the linear part of the rows cannot be solved for the values of a slice: it leaves some free, or fixes some twice")

// A RateEntry is By times a slope, what a row of a slice makes of a derivative in time of a value.
type RateEntry struct {
	Row, Value int // of the slice: Value is one of (Unknowns, Points)
	Rate       int // the order of that derivative
	Slope      int // which of the slopes
	By         float64
}

// A Radau is a LinearSolver for problems in time: rows of each slice are linear in its values and in their derivatives in time, and are as many as these. From each
// time of a nodes axis to the next it takes one step of Radau IIA with three stages, which is of fifth order (Hairer and Wanner, Solving Ordinary
// Differential Equations II, section IV.5); rows without a derivative in time hold at each time. Slopes, data and sources are between times the polynomial
// through the six, or all of fewer, that are nearest.
type Radau struct {
	Times, Points int
	Orders        []int       // per unknown: how many derivatives in time it begins with, the value among them, 0 to 2; rows give the first value of those with 0
	Step          float64     // from a time to the next
	Columns       []int       // (Unknowns, Points): which of the values is where among rows, so that entries are near a diagonal
	Entries       []RateEntry // by ascending rows
	Starts        []RateEntry // by ascending rows: at the first time they take the place of the entries of their rows, which are to be zero
	Slopes        [][]float64 // by time
	Sources       []Source    // Row and Value are those of a slice
	Data          []float64   // (Times, rows): what rows are to be; nil: zero
	Base          []float64   // (Unknowns, Points): what is added to fields at all times; nil: nothing

	rates        []int // per unknown: of its highest derivative in time; of those that begin with nothing it may be 1
	first        []int // per unknown: its values in the state (rates, Points), with their derivatives in time, times Step
	lower, upper int   // bandwidths
	nodes        int
	weights      [][stages][]float64 // by place in a window, and node: of values at stages
	steps        []*radauStep        // to the second time and so on
	begin        *radauStep          // of the beginning, where rows give first values
}

// radauStep is a step with its slopes at the stages.
type radauStep struct {
	slopes            [stages][]float64
	same              bool           // at all stages: then they are split
	matrices          []*band.Matrix // (rows, stages), or (rows, 1) and (rows, 2) of split ones
	predict, predictT *sparseMatrix  // what rows make of the values that go on from y as they are, negated: (rows, stages) of y
	entries           []RateEntry
	scale, load       []float64 // of each row of a slice, and of what it is to be
}

// blocks are the first stages of the matrices of a step, and how many each has.
func (s *radauStep) blocks() [][2]int {
	if s.same {
		return [][2]int{{0, 1}, {1, 2}}
	}
	return [][2]int{{0, stages}}
}

// work is about the number of products of the factorisations of a step.
func (r *Radau) work(step *radauStep) (sum float64) {
	for _, b := range step.blocks() {
		sum += band.FactorWork(b[1]*len(r.Columns), b[1]*r.lower+b[1]-1, b[1]*r.upper+b[1]-1)
	}
	return sum
}

// Prepare completes a Radau whose exported fields are set; its factorisations take no more than so many products.
func (r *Radau) Prepare(most float64) error {
	size := len(r.Columns)
	if stages*size > mostValues {
		return fmt.Errorf("%d values at a time are more than %d", size, mostValues/stages)
	}
	r.lower, r.upper = 0, 0
	for _, e := range r.Entries {
		away := r.Columns[e.Value] - e.Row
		r.lower, r.upper = max(r.lower, -away), max(r.upper, away)
	}
	r.rates = slices.Clone(r.Orders)
	for _, e := range r.Entries {
		if c := e.Value / r.Points; e.Rate > r.rates[c] {
			if e.Rate > 1 {
				return fmt.Errorf("a derivative of order %d in time of a value that begins with %d", e.Rate, r.Orders[c])
			}
			r.rates[c] = 1
		}
	}
	r.first = nil
	state := 0
	for _, order := range r.rates {
		r.first = append(r.first, state)
		state += order
	}
	r.nodes, r.weights = min(interpolated, r.Times), nil
	var points []float64
	for j := range r.nodes {
		points = append(points, float64(j))
	}
	for place := range r.nodes - 1 {
		var w [stages][]float64
		for i, node := range stageNodes {
			w[i] = Fornberg(0, float64(place)+node, points)
		}
		r.weights = append(r.weights, w)
	}
	same := make([]bool, len(r.Slopes[0])) // at all times
	for j := range same {
		same[j] = !slices.ContainsFunc(r.Slopes, func(at []float64) bool { return at[j] != r.Slopes[0][j] })
	}
	r.steps = nil
	work := 0.0
	for time := 1; time < r.Times; time++ {
		step := &radauStep{entries: r.Entries}
		first, place := window(time, r.nodes, r.Times)
		for i := range stages {
			step.slopes[i] = slices.Clone(r.Slopes[time])
			for j, constant := range same {
				if !constant {
					step.slopes[i][j] = 0
					for k, by := range r.weights[place][i] {
						step.slopes[i][j] += by * r.Slopes[first+k][j]
					}
				}
			}
		}
		if n := len(r.steps); n > 0 && slices.EqualFunc(step.slopes[:], r.steps[n-1].slopes[:], slices.Equal) {
			r.steps = append(r.steps, r.steps[n-1])
			continue
		}
		step.same = slices.Equal(step.slopes[0], step.slopes[1]) && slices.Equal(step.slopes[0], step.slopes[2])
		work += r.work(step)
		r.steps = append(r.steps, step)
	}
	if work > most {
		return fmt.Errorf("factorisations of %.2g products are more than %.2g", work, most)
	}
	for i, step := range r.steps {
		if step.matrices == nil {
			if err := r.prepare(step, 1); err != nil {
				return fmt.Errorf("step %d: %w", i+1, err)
			}
		}
	}
	if r.begin = nil; slices.Contains(r.Orders, 0) {
		starts := func(e RateEntry) bool {
			return slices.ContainsFunc(r.Starts, func(s RateEntry) bool { return s.Row == e.Row })
		}
		entries := append(slices.DeleteFunc(slices.Clone(r.Entries), starts), r.Starts...)
		slices.SortStableFunc(entries, func(a, b RateEntry) int { return cmp.Compare(a.Row, b.Row) })
		r.begin = &radauStep{slopes: [stages][]float64{r.Slopes[0], r.Slopes[0], r.Slopes[0]}, same: true, entries: entries}
		if err := r.prepare(r.begin, beginning); err != nil {
			return fmt.Errorf("at the first time: %w", err)
		}
		r.begin.load = slices.Clone(r.begin.load)
		for _, e := range r.Starts {
			r.begin.load[e.Row] = 0
		}
	}
	return nil
}

// prepare makes the matrices of a step that is a part of one from a time to the next.
func (r *Radau) prepare(step *radauStep, part float64) error {
	size, h := len(r.Columns), r.Step*part
	step.scale = make([]float64, size)
	step.load = step.scale
	for _, e := range step.entries {
		for i := range stages {
			v := math.Abs(step.slopes[i][e.Slope] * e.By)
			for range e.Rate {
				v /= h
			}
			step.scale[e.Row] = max(step.scale[e.Row], v)
		}
	}
	for row, v := range step.scale {
		if step.scale[row] = 1 / v; !(v > 0) || math.IsInf(v, 0) {
			return errNotSolved
		}
	}
	step.predict = &sparseMatrix{}
	var columns []int32
	var values []float64
	for from := 0; from < len(step.entries); {
		row, to := step.entries[from].Row, from
		for to < len(step.entries) && step.entries[to].Row == row {
			to++
		}
		for i := range stages {
			columns, values = columns[:0], values[:0]
			for _, e := range step.entries[from:to] {
				v := step.scale[row] * step.slopes[i][e.Slope] * e.By
				if v == 0 {
					continue
				}
				c, p := e.Value/r.Points, e.Value%r.Points
				at, order := int32(r.first[c]*r.Points+p), r.rates[c]
				switch {
				case e.Rate == 0 && order > 0:
					columns, values = append(columns, at), append(values, -v)
					if order > 1 {
						columns, values = append(columns, at+int32(r.Points)), append(values, -v*stageNodes[i]*part)
					}
				case e.Rate == 1 && order > 1:
					columns, values = append(columns, at+int32(r.Points)), append(values, -v/r.Step)
				}
			}
			step.predict.append(columns, values)
		}
		from = to
	}
	step.predictT = step.predict.transposed()
	return r.factor(step, h)
}

// factor makes the matrices of a step of a length.
func (r *Radau) factor(step *radauStep, h float64) error {
	rates, seconds := stageRates, stageSeconds
	if step.same {
		rates, seconds = splitRates, splitSeconds
	}
	for _, block := range step.blocks() {
		first, n := block[0], block[1]
		m := band.New(n*len(r.Columns), n*r.lower+n-1, n*r.upper+n-1)
		for _, e := range step.entries {
			row, column := n*e.Row, n*r.Columns[e.Value]
			for i := range n {
				v := step.scale[e.Row] * step.slopes[first+i][e.Slope] * e.By
				switch e.Rate {
				case 0:
					m.Add(row+i, column+i, v)
				case 1:
					for k := range n {
						m.Add(row+i, column+k, v*rates[first+i][first+k]/h)
					}
				default:
					for k := range n {
						m.Add(row+i, column+k, v*seconds[first+i][first+k]/(h*h))
					}
				}
			}
		}
		if !m.Factor() {
			return errNotSolved
		}
		step.matrices = append(step.matrices, m)
	}
	return nil
}

// solve replaces x (rows, stages, Stepped) by the values (columns, stages, Stepped), with memory for as many numbers; transposed it is the transpose of that.
func (s *radauStep) solve(x, memory []float64, transposed bool) {
	solve := (*band.Matrix).SolveMany
	if transposed {
		solve = (*band.Matrix).SolveTransposedMany
	}
	if !s.same {
		solve(s.matrices[0], x)
		return
	}
	before, after := joining, splitting
	if transposed {
		before, after = transpose(splitting), transpose(joining)
	}
	n := len(x) / stages // of the first block, which has a stage
	for row := range n / Stepped {
		from := x[row*stages*Stepped:][:stages*Stepped]
		to := [stages][]float64{memory[row*Stepped:][:Stepped], memory[n+2*row*Stepped:][:Stepped], memory[n+(2*row+1)*Stepped:][:Stepped]}
		for i := range stages {
			for j := range Stepped {
				to[i][j] = before[i][0]*from[j] + before[i][1]*from[Stepped+j] + before[i][2]*from[2*Stepped+j]
			}
		}
	}
	solve(s.matrices[0], memory[:n])
	solve(s.matrices[1], memory[n:len(x)])
	for row := range n / Stepped {
		to := x[row*stages*Stepped:][:stages*Stepped]
		from := [stages][]float64{memory[row*Stepped:][:Stepped], memory[n+2*row*Stepped:][:Stepped], memory[n+(2*row+1)*Stepped:][:Stepped]}
		for i := range stages {
			for j := range Stepped {
				to[i*Stepped+j] = after[i][0]*from[0][j] + after[i][1]*from[1][j] + after[i][2]*from[2][j]
			}
		}
	}
}

// NewStepping implements LinearSolver.
func (r *Radau) NewStepping() *Stepping {
	n := len(r.Columns) * Stepped
	return &Stepping{
		b: make([]float64, r.Times*n), bbar: make([]float64, r.Times*n), y: make([]float64, stages*n), next: make([]float64, stages*n), field: make([]float64, stages*n),
	}
}

// slices visits those of all unknowns at a time.
func (r *Radau) slices(values []float64, time int, visit Slices) {
	width := r.Points * Stepped
	for c := range r.rates {
		visit(c, time, values[c*width:][:width])
	}
}

// Apply implements LinearSolver.
func (r *Radau) Apply(w *Stepping, transposed bool, load, store Slices) {
	all := len(r.Columns) * Stepped
	for time := range r.Times {
		r.slices(w.b[time*all:], time, load)
	}
	clear(w.y)
	if transposed {
		r.backward(w)
		for time := range r.Times {
			r.slices(w.bbar[time*all:], time, store)
		}
		return
	}
	r.march(w, nil, store, func(stage, node int, by float64, step *radauStep) {
		b := w.b[node*all:]
		for _, s := range r.Sources {
			kernel.Axpy64(w.next[(stages*s.Row+stage)*Stepped:][:Stepped], by*step.load[s.Row]*s.By, b[s.Value*Stepped:][:Stepped])
		}
	})
}

// march goes from w.y, whose values are those at the first time, to all others; force adds to w.next what rows are to be at a stage, of their value at a time, times a factor.
func (r *Radau) march(w *Stepping, base []float64, store Slices, force func(stage, node int, by float64, step *radauStep)) {
	width := r.Points * Stepped
	for c, order := range r.Orders {
		if order > 0 {
			r.hand(w, base, c, 0, store)
		}
	}
	if step := r.begin; step != nil {
		step.predict.multiply(w.next, w.y)
		for i := range stages {
			force(i, 0, 1, step)
		}
		step.solve(w.next, w.field, false)
		for c, order := range r.Orders {
			if order > 0 {
				continue
			}
			if r.rates[c] > 0 {
				r.last(w, c, w.y[r.first[c]*width:][:width])
			}
			r.hand(w, base, c, 0, store)
		}
	}
	for time := 1; time < r.Times; time++ {
		step := r.steps[time-1]
		step.predict.multiply(w.next, w.y)
		first, place := window(time, r.nodes, r.Times)
		for i := range stages {
			for k, by := range r.weights[place][i] {
				if by != 0 {
					force(i, first+k, by, step)
				}
			}
		}
		step.solve(w.next, w.field, false)
		for c, order := range r.rates {
			if order == 0 {
				continue
			}
			y := w.y[r.first[c]*width:]
			for p := range r.Points {
				z := w.next[stages*r.Columns[c*r.Points+p]*Stepped:][:stages*Stepped]
				u := y[p*Stepped:][:Stepped]
				if order == 2 {
					v := y[width+p*Stepped:][:Stepped]
					kernel.Add64(u, u, v)
					for k, by := range stageRates[stages-1] {
						kernel.Axpy64(v, by, z[k*Stepped:][:Stepped])
					}
				}
				kernel.Add64(u, u, z[(stages-1)*Stepped:])
			}
		}
		for c := range r.rates {
			r.hand(w, base, c, time, store)
		}
	}
}

// last copies the values of an unknown at the last stage.
func (r *Radau) last(w *Stepping, unknown int, to []float64) {
	for p := range r.Points {
		copy(to[p*Stepped:][:Stepped], w.next[(stages*r.Columns[unknown*r.Points+p]+stages-1)*Stepped:])
	}
}

// hand gives the values of an unknown, of the state or, without a derivative in time, of the last stage, to store, with those of the base.
func (r *Radau) hand(w *Stepping, base []float64, unknown, time int, store Slices) {
	width := r.Points * Stepped
	values := w.field[:width]
	if r.rates[unknown] > 0 {
		copy(values, w.y[r.first[unknown]*width:])
	} else {
		r.last(w, unknown, values)
	}
	if base != nil {
		addToAll(values, base[unknown*r.Points:][:r.Points], 1)
	}
	store(unknown, time, values)
}

// backward sets w.bbar to the transpose of Apply of w.b; w.y is zero.
func (r *Radau) backward(w *Stepping) {
	width, all := r.Points*Stepped, len(r.Columns)*Stepped
	clear(w.bbar)
	for time := r.Times - 1; time > 0; time-- {
		step := r.steps[time-1]
		g := w.b[time*all:]
		for c, order := range r.rates {
			y := w.y[r.first[c]*width:]
			for p := range r.Points {
				of := g[c*width+p*Stepped:][:Stepped]
				z := w.next[stages*r.Columns[c*r.Points+p]*Stepped:][:stages*Stepped]
				clear(z)
				last := z[(stages-1)*Stepped:]
				if order == 0 {
					copy(last, of)
					continue
				}
				u := y[p*Stepped:][:Stepped]
				kernel.Add64(u, u, of)
				if order == 2 {
					v := y[width+p*Stepped:][:Stepped]
					for k, by := range stageRates[stages-1] {
						kernel.Axpy64(z[k*Stepped:][:Stepped], by, v)
					}
					kernel.Add64(v, v, u)
				}
				kernel.Add64(last, last, u)
			}
		}
		step.solve(w.next, w.field, true)
		first, place := window(time, r.nodes, r.Times)
		for i := range stages {
			for k, by := range r.weights[place][i] {
				r.forceTransposed(w, i, first+k, by, step)
			}
		}
		step.predictT.multiply(w.field, w.next)
		kernel.Add64(w.y, w.y, w.field)
	}
	if step := r.begin; step != nil {
		clear(w.next)
		for c, order := range r.Orders {
			for p := range r.Points {
				if order > 0 {
					continue
				}
				last := w.next[(stages*r.Columns[c*r.Points+p]+stages-1)*Stepped:][:Stepped]
				copy(last, w.b[c*width+p*Stepped:])
				if r.rates[c] > 0 {
					kernel.Add64(last, last, w.y[r.first[c]*width+p*Stepped:])
				}
			}
		}
		step.solve(w.next, w.field, true)
		for i := range stages {
			r.forceTransposed(w, i, 0, 1, step)
		}
	}
}

// forceTransposed adds to w.bbar at a time what the transpose of the sources makes of w.next at a stage, times a factor.
func (r *Radau) forceTransposed(w *Stepping, stage, time int, by float64, step *radauStep) {
	if by == 0 {
		return
	}
	b := w.bbar[time*len(r.Columns)*Stepped:]
	for _, s := range r.Sources {
		kernel.Axpy64(b[s.Value*Stepped:][:Stepped], by*step.load[s.Row]*s.By, w.next[(stages*s.Row+stage)*Stepped:][:Stepped])
	}
}

// Begin implements LinearSolver.
func (r *Radau) Begin(w *Stepping, y []float64, store Slices) {
	clear(w.y)
	width := r.Points * Stepped
	for c := range r.Orders {
		by := 1.0
		for k, of := 0, r.Of(y, c); len(of) > 0; k, of = k+1, of[r.Points:] {
			to := w.y[(r.first[c]+k)*width:]
			addToAll(to, of[:r.Points], by)
			if k == 0 && r.Base != nil {
				addToAll(to, r.Base[c*r.Points:][:r.Points], -1)
			}
			by *= r.Step
		}
	}
	rows := len(r.Columns)
	r.march(w, r.Base, store, func(stage, node int, by float64, step *radauStep) {
		if r.Data == nil {
			return
		}
		for row, v := range r.Data[node*rows:][:rows] {
			v *= by * step.load[row]
			at := (*[Stepped]float64)(w.next[(stages*row+stage)*Stepped:])
			for j := range at {
				at[j] += v
			}
		}
	})
}

// Of implements LinearSolver.
func (r *Radau) Of(y []float64, unknown int) []float64 {
	first := 0
	for _, order := range r.Orders[:unknown] {
		first += order
	}
	return y[first*r.Points:][:r.Orders[unknown]*r.Points]
}

// Work implements LinearSolver.
func (r *Radau) Work() float64 {
	sum := 0.0
	for _, step := range r.steps {
		for _, m := range step.matrices {
			sum += m.Work()
		}
		sum += float64(len(step.predict.rows.Coef)) + float64(stages*r.nodes*len(r.Sources))
	}
	return sum
}

// Growth implements LinearSolver. Of several unknowns it is that in the units of them in which it is least.
func (r *Radau) Growth(random *rand.Rand) float64 {
	n := r.Points
	var begun []int // unknowns
	state := 0
	for c, order := range r.Orders {
		if state += order * n; order > 0 {
			begun = append(begun, c)
		}
	}
	free := *r
	free.Data, free.Base = nil, nil
	w := r.NewStepping()
	grown := make([][]float64, len(begun)) // of each unknown, by what another begins with
	for i := range grown {
		grown[i] = make([]float64, len(begun))
	}
	at := 0
	for j, from := range begun {
		y, size := make([]float64, state), 0.0
		for p := range n {
			v := random.NormFloat64()
			y[at+p], size = v, size+v*v
		}
		at += r.Orders[from] * n
		sums := make([][]float64, len(begun))
		for i := range sums {
			sums[i] = make([]float64, r.Times)
		}
		free.Begin(w, y, func(unknown, time int, values []float64) {
			i := slices.Index(begun, unknown)
			for p := 0; i >= 0 && p < n; p++ {
				sums[i][time] += values[p*Stepped] * values[p*Stepped]
			}
		})
		for i, all := range sums {
			for _, v := range all {
				if math.IsNaN(v) {
					return v
				}
				grown[i][j] = max(grown[i][j], math.Sqrt(v/size))
			}
		}
	}
	return perron(grown)
}

// perron is the largest eigenvalue of a matrix of numbers that are not negative: its norm where rows and columns are scaled so that this is least. The identity is
// added while it is looked for, so that powers converge.
func perron(matrix [][]float64) float64 {
	const powers = 200
	x, value := slices.Repeat([]float64{1}, len(matrix)), 0.0
	for range powers {
		next := slices.Clone(x)
		for i, row := range matrix {
			for j, v := range row {
				next[i] += v * x[j]
			}
		}
		if value = slices.Max(next); !(value < math.Inf(1)) {
			return value
		}
		for i, v := range next {
			x[i] = v / value
		}
	}
	return value - 1
}
