package model

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/pde"
)

// lossChunk is the number of rows evaluated together; it fixes the order of
// every sum.
const lossChunk = 4096

// Loss is the loss of a field u on the grid: the residual over the whole grid
// and the conditions, each set of rows with its weight (paper, section 3: "the
// loss is the L2 norm of the PDE residual"; authors' notes Q7, Q8).
//
//	mean-square   L = Σ_s w_s mean(r_s²)
//	norm          L = Σ_s w_s ‖r_s‖₂        (the published code)
//
// Row weights of the PDE file are part of r.
type Loss struct {
	sys     *pde.System
	norm    bool
	weights []float64
	sets    []*lossRows
	tasks   []lossTask
	pool    *kernel.Pool
	scratch []*lossScratch
	u       []float64
	grad    bool
	ubar    []float64
	spread  []float64 // (P): rows on the grid, zero between uses
	run     func(worker, i int)

	// Terms that act on slices by Fourier transforms: their values and their
	// gradients, operator by operator, for all sets of rows at once.
	space             *grid.Spectral // nil without such terms
	values, gradients []grid.SpectralRows
	gather, scatter   func(worker, i int)
}

// lossRows is one set of rows over the grid.
type lossRows struct {
	set    *pde.RowSet
	z, bar [][]float64 // per term (m): values, and r F_j
	offset [][]float64 // per term (m): affine part, nil where zero
	extras [][]float64
	value  []float64 // (m): r, without factor
	factor []float64 // (m): multiplies rows in the loss, nil where 1
	sums   []float64 // Σ (factor r)² per chunk
	plain  []float64 // Σ r² per chunk
}

type lossTask struct{ set, chunk, lo, hi int }

type lossScratch struct {
	first, value []*pde.Workspace // per set
	in, out      [][]float64
	values       [][]float64 // backing of out, lossChunk each
}

