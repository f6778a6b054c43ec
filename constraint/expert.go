package constraint

import (
	"slices"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/lm"
	"pihc/pde"
)

// expert is one least-squares problem: the rows of one subdomain.
type expert struct {
	index  int
	blocks []*block // one per set of rows, in the System's order; conditions may be shared
	curved []chunk  // of the sets that are not affine
	coarse []chunk  // an eighth of them where there are many, to begin with
	chunks []chunk  // of all sets
	sums   []sums   // per curved chunk
	merged []int32  // scratch of as many points as are sampled

	omega   []float64
	result  lm.Result
	solver  *lm.Solver
	starter *lm.Solver // of the coarse rows; nil: not used

	omegaBar, lambda []float64
	adjoint          lm.Hessian
	s, q             []grid.Rows[float64] // per block: adjoint rows
}

// chunk is a range of rows of one block, whose sums count that many times.
type chunk struct {
	block, lo, hi int
	times         float64
}

// CoarseRows returns the rows, of so many residual rows of one expert, that a solve
// starts on, and how often each counts; none where it starts on all. They are the
// first kernel.BlockSize of every chunk.
func (c *Constraint) CoarseRows(set *pde.RowSet, rows int) (chosen []int32, times float64) {
	if !startsOnFew(set, rows) {
		return nil, 1
	}
	for lo := 0; lo < rows; lo += chunkRows {
		for i := lo; i < min(lo+kernel.BlockSize, rows); i++ {
			chosen = append(chosen, int32(i))
		}
	}
	return chosen, float64(rows) / float64(len(chosen))
}

// startsOnFew reports whether a solve with so many rows of a residual starts on a part of them.
func startsOnFew(set *pde.RowSet, rows int) bool { return rows >= coarseRows && !set.Linear }

// coarseRows is the least number of residual rows of which an eighth starts a solve:
// kernel.BlockSize of every chunk.
const coarseRows = 8 * chunkRows

// CoarseOptions are those of the solve on CoarseRows.
func (c *Constraint) CoarseOptions() lm.Options {
	o := c.Options.Solver
	o.FTol, o.NewtonCorrection = coarseFTol, false
	return o
}

// coarseFTol is the reduction of the cost, relative to it, that ends the solve on an
// eighth of the rows: further on it follows what they do not share with the others.
const coarseFTol = 1e-3

func (s *Workspace) newExpert(index int, blocks []*block) *expert {
	n := s.c.N
	e := &expert{
		index: index, blocks: blocks, solver: lm.NewSolver(n, s.c.Options.Solver),
		omega: make([]float64, n), omegaBar: make([]float64, n), lambda: make([]float64, n),
	}
	for _, b := range blocks {
		e.s, e.q = append(e.s, b.NewValues()), append(e.q, b.NewValues())
		if b.Set.Kind == pde.ResidualRows {
			e.merged = slices.Grow(e.merged, b.count)[:max(len(e.merged), b.count)]
			if startsOnFew(b.Set, b.count) {
				e.starter = lm.NewSolver(s.c.N, s.c.CoarseOptions())
			}
		}
	}
	e.divide()
	chunks := len(e.curved)
	if s.c.System.Slab != nil {
		chunks += len(blocks) // own rows may begin in the middle of one
	}
	for range chunks {
		e.sums = append(e.sums, newSums(n))
	}
	return e
}

// divide makes the chunks of the rows there are, and chooses the first part of each of those
// of residuals that have enough rows, and all others: the problem whose solution starts the
// solve.
func (e *expert) divide() {
	e.chunks, e.curved, e.coarse = e.chunks[:0], e.curved[:0], e.coarse[:0]
	for i, b := range e.blocks {
		few := b.Set.Kind == pde.ResidualRows && startsOnFew(b.Set, b.count)
		for lo := -b.phase; lo < len(b.Points); lo += chunkRows {
			ch := chunk{i, max(lo, 0), min(lo+chunkRows, len(b.Points)), 1}
			e.chunks = append(e.chunks, ch)
			if b.Set.Linear {
				continue
			}
			e.curved = append(e.curved, ch)
			if few {
				ch.hi, ch.times = min(lo+kernel.BlockSize, ch.hi), b.times
			}
			if ch.lo < ch.hi {
				e.coarse = append(e.coarse, ch)
			}
		}
	}
}

// residuals are the blocks of the residual rows, which come before all others.
func (e *expert) residuals() []*block {
	n := 0
	for n < len(e.blocks) && e.blocks[n].Set.Kind == pde.ResidualRows {
		n++
	}
	return e.blocks[:n]
}

