package engine

import (
	"cmp"
	"fmt"
	"math"

	"pihc/compute"
	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/internal/slab"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
)

// Loss is the loss of a field u on the grid: the residual over the whole grid
// and the conditions, each set of rows with its weight (paper, section 3: "the
// loss is the L2 norm of the PDE residual"; docs/reference/constraint.md, Q7 and Q8).
//
//	mean-square   L = Σ_s w_s mean(r_s²)
//	norm          L = Σ_s w_s ‖r_s‖₂        (the published code)
//
// Row weights of the PDE file are part of r.
type Loss struct {
	norm       bool
	weights    []float64 // per set
	sets       []*lossRows
	chunks     []lossChunk
	values     []grid.Rows[float64] // per set: terms
	gradients  []grid.Rows[float64] // per set: r F_j
	gatherer   *grid.Gatherer
	evaluators []*pde.RowEvaluator // per worker
	pool       *compute.Pool

	part    *compute.Slab // of a part of a system
	width   int           // points of a slice
	totals  []float64     // per set: Σ (factor r)², Σ r²
	squares []float64     // per set: mean squares
}

// A rowFactor multiplies the residual rows for which chosen (one per residual and row) is true by factor in the loss.
// The zero value leaves all as they are.
type rowFactor struct {
	chosen [][]bool
	factor float64
}

// lossRows is one set of rows over the grid.
type lossRows struct {
	*pde.PointRows
	index int         // of the set
	z     [][]float64 // per term (m)
	value []float64   // (m): r, without factor
}

// lossChunk is rows [lo, hi) of a set.
type lossChunk struct {
	*lossRows
	lo, hi     int
	z, bar     [][]float64 // per term: values, and r F_j
	sum, plain float64     // Σ (factor r)², Σ r²
}

// lossChunkRows is the number of rows evaluated together; it fixes the order of
// every sum.
const lossChunkRows = 4096

// NewLoss prepares the loss; weights by name of the rows, default 1. That of a part of a
// system sums over ranks, and has their slices in its fields.
func NewLoss(sys *pde.System, spec model.LossSpec, pool *compute.Pool) (*Loss, error) {
	l := &Loss{
		norm: spec.Form == "norm", gatherer: sys.NewGatherer(pool), pool: pool,
		part: sys.Slab, width: sys.SliceSize(), totals: make([]float64, 2*len(sys.Sets)), squares: make([]float64, len(sys.Sets)),
	}
	var err error
	if l.weights, err = lossWeights(sys, spec); err != nil {
		return nil, err
	}
	for i, set := range sys.Sets {
		m := len(set.Points)
		r := &lossRows{PointRows: sys.NewPointRows(set, set.Points), index: i, value: make([]float64, m)}
		r.Prepare()
		z, bar := r.NewValues(), r.NewValues()
		r.z = z.Values
		for lo := 0; lo < m; lo += lossChunkRows {
			ch := lossChunk{lossRows: r, lo: lo, hi: min(lo+lossChunkRows, m)}
			for j := range set.Terms {
				ch.z, ch.bar = append(ch.z, z.Values[j][lo:ch.hi]), append(ch.bar, bar.Values[j][lo:ch.hi])
			}
			l.chunks = append(l.chunks, ch)
		}
		l.sets = append(l.sets, r)
		l.values, l.gradients = append(l.values, z), append(l.gradients, bar)
	}
	for range pool.Workers() {
		l.evaluators = append(l.evaluators, sys.NewRowEvaluator(lossChunkRows))
	}
	return l, nil
}

// lossWeights are the weights of the sets of rows, by their names, default 1.
func lossWeights(sys *pde.System, spec model.LossSpec) (weights []float64, err error) {
	var names []string
	for _, set := range sys.Sets {
		w, ok := spec.Weights[set.Name]
		if !ok {
			w = 1
		}
		names, weights = append(names, set.Name), append(weights, w)
	}
	for name := range spec.Weights {
		if sys.Set(name) == nil {
			return nil, fmt.Errorf("loss weights: no rows are called %q; there are %s", name, words.List(names))
		}
	}
	return weights, nil
}

