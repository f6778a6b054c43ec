package pde

import (
	"slices"

	"pihc/grid"
	"pihc/internal/kernel"
)

// PointRows are the rows of one set at some points, with what their programs read that
// does not depend on the unknown.
type PointRows struct {
	Set    *RowSet
	Points []int32
	// Constants[j] (points) is added to term j: the affine part of its operator, and
	// whatever else does not change. Nil stands for zeros.
	Constants [][]float64
	Extras    [][]float64 // per extra (points)
	System    *System
}

// NewPointRows allocates rows at as many points as given, which Prepare and SetInputs
// complete. The points may be changed before that, and are not copied.
func (s *System) NewPointRows(set *RowSet, points []int32) *PointRows {
	r := &PointRows{Set: set, Points: points, Constants: make([][]float64, len(set.Terms)), System: s}
	for j, t := range set.Terms {
		if s.Terms[t].Affine() {
			r.Constants[j] = make([]float64, len(points))
		}
	}
	for range set.Extras {
		r.Extras = append(r.Extras, make([]float64, len(points)))
	}
	return r
}

// NewValues allocates one value for every row and term.
func (r *PointRows) NewValues() grid.Rows[float64] {
	out := grid.Rows[float64]{Points: r.Points, Operators: r.Set.Terms}
	for range r.Set.Terms {
		out.Values = append(out.Values, make([]float64, len(r.Points)))
	}
	return out
}

// Cut makes the rows those at other points, at most as many as were allocated; Prepare and
// SetInputs complete them.
func (r *PointRows) Cut(points []int32) {
	r.Points = points
	for _, of := range [][][]float64{r.Constants, r.Extras} {
		for j, v := range of {
			if v != nil {
				of[j] = v[:len(points)]
			}
		}
	}
}

// Prepare writes the coordinates of the points to Extras and adds the affine parts of
// the operators to Constants.
func (r *PointRows) Prepare() {
	g := r.System.Grid
	for e, x := range r.Set.Extras {
		if x.Axis < 0 {
			continue
		}
		for i, p := range r.Points {
			r.Extras[e][i] = x.Coordinate(g, int(p))
		}
	}
	for j, t := range r.Set.Terms {
		if op := r.System.Terms[t]; op.Affine() {
			op.AddOffset(r.Constants[j], r.Points)
		}
	}
}

// SetInputs writes the inputs of a sample (InputSize values) at the points to Extras.
func (r *PointRows) SetInputs(inputs []float64) {
	n := int32(r.System.SliceSize())
	for e, x := range r.Set.Extras {
		if x.Axis >= 0 {
			continue
		}
		in, out := &r.System.Inputs[x.Input], r.Extras[e]
		if x.Input < r.System.Problem.Initials() && x.Shift == 0 { // an initial condition, which most rows read
			from := inputs[in.Offset : in.Offset+in.Size]
			for i, p := range r.Points {
				out[i] = from[p%n]
			}
			continue
		}
		for i, p := range r.Points {
			out[i] = inputs[in.At(p, x.Along, x.Shift)]
		}
	}
}

// RowValues evaluates one set of rows at some points, of fields and samples one after another.
type RowValues struct {
	*PointRows
	Terms     grid.Rows[float64] // at the points
	gatherer  *grid.Gatherer
	evaluator *RowEvaluator
}

// NewRowValues prepares the rows of a set at some points.
func (s *System) NewRowValues(set *RowSet, points []int32) *RowValues {
	rows := s.NewPointRows(set, points)
	rows.Prepare()
	return &RowValues{rows, rows.NewValues(), s.NewGatherer(nil), s.NewRowEvaluator(len(points))}
}

// Eval returns the rows of a field (C, P) for the inputs of a sample, and their derivatives up to an
// order, as RowEvaluator.Eval does. They are valid until the next call.
func (v *RowValues) Eval(order int, field, sample []float64) [][]float64 {
	v.SetInputs(sample)
	grid.Gather(v.gatherer, field, 1, []grid.Rows[float64]{v.Terms})
	return v.EvalTerms(order)
}

// EvalTerms is Eval where Terms are there, without their constants, and the sample is set.
func (v *RowValues) EvalTerms(order int) [][]float64 {
	return v.evaluator.Eval(v.PointRows, order, v.Terms.Values, 0, len(v.Points))
}

// An evaluator is one use of a program (expr.Program.Evaluator).
type evaluator = func(n int, out, in [][]float64)

// A RowEvaluator runs the programs of a System, for one goroutine at a time.
type RowEvaluator struct {
	system   *System
	programs [][3]evaluator // per set, per order
	in, out  [][]float64
	views    [][]float64

	offsets []evaluator // of the ansatz's offsets
	begins  []evaluator // of what a Propagator begins with
	first   []float64   // the coordinate along the first axis, on a slice
	inputs  [][]float64 // those that the offsets read, on a slice
}