// NewLoss prepares the loss; weights by name of the rows, default 1.
func NewLoss(sys *pde.System, spec LossSpec, pool *kernel.Pool) (*Loss, error) {
	l := &Loss{spread: make([]float64, sys.Grid.Size()), sys: sys, norm: spec.Form == "norm", pool: pool}
	names := make([]string, len(sys.Sets))
	for i, set := range sys.Sets {
		names[i] = set.Name
	}
	for name := range spec.Weights {
		if sys.Set(name) == nil {
			return nil, fmt.Errorf("loss weights: no rows are called %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	inputs, outputs := 0, 0
	for i, set := range sys.Sets {
		w := 1.0
		if v, ok := spec.Weights[set.Name]; ok {
			w = v
		}
		l.weights = append(l.weights, w)
		m := len(set.Points)
		r := &lossRows{set: set, offset: make([][]float64, len(set.Terms))}
		for j, t := range set.Terms {
			r.z, r.bar = append(r.z, make([]float64, m)), append(r.bar, make([]float64, m))
			if op := sys.Terms[t]; op.Affine() {
				r.offset[j] = make([]float64, m)
				op.Offset(r.offset[j], set.Points)
			}
		}
		r.value = make([]float64, m)
		for range set.Extras {
			r.extras = append(r.extras, make([]float64, m))
		}
		sys.GatherExtras(set, r.extras, set.Points, make([]float64, sys.InitialSize()))
		for lo := 0; lo < m; lo += lossChunk {
			l.tasks = append(l.tasks, lossTask{i, len(r.sums), lo, min(lo+lossChunk, m)})
			r.sums, r.plain = append(r.sums, 0), append(r.plain, 0)
		}
		l.sets = append(l.sets, r)
		inputs = max(inputs, len(set.Terms)+len(set.Extras))
		outputs = max(outputs, 1+len(set.Terms))
	}
	for range pool.Workers() {
		sc := &lossScratch{in: make([][]float64, inputs), out: make([][]float64, outputs)}
		for range outputs {
			sc.values = append(sc.values, make([]float64, lossChunk))
		}
		for _, set := range sys.Sets {
			sc.first = append(sc.first, set.First().NewWorkspace())
			sc.value = append(sc.value, set.Value().NewWorkspace())
		}
		l.scratch = append(l.scratch, sc)
	}
	l.run = func(worker, i int) { l.evaluate(l.scratch[worker], l.tasks[i]) }
	l.planSpectral()
	return l, nil
}

// planSpectral lists the rows of spectral terms.
func (l *Loss) planSpectral() {
	for t, op := range l.sys.Terms {
		space := grid.SpectralOf(op.Operator)
		if space == nil {
			continue
		}
		l.space = space
		for _, r := range l.sets {
			if j := slices.Index(r.set.Terms, t); j >= 0 {
				l.values = append(l.values, grid.SpectralRows{Operator: op.Operator, Points: r.set.Points, Dst: r.z[j]})
				l.gradients = append(l.gradients, grid.SpectralRows{Operator: op.Operator, Points: r.set.Points, Dst: r.bar[j]})
			}
		}
	}
	l.gather = func(_, i int) { l.space.GatherBlock(i, l.u, l.values) }
	l.scatter = func(_, i int) { l.space.ScatterBlock(i, l.ubar, l.gradients) }
}

// Names returns the names of the sets of rows, the residual first.
func (l *Loss) Names() []string {
	names := make([]string, len(l.sets))
	for i, r := range l.sets {
		names[i] = r.set.Name
	}
	return names
}

func (l *Loss) evaluate(sc *lossScratch, t lossTask) {
	r := l.sets[t.set]
	set, m := r.set, t.hi-t.lo
	for j, term := range set.Terms {
		z := r.z[j][t.lo:t.hi]
		if op := l.sys.Terms[term]; grid.SpectralOf(op.Operator) == nil {
			op.Gather(z, l.u, 1, set.Points[t.lo:t.hi])
		}
		if c := r.offset[j]; c != nil {
			kernel.Axpy64(z, 1, c[t.lo:t.hi])
		}
		sc.in[j] = z
	}
	for e, x := range r.extras {
		sc.in[len(set.Terms)+e] = x[t.lo:t.hi]
	}
	outputs := 1
	if l.grad {
		outputs += len(set.Terms)
	}
	for i := range outputs {
		sc.out[i] = sc.values[i][:m]
	}
	in := sc.in[:len(set.Terms)+len(r.extras)]
	if l.grad {
		set.First().Eval(sc.first[t.set], m, sc.out[:outputs], in)
	} else {
		set.Value().Eval(sc.value[t.set], m, sc.out[:outputs], in)
	}
	res := sc.out[0]
	copy(r.value[t.lo:t.hi], res)
	r.plain[t.chunk] = kernel.SumSquares64(res)
	r.sums[t.chunk] = r.plain[t.chunk]
	if r.factor != nil {
		f := r.factor[t.lo:t.hi]
		kernel.Mul64(res, res, f)
		r.sums[t.chunk] = kernel.SumSquares64(res)
		kernel.Mul64(res, res, f)
	}
	if l.grad {
		for j := range set.Terms {
			kernel.Mul64(r.bar[j][t.lo:t.hi], res, sc.out[1+j])
		}
	}
}

// WeighRows multiplies the residual rows for which chosen (one per row) is true
// by factor in the loss; the mean squares Evaluate reports are without it.
func (l *Loss) WeighRows(chosen []bool, factor float64) {
	r := l.sets[0]
	if r.factor == nil {
		r.factor = make([]float64, len(r.set.Points))
	}
	for i := range r.factor {
		r.factor[i] = 1
		if chosen[i] {
			r.factor[i] = factor
		}
	}
}

// Evaluate returns the loss of u (P) for an initial condition and the mean
// square of every set of rows in meanSquares. With ubar not nil it also adds
// scale·∂L/∂u to ubar (P).
func (l *Loss) Evaluate(meanSquares, u, initial, ubar []float64, scale float64) float64 {
	l.u, l.grad = u, ubar != nil
	for _, r := range l.sets {
		// Coordinates are in place since NewLoss.
		n := int32(len(initial))
		for e, x := range r.set.Extras {
			if x.Axis >= 0 {
				continue
			}
			for i, p := range r.set.Points {
				r.extras[e][i] = initial[p%n]
			}
		}
	}
	if l.space != nil {
		l.pool.Run(l.space.Blocks(), l.gather)
	}
	l.pool.Run(len(l.tasks), l.run)
	l.u = nil
	var loss float64
	for i, r := range l.sets {
		sum, plain := 0.0, 0.0
		for c, v := range r.sums {
			sum += v
			plain += r.plain[c]
		}
		m := float64(len(r.set.Points))
		meanSquares[i] = plain / m
		var factor float64 // ∂L/∂r = factor r
		if l.norm {
			norm := math.Sqrt(sum)
			loss += l.weights[i] * norm
			if norm > 0 {
				factor = l.weights[i] / norm
			}
		} else {
			loss += l.weights[i] * sum / m
			factor = 2 * l.weights[i] / m
		}
		if ubar == nil {
			continue
		}
		for j, t := range r.set.Terms {
			kernel.MulScalar64(r.bar[j], factor*scale, r.bar[j])
			if grid.SpectralOf(l.sys.Terms[t].Operator) != nil {
				continue
			}
			if 16*len(r.set.Points) < len(ubar) {
				l.sys.Terms[t].Scatter(ubar, r.bar[j], r.set.Points)
				continue
			}
			// The transposed operator on the whole grid runs on vectors.
			for k, p := range r.set.Points {
				l.spread[p] = r.bar[j][k]
			}
			l.sys.Terms[t].ApplyTranspose(ubar, l.spread)
			for _, p := range r.set.Points {
				l.spread[p] = 0
			}
		}
	}
	if l.space != nil && ubar != nil {
		l.ubar = ubar
		l.pool.Run(l.space.Blocks(), l.scatter)
		l.ubar = nil
	}
	return loss
}