// addDistance returns factor Σ(u - truth)²/Σ all² of some points of one unknown, and adds its gradient to
// ubar. all is the solution at all points; where it is zero it is the mean square of u.
func addDistance(ubar, u, truth, all []float64, factor float64) float64 {
	square, size := 0.0, 0.0
	for _, v := range all {
		size += v * v
	}
	for i, v := range truth {
		square += (u[i] - v) * (u[i] - v)
	}
	if size == 0 {
		size = float64(len(all))
	}
	for i, v := range truth {
		ubar[i] += 2 * factor / size * (u[i] - v)
	}
	return factor * square / size
}

// StillLosses returns, for every sample, the loss of the field that is at all times what it
// begins with (pde.Problem.Persist), of zero in a steady problem, or 1 where that is zero: what
// relative losses are over.
func (i *Info) StillLosses(inputs [][]float64) ([]float64, error) {
	_, l, err := i.wholeLoss()
	if err != nil {
		return nil, err
	}
	field, out := make([]float64, i.FieldSize()), make([]float64, len(inputs))
	for k, u0 := range inputs {
		i.Problem.Persist(field, u0, i.Grid)
		loss, _ := l.Evaluate(field, u0)
		out[k] = cmp.Or(loss, 1)
	}
	return out, nil
}

// wholeLoss prepares the loss on the whole grid.
func (i *Info) wholeLoss() (*pde.System, *Loss, error) {
	sys, err := i.Problem.Discretize(i.Grid)
	if err != nil {
		return nil, nil, err
	}
	l, err := NewLoss(sys, i.Spec.Loss, nil)
	return sys, l, err
}

// multiply multiplies the chosen rows.
func (f rowFactor) multiply(rows []float64, chosen []bool) {
	for i, c := range chosen {
		if c {
			rows[i] *= f.factor
		}
	}
}

// evaluate evaluates a chunk of rows, whose terms are there, and for a gradient sets
// bar to factor² r F_j.
func (ch *lossChunk) evaluate(e *pde.RowEvaluator, factor rowFactor, gradient bool) {
	order := 0
	if gradient {
		order = 1
	}
	out := e.Eval(ch.PointRows, order, ch.z, ch.lo, ch.hi-ch.lo)
	r := out[0]
	copy(ch.value[ch.lo:ch.hi], r)
	ch.plain = kernel.SumSquares64(r)
	ch.sum = ch.plain
	if ch.index < len(factor.chosen) {
		chosen := factor.chosen[ch.index][ch.lo:ch.hi]
		factor.multiply(r, chosen)
		ch.sum = kernel.SumSquares64(r)
		factor.multiply(r, chosen)
	}
	if gradient {
		for j, bar := range ch.bar {
			kernel.Mul64(bar, r, out[1+j])
		}
	}
}

// Evaluate returns the loss of u (C, P) for the inputs of a sample, and the mean square per set of rows, which belongs to
// the Loss until its next call.
func (l *Loss) Evaluate(u, inputs []float64) (loss float64, meanSquares []float64) {
	return l.add(nil, u, inputs, rowFactor{}, 0)
}

// AddGradient returns what Evaluate does, and adds scale·∂L/∂u to ubar (C, P).
func (l *Loss) AddGradient(ubar, u, inputs []float64, scale float64) (loss float64, meanSquares []float64) {
	return l.add(ubar, u, inputs, rowFactor{}, scale)
}

// add is AddGradient with a factor of rows, which mean squares are without; ubar may be nil.
func (l *Loss) add(ubar, u, inputs []float64, rows rowFactor, scale float64) (loss float64, meanSquares []float64) {
	for _, r := range l.sets {
		r.SetInputs(inputs)
	}
	grid.Gather(l.gatherer, u, 1, l.values)
	l.pool.Run(len(l.chunks), func(worker, i int) { l.chunks[i].evaluate(l.evaluators[worker], rows, ubar != nil) })
	clear(l.totals)
	for _, ch := range l.chunks {
		l.totals[2*ch.index] += ch.sum
		l.totals[2*ch.index+1] += ch.plain
	}
	slab.Sum(l.part, l.totals)
	for i, r := range l.sets {
		sum, m := l.totals[2*i], float64(r.Set.Count)
		l.squares[i] = l.totals[2*i+1] / m
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
		for _, bar := range l.gradients[i].Values {
			if ubar != nil {
				kernel.MulScalar64(bar, factor*scale, bar)
			}
		}
	}
	if ubar != nil {
		l.gatherer.Scatter([][]float64{ubar}, [][]grid.Rows[float64]{l.gradients}, 0)
		slab.Collect(l.part, ubar, l.width)
	}
	return loss, l.squares
}
