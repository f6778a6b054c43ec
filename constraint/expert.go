package constraint

import (
	"math"

	"pihc/internal/kernel"
	"pihc/lm"
)

// expert is one least-squares problem: the rows of one subdomain.
type expert struct {
	index  int
	blocks []*rowBlock // one per set of rows; shared ones belong to the Sample
	own    []bool      // whether blocks[i] is this expert's alone

	w, wbar, lambda []float64
	solver          *lm.Solver
	result          lm.Result
	adjoint         lm.FactorStatus
	s, q            [][][]float64 // per block, per term: adjoint rows
	alpha           []float64     // (P): 1_{Ω_k} ū (+ border part) − p_k
	beta            []float64     // (P): −q_k

	partials  []partial
	chunks    []chunk // of the sets that are not affine
	rowChunks []chunk // of all sets
	sample    *Sample
	parallel  bool // chunks go to the pool: this is the only solve running

	// state of the evaluation in progress
	mode              passMode
	at                []float64
	task, adjointTask func(worker, i int)
}

// chunk is a range of rows of one block.
type chunk struct{ block, lo, hi int }

func newExpert(s *Sample, index int) *expert {
	c := s.c
	n := c.N
	e := &expert{
		index: index, sample: s,
		w: make([]float64, n), wbar: make([]float64, n), lambda: make([]float64, n),
		solver: lm.NewSolver(n, c.Options.Solver),
	}
	e.task = func(worker, i int) { e.runChunk(worker, i) }
	e.adjointTask = func(worker, i int) { e.runAdjointChunk(worker, i) }
	return e
}

func (e *expert) add(b *rowBlock, own bool) {
	i := len(e.blocks)
	e.blocks, e.own = append(e.blocks, b), append(e.own, own)
	for lo := 0; lo < len(b.points); lo += chunkRows {
		e.rowChunks = append(e.rowChunks, chunk{i, lo, min(lo+chunkRows, len(b.points))})
	}
	if !b.set.Linear {
		for lo := 0; lo < len(b.points); lo += chunkRows {
			e.chunks = append(e.chunks, chunk{i, lo, min(lo+chunkRows, len(b.points))})
			n := e.sample.c.N
			e.partials = append(e.partials, newPartial(n))
		}
	}
	var s, q [][]float64
	for range b.set.Terms {
		s = append(s, make([]float64, len(b.points)))
		q = append(q, make([]float64, len(b.points)))
	}
	e.s, e.q = append(e.s, s), append(e.q, q)
}

func (e *expert) runChunk(worker, i int) {
	ch, p := e.chunks[i], &e.partials[i]
	p.clear()
	sc := e.sample.scratch[worker]
	e.blocks[ch.block].pass(p, sc, e.sample.programs[worker][ch.block], e.mode, e.at, ch.lo, ch.hi)
}

// evaluate runs all chunks at w and reduces them in order: a and g get the normal
// equations and c the curvature Σ r_i∇²r_i, as far as the mode asks for them.
func (e *expert) evaluate(a, c, g, w []float64, mode passMode) float64 {
	n := len(w)
	e.mode, e.at = mode, w
	if e.parallel {
		e.sample.c.pool.Run(len(e.chunks), e.task)
	} else {
		for i := range e.chunks {
			e.runChunk(e.worker(), i)
		}
	}
	if mode.normal() {
		clear(a[:n*n])
		clear(g[:n])
	}
	if mode.curvature() {
		clear(c[:n*n])
	}
	var cost float64
	for i := range e.chunks {
		p := &e.partials[i]
		scale := e.blocks[e.chunks[i].block].scale
		cost += scale * p.cost
		if mode.normal() {
			kernel.Axpy64(g, scale, p.grad)
			kernel.Axpy64(a, scale, p.gram)
		}
		if mode.curvature() {
			kernel.Axpy64(c, scale, p.curv)
		}
	}
	if mode.normal() {
		kernel.Symmetrize(a, n)
	}
	switch {
	case !mode.curvature():
	case e.sample.single:
		kernel.AddTranspose(c, n)
	default:
		kernel.Symmetrize(c, n)
	}
	for _, b := range e.blocks {
		if !b.set.Linear {
			continue
		}
		if mode.normal() {
			cost += b.addLinear(a, g, w)
		} else {
			cost += b.addLinear(nil, nil, w)
		}
	}
	return cost
}

// Dim, Normal and HessianParts make an expert an lm.SecondOrder problem.
func (e *expert) Dim() int { return len(e.w) }

func (e *expert) Normal(a, g, w []float64) float64 {
	if g == nil {
		return e.evaluate(nil, nil, nil, w, passCost)
	}
	return e.evaluate(a, nil, g, w, passNormal)
}

func (e *expert) HessianParts(a, c, g, w []float64) float64 {
	if g == nil {
		return e.evaluate(nil, c, nil, w, passCurvature)
	}
	return e.evaluate(a, c, g, w, passHessian)
}

func (e *expert) worker() int { return e.sample.workerOf[e.index] }

// solve finds ω_k; it runs on one worker unless e.parallel.
func (e *expert) solve() {
	o := &e.sample.c.Options
	for i := range e.w {
		e.w[i] = o.Start
	}
	if o.Fixed {
		return
	}
	e.result = e.solver.Solve(e, e.w)
}

// adjointSolve finds λ_k from ω̄_k and the adjoint rows s, q of every block.
func (e *expert) adjointSolve() {
	o := &e.sample.c.Options
	e.adjoint = e.solver.FactorSolution(e, e.w, o.Adjoint)
	e.solver.SolveAdjoint(e.lambda, e.wbar)
	if e.parallel {
		e.sample.c.pool.Run(len(e.rowChunks), e.adjointTask)
		return
	}
	for i := range e.rowChunks {
		e.runAdjointChunk(e.worker(), i)
	}
}

func (e *expert) runAdjointChunk(worker, i int) {
	ch := e.rowChunks[i]
	e.blocks[ch.block].adjointRows(e.s[ch.block], e.q[ch.block], e.sample.scratch[worker], e.sample.programs[worker][ch.block],
		e.sample.c.Options.Adjoint == lm.AdjointPaper, e.w, e.lambda, ch.lo, ch.hi)
}

// Outcome tells how one expert's solve ended.
type Outcome struct {
	lm.Result
	Adjoint lm.FactorStatus
	// ConstraintRMS is the root mean square of the sampled residual rows at the
	// solution, in the PDE file's weighting.
	ConstraintRMS float64
}

func (e *expert) outcome() Outcome {
	out := Outcome{Result: e.result, Adjoint: e.adjoint}
	if e.sample.c.Options.Fixed || len(e.blocks) == 0 {
		return out
	}
	b := e.blocks[0]
	cost := 0.0
	if b.set.Linear {
		cost = b.addLinear(nil, nil, e.w) / b.scale
	} else {
		e.mode, e.at = passCost, e.w
		for i, ch := range e.chunks {
			if ch.block == 0 {
				e.runChunk(e.worker(), i)
				cost += e.partials[i].cost
			}
		}
	}
	out.ConstraintRMS = math.Sqrt(2 * cost / float64(len(b.points)))
	return out
}

var _ lm.SecondOrder = (*expert)(nil)
