package constraint

import (
	"math"

	"pihc/internal/kernel"
	"pihc/pde"
)

// chunkRows is the number of rows whose sums are formed together. Chunks, not
// workers, fix the order of every reduction.
const chunkRows = 2048

// rowBlock is one set of rows as one solve sees it: at m points, the linear
// map from w to the set's terms, z_j = c_j + A_j w.
type rowBlock struct {
	set    *pde.RowSet
	points []int32     // m
	scale  float64     // multiplies r², F_j F_k, ...: weight² or weight²/m
	a      [][]float64 // per term (m, n) point-major: rows of A_j
	a32    [][]float32 // or these, if single: nil for terms merged into another
	single bool
	c      [][]float64 // per term (m): affine part, nil where zero
	extras [][]float64 // per extra (m)

	// For affine sets the sums are formed once: ½‖r‖² = half + lin·w + ½ wᵀ gram w.
	gram, lin []float64
	half      float64

	constants   [][]float64 // backing of c, per term
	fieldOffset []float64   // scratch
}

func newRowBlock(set *pde.RowSet, m, n int) *rowBlock {
	b := &rowBlock{set: set, points: make([]int32, m), scale: 1}
	for range set.Terms {
		b.constants = append(b.constants, make([]float64, m))
	}
	b.a, b.a32 = make([][]float64, len(set.Terms)), make([][]float32, len(set.Terms))
	b.c = make([][]float64, len(set.Terms))
	for range set.Extras {
		b.extras = append(b.extras, make([]float64, m))
	}
	if set.Linear {
		b.gram, b.lin = make([]float64, n*n), make([]float64, n)
	}
	return b
}

// makeRows allocates the rows in the precision asked for, where they are not there.
func (b *rowBlock) makeRows(c *Constraint, single bool) {
	n := c.N
	b.single = single
	for j, t := range b.set.Terms {
		switch {
		case single && b.a32[j] == nil && c.merged[t] < 0:
			b.a32[j] = make([]float32, len(b.points)*n)
		case !single && b.a[j] == nil:
			b.a[j] = make([]float64, len(b.points)*n)
		}
	}
}

// partial holds the sums over one chunk of rows.
type partial struct {
	gram, grad []float64 // JᵀJ (lower triangle), Jᵀr
	curv       []float64 // C = Σ r_i∇²r_i (lower triangle), of float32 rows G with C = G + Gᵀ
	cost       float64
}

func newPartial(n int) partial {
	return partial{gram: make([]float64, n*n), grad: make([]float64, n), curv: make([]float64, n*n)}
}

func (p *partial) clear() {
	clear(p.gram)
	clear(p.grad)
	clear(p.curv)
	p.cost = 0
}

// scratch is one worker's memory for passes over blocks of rows.
type scratch struct {
	z, y     [][]float64 // per term, pde.BlockSize
	out      [][]float64 // program outputs
	s        [][]float64 // S_jk
	in, view [][]float64
	aview    [][]float64
	aview32  [][]float32
	sview    [][]float64
	fma      []float64 // kernel scratch
	summary  partial
}

// passMode says what a pass over rows accumulates.
type passMode int

const (
	passCost passMode = iota
	passNormal
	passCurvature
	passHessian // both
)

func (m passMode) normal() bool    { return m == passNormal || m == passHessian }
func (m passMode) curvature() bool { return m == passCurvature || m == passHessian }

func newScratch(terms, extras, outputs, n int) *scratch {
	block := func(count int) [][]float64 {
		flat := make([]float64, count*pde.BlockSize)
		b := make([][]float64, count)
		for i := range b {
			b[i] = flat[i*pde.BlockSize : (i+1)*pde.BlockSize : (i+1)*pde.BlockSize]
		}
		return b
	}
	return &scratch{
		z: block(terms), y: block(terms), out: block(outputs), s: block(terms * terms),
		in: make([][]float64, terms+extras), view: make([][]float64, outputs),
		aview: make([][]float64, terms), aview32: make([][]float32, terms), sview: make([][]float64, terms*terms),
		fma: make([]float64, kernel.NormalScratch32(n)), summary: newPartial(n),
	}
}

// bind points the scratch inputs of rows [lo, hi) at z (computed at w) and the
// extras.
func (b *rowBlock) bind(sc *scratch, w []float64, lo, hi int) {
	n, m := len(w), hi-lo
	for j := range b.a {
		z := sc.z[j][:m]
		switch {
		case b.merged(j):
			sc.aview32[j] = nil
		case b.single:
			sc.aview32[j] = b.a32[j][lo*n : hi*n]
		default:
			sc.aview[j] = b.a[j][lo*n : hi*n]
		}
		b.product(z, sc, j, m, w)
		if c := b.c[j]; c != nil {
			kernel.Axpy64(z, 1, c[lo:hi])
		}
		sc.in[j] = z
	}
	for e, x := range b.extras {
		sc.in[len(b.a)+e] = x[lo:hi]
	}
}

// merged says that the rows of term j are in those of another: A_j w is left out
// of z_j then, and the other term's has it.
func (b *rowBlock) merged(j int) bool { return b.single && b.a32[j] == nil }

// product sets z to A_j v of the rows bound.
func (b *rowBlock) product(z []float64, sc *scratch, j, m int, v []float64) {
	switch {
	case b.merged(j):
		clear(z[:m])
	case b.single:
		kernel.MatVecRows32(z, len(v), m, sc.aview32[j], v, sc.fma)
	default:
		kernel.MatVecRows(z, len(v), m, sc.aview[j], v)
	}
}

func (b *rowBlock) inputs(sc *scratch) [][]float64 { return sc.in[:len(b.a)+len(b.extras)] }