// NewRowEvaluator makes a RowEvaluator of at most the given number of rows at a time.
func (s *System) NewRowEvaluator(rows int) *RowEvaluator {
	e := &RowEvaluator{system: s, first: make([]float64, s.SliceSize()), inputs: make([][]float64, len(s.Inputs))}
	for _, program := range s.begins {
		e.begins = append(e.begins, program.Evaluator())
	}
	for c, u := range s.Problem.Unknowns {
		e.offsets = append(e.offsets, s.offsets[c].Evaluator())
		for i, in := range s.Inputs {
			if i >= s.Problem.Initials() && u.Ansatz.Offset.DependsOn(in.Name) {
				e.inputs[i] = make([]float64, s.SliceSize())
			}
		}
	}
	inputs, outputs := len(s.Grid.Axes)+len(s.Inputs), 1
	for _, set := range s.Sets {
		var programs [3]evaluator
		for order, p := range set.programs {
			programs[order] = p.Evaluator()
		}
		e.programs = append(e.programs, programs)
		inputs, outputs = max(inputs, len(set.Terms)+len(set.Extras)), max(outputs, set.Program(2).Outputs())
	}
	e.in, e.views = make([][]float64, inputs), make([][]float64, outputs)
	for range outputs {
		e.out = append(e.out, make([]float64, rows))
	}
	return e
}

// Eval evaluates rows [lo, lo+m): z[j] (m) is term j there without its constant, which
// Eval adds to it. It returns r and its derivatives up to the order, as [RowSet.Program]
// lists them; they are valid until the next call.
func (e *RowEvaluator) Eval(r *PointRows, order int, z [][]float64, lo, m int) [][]float64 {
	terms := len(r.Set.Terms)
	for j := range terms {
		if c := r.Constants[j]; c != nil {
			kernel.Axpy64(z[j][:m], 1, c[lo:lo+m])
		}
		e.in[j] = z[j][:m]
	}
	for x, v := range r.Extras {
		e.in[terms+x] = v[lo : lo+m]
	}
	out := e.views[:r.Set.Program(order).Outputs()]
	for i := range out {
		out[i] = e.out[i][:m]
	}
	e.programs[r.Set.index][order](m, out, e.in[:terms+len(r.Extras)])
	return out
}

// Offset writes the ansatz's offset g_0 on one slice along the first axis to dst
// (SliceSize) for the inputs of a sample. Slices are counted through all unknowns.
func (e *RowEvaluator) Offset(dst, initial []float64, slice int) {
	times := e.system.Grid.Axes[0].Points
	e.set(initial, slice%times)
	e.ansatz(e.offsets[slice/times], dst, slice%times)
}

// Begin writes to dst (State, SliceSize) of a Propagator what it begins with where the ansatz has one: the offset at the first time,
// of second order in time with its derivative.
func (e *RowEvaluator) Begin(dst, initial []float64) {
	e.set(initial, 0)
	n := e.system.SliceSize()
	for i, program := range e.begins {
		e.ansatz(program, dst[i*n:(i+1)*n], 0)
	}
}

// set makes the inputs of a sample those that the ansatz reads on a slice.
func (e *RowEvaluator) set(initial []float64, slice int) {
	n, initials := e.system.SliceSize(), e.system.Problem.Initials()
	for i := range initials {
		e.inputs[i] = initial[i*n : (i+1)*n]
	}
	for i, buffer := range e.inputs[initials:] {
		for p := range buffer {
			buffer[p] = initial[e.system.Inputs[initials+i].At(int32(slice*n+p), 0, 0)]
		}
	}
}

// Offset fills a field (C, P), of all slices that are stored, with the ansatz's offset g_0 for the
// inputs of a sample: what a basis of zeros gives.
func (s *System) Offset(field, initial []float64) {
	if s.Problem.duhamel() {
		s.propagated(field, initial)
		return
	}
	s.NewRowEvaluator(1).offset(field, initial)
}

// offset sets a field (C, P) to the offsets that the ansatz states.
func (e *RowEvaluator) offset(field, initial []float64) {
	n := e.system.SliceSize()
	for slice := range len(field) / n {
		e.Offset(field[slice*n:(slice+1)*n], initial, slice)
	}
}

// ansatz runs a program of the coordinates and the inputs on one slice.
func (e *RowEvaluator) ansatz(program evaluator, dst []float64, slice int) {
	t := e.system.Grid.Axes[0].Coordinate(slice)
	for i := range e.first {
		e.first[i] = t
	}
	in := append(e.in[:0], e.first)
	in = append(append(in, e.system.coordinates...), e.inputs...)
	out := append(e.views[:0], dst)
	program(len(dst), out, in)
}

// Multiplier returns the ansatz's multiplier (C, P) on the grid, nil where it is 1
// everywhere.
func (s *System) Multiplier() []float64 {
	if !slices.ContainsFunc(s.Problem.Unknowns, func(u Unknown) bool { return !equals(u.Ansatz.Multiplier, 1) }) {
		return nil
	}
	mu, n, e := make([]float64, s.FieldSize()), s.SliceSize(), s.NewRowEvaluator(1)
	for c, program := range s.multipliers {
		evaluate, own := program.Evaluator(), mu[c*s.Grid.Size():]
		for slice := range s.Grid.Axes[0].Points {
			e.ansatz(evaluate, own[slice*n:(slice+1)*n], slice)
		}
	}
	return mu
}