// problem is the least squares of one expert, as package lm sees it, while one worker
// solves it.
type problem struct {
	*expert
	workspace *Workspace
	worker    int
	rows      []chunk // of the sets that are not affine
}

// run does n tasks on the pool, where this is the only solve running, or on its worker.
func (p problem) run(n int, task func(worker, i int)) {
	if p.workspace.together() {
		p.workspace.c.pool.Run(n, task)
		return
	}
	for i := range n {
		task(p.worker, i)
	}
}

// evaluate returns the cost at ω; a and g get the normal equations and c the curvature
// Σ r_i∇²r_i, as far as they are wanted.
func (p problem) evaluate(a, c, g, omega []float64, want wanted) float64 {
	n, s := len(omega), p.workspace
	p.run(len(p.rows), func(worker, i int) {
		ch := p.rows[i]
		p.sums[i].clear()
		s.pass(&p.sums[i], s.workers[worker], p.blocks[ch.block], want, omega, ch.lo, ch.hi)
	})
	if !want.normal {
		a, g = nil, nil
	}
	if !want.curvature {
		c = nil
	}
	for _, sum := range [][]float64{a, c, g} {
		clear(sum)
	}
	var cost float64
	for i, ch := range p.rows {
		sums, scale := &p.sums[i], ch.times*p.blocks[ch.block].scale
		cost += scale * sums.cost
		if want.normal {
			kernel.Axpy64(g, scale, sums.grad)
			kernel.Axpy64(a, scale, sums.gram)
		}
		if want.curvature {
			kernel.Axpy64(c, scale, sums.curvature)
		}
	}
	if s.c.System.Slab != nil {
		total := []float64{cost}
		s.sum(total, a, g, c)
		cost = total[0]
	}
	if want.normal {
		kernel.Symmetrize(a, n)
	}
	if want.curvature {
		s.store.completeCurvature(c)
	}
	for _, b := range p.blocks {
		if b.Set.Linear {
			cost += b.addAffine(a, g, omega)
		}
	}
	return cost
}

// Dim, Normal and HessianParts make it an lm.SecondOrder.
func (p problem) Dim() int { return len(p.omega) }

func (p problem) Normal(a, g, omega []float64) float64 {
	return p.evaluate(a, nil, g, omega, wanted{normal: g != nil})
}

func (p problem) HessianParts(a, c, g, omega []float64) float64 {
	return p.evaluate(a, c, g, omega, wanted{g != nil, true})
}

// solve finds ω_k. Where there are many rows, the first iterations are on an eighth of
// them; those that count are on all.
func (p problem) solve() {
	start := func() {
		for i := range p.omega {
			p.omega[i] = p.workspace.c.Options.Start
		}
	}
	start()
	if p.starter != nil {
		few := p
		few.rows = p.coarse
		if p.starter.Solve(few, p.omega).Status.Early() {
			start()
		}
	}
	var rows lm.Problem = p
	if p.workspace.draft {
		rows = draft{p}
	}
	p.result = p.solver.Solve(rows, p.omega)
}

// draft is a problem without second derivatives, which solves leave uncorrected.
type draft struct{ problem lm.Problem }

// Dim and Normal make it an lm.Problem.
func (d draft) Dim() int { return d.problem.Dim() }

func (d draft) Normal(a, g, omega []float64) float64 { return d.problem.Normal(a, g, omega) }

// adjointSolve finds λ_k from ω̄_k, and the adjoint rows s, q of every block.
func (p problem) adjointSolve() {
	s, o := p.workspace, &p.workspace.c.Options
	p.adjoint = p.solver.FactorSolution(p, p.omega, o.Adjoint)
	p.solver.SolveAdjoint(p.lambda, p.omegaBar)
	p.run(len(p.chunks), func(worker, i int) {
		ch := p.chunks[i]
		s.adjointRows(p.s[ch.block].Values, p.q[ch.block].Values, s.workers[worker], p.blocks[ch.block], o.PaperAdjoint, p.omega, p.lambda, ch.lo, ch.hi)
	})
}

// Outcome tells how one expert's solve ended.
type Outcome struct {
	lm.Result
	Adjoint lm.Hessian
	// ConstraintRMS is the root mean square of the sampled residual rows at the
	// solution, in the PDE file's weighting.
	ConstraintRMS float64
}

// Outcomes returns how each expert's solve ended.
func (x Solution) Outcomes() []Outcome {
	s := x.memory
	out, rms := make([]Outcome, len(s.experts)), s.residualRMS()
	for k, e := range s.experts {
		out[k] = Outcome{Result: e.result, Adjoint: e.adjoint, ConstraintRMS: rms[k]}
	}
	return out
}

var _ lm.SecondOrder = problem{}