// pass adds the unscaled sums of rows [lo, hi) at w to p.
func (b *rowBlock) pass(p *partial, sc *scratch, progs *programs, mode passMode, w []float64, lo, hi int) {
	n := len(w)
	for ; lo < hi; lo += pde.BlockSize {
		m := min(pde.BlockSize, hi-lo)
		b.bind(sc, w, lo, lo+m)
		switch mode {
		case passCost:
			b.set.Value().Eval(progs.value, m, sc.out[:1], b.inputs(sc))
		case passNormal:
			b.set.First().Eval(progs.first, m, sc.out[:1+len(b.a)], b.inputs(sc))
		default:
			b.set.Second().Eval(progs.second, m, sc.out[:b.set.Outputs()], b.inputs(sc))
		}
		r := sc.out[0][:m]
		p.cost += 0.5 * kernel.SumSquares64(r)
		if mode.normal() {
			for j := range b.a {
				sc.view[j] = sc.out[1+j][:m]
				if b.merged(j) {
					sc.view[j] = nil
				}
			}
			if b.single {
				kernel.AccumulateNormal32(p.gram, p.grad, n, m, sc.view[:len(b.a)], sc.aview32[:len(b.a)], r, sc.fma)
			} else {
				kernel.AccumulateNormal(p.gram, p.grad, n, m, sc.view[:len(b.a)], sc.aview[:len(b.a)], r, sc.fma)
			}
		}
		if mode.curvature() {
			if b.single {
				kernel.AccumulateCurvature32(p.curv, n, m, b.curvature(sc, m), sc.aview32[:len(b.a)], sc.fma)
			} else {
				kernel.AccumulateHessian(p.curv, n, m, b.curvature(sc, m), sc.aview[:len(b.a)], sc.fma)
			}
		}
	}
}

// curvature forms r F_jk of the rows just evaluated, nil where it vanishes; of
// float32 rows half of r F_jj.
func (b *rowBlock) curvature(sc *scratch, m int) [][]float64 {
	terms := len(b.a)
	r := sc.out[0][:m]
	for j := range terms {
		for k := range j + 1 {
			var s []float64
			if at := b.set.Pair(j, k); at >= 0 {
				s = sc.s[j*terms+k][:m]
				kernel.Mul64(s, r, sc.out[at][:m])
				if b.single && j == k {
					kernel.MulScalar64(s, 0.5, s)
				}
			}
			sc.sview[j*terms+k], sc.sview[k*terms+j] = s, s
		}
	}
	return sc.sview[:terms*terms]
}

// programs are one worker's workspaces for one set's programs.
type programs struct{ value, first, second *pde.Workspace }

func newPrograms(set *pde.RowSet) *programs {
	return &programs{set.Value().NewWorkspace(), set.First().NewWorkspace(), set.Second().NewWorkspace()}
}

// summarise forms the constant sums of an affine set.
func (b *rowBlock) summarise(p *partial, sc *scratch, progs *programs, zero []float64) {
	p.clear()
	b.pass(p, sc, progs, passNormal, zero, 0, len(b.points))
	kernel.Symmetrize(p.gram, len(zero))
	copy(b.gram, p.gram)
	copy(b.lin, p.grad)
	b.half = p.cost
}

// addLinear adds the sums of a summarised affine set at w: returns ½‖r‖², and
// adds to a and g when g is not nil.
func (b *rowBlock) addLinear(a, g, w []float64) float64 {
	n := len(w)
	cost := b.half
	for i := range n {
		row := kernel.Dot(b.gram[i*n:(i+1)*n], w)
		cost += w[i] * (b.lin[i] + 0.5*row)
		if g != nil {
			g[i] += b.scale * (b.lin[i] + row)
			kernel.Axpy64(a[i*n:(i+1)*n], b.scale, b.gram[i*n:(i+1)*n])
		}
	}
	return b.scale * math.Max(cost, 0)
}

// adjointRows fills s[j] = −scale Σ_l (F_j F_l + r F_jl) A_l λ and
// q[j] = −scale r F_j for rows [lo, hi) at w; in paper mode s_j = −scale F_j (Jλ)
// and q = 0. The signs are those with which the rows enter α and β.
func (b *rowBlock) adjointRows(s, q [][]float64, sc *scratch, progs *programs, paper bool, w, lambda []float64, lo, hi int) {
	terms := len(b.a)
	for ; lo < hi; lo += pde.BlockSize {
		m := min(pde.BlockSize, hi-lo)
		b.bind(sc, w, lo, lo+m)
		b.set.Second().Eval(progs.second, m, sc.out[:b.set.Outputs()], b.inputs(sc))
		r := sc.out[0][:m]
		jl, tmp := sc.s[0][:m], sc.fma[:m] // Jλ
		for j := range terms {
			y := sc.y[j][:m]
			b.product(y, sc, j, m, lambda)
			if j == 0 {
				kernel.Mul64(jl, sc.out[1][:m], y)
				continue
			}
			kernel.Mul64(tmp, sc.out[1+j][:m], y)
			kernel.Add64(jl, jl, tmp)
		}
		for j := range terms {
			fj, sj, qj := sc.out[1+j][:m], s[j][lo:lo+m], q[j][lo:lo+m]
			kernel.Mul64(qj, r, fj)
			kernel.MulScalar64(qj, -b.scale, qj)
			kernel.Mul64(sj, fj, jl)
			for l := range terms {
				if at := b.set.Pair(j, l); at >= 0 && !paper {
					kernel.Mul64(tmp, r, sc.out[at][:m])
					kernel.Mul64(tmp, tmp, sc.y[l][:m])
					kernel.Add64(sj, sj, tmp)
				}
			}
			kernel.MulScalar64(sj, -b.scale, sj)
			if paper {
				clear(qj)
			}
		}
	}
}
