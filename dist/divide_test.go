package dist

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pihc/compute"
	"pihc/constraint"
	"pihc/engine"
	"pihc/engine/enginetest"
	"pihc/fno"
	"pihc/internal/kernel"
	"pihc/internal/slab"
	"pihc/model"
	"pihc/pde"
)

// ranks is an engine of several ranks of this process, all of which must say the same.
type ranks[T compute.Float] struct {
	comms   []Comm
	engines []engine.Engine[T]
}

// newRanks makes an engine of as many ranks as given, each slabs of which share a sample.
func newRanks[T compute.Float](size, slabs int) func(s *model.Spec, p *pde.Problem, o engine.Options) (engine.Engine[T], error) {
	return func(s *model.Spec, p *pde.Problem, o engine.Options) (engine.Engine[T], error) {
		e := &ranks[T]{Local(size), make([]engine.Engine[T], size)}
		return e, e.each(func(r int) (err error) {
			e.engines[r], err = NewEngine[T](s, p, o, e.comms[r], slabs)
			return err
		})
	}
}

// each calls f for every rank at once; one that fails ends all.
func (e *ranks[T]) each(f func(r int) error) error {
	errs := make([]error, len(e.comms))
	var wait sync.WaitGroup
	for r := range e.comms {
		wait.Go(func() {
			if errs[r] = f(r); errs[r] != nil {
				e.comms[r].Abort(1)
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, errAborted) {
			return err
		}
	}
	return errs[0]
}

func (e *ranks[T]) Info() engine.Info { return e.engines[0].Info() }

func (e *ranks[T]) Close() {
	for _, own := range e.engines {
		own.Close()
	}
}

func (e *ranks[T]) LossAndGrad(grad, params []T, batch engine.Batch) (engine.Stats, error) {
	stats, grads := make([]engine.Stats, len(e.engines)), make([][]T, len(e.engines))
	err := e.each(func(r int) (err error) {
		grads[r] = slices.Clone(grad)
		own := batch
		if r > 0 && batch.Field != nil {
			own.Field = func(int, []float64) {}
		}
		stats[r], err = e.engines[r].LossAndGrad(grads[r], params, own)
		stats[r].MeanSquares = slices.Clone(stats[r].MeanSquares)
		return err
	})
	if err != nil {
		return stats[0], err
	}
	for r := range grads {
		if !bytes.Equal(asBytes(grads[r]), asBytes(grads[0])) || fmt.Sprint(stats[r]) != fmt.Sprint(stats[0]) {
			return stats[0], fmt.Errorf("rank %d has another gradient or other statistics than rank 0", r)
		}
	}
	copy(grad, grads[0])
	return stats[0], nil
}

func (e *ranks[T]) Predict(params []T, batch engine.Batch, each func(i int, p *engine.Prediction) error) error {
	said := make([][]string, len(e.engines))
	err := e.each(func(r int) error {
		return e.engines[r].Predict(params, batch, func(i int, p *engine.Prediction) error {
			said[r] = append(said[r], fmt.Sprint(*p))
			if r == 0 {
				return each(i, p)
			}
			return nil
		})
	})
	for r := range said {
		if err == nil && !slices.Equal(said[r], said[0]) {
			return fmt.Errorf("rank %d predicts something else than rank 0", r)
		}
	}
	return err
}

// TestDivided: ranks that have slabs of the grid pass the suite of every engine, its stored
// results among it.
func TestDivided(t *testing.T) {
	c := engine.Constructors{Float32: newRanks[float32](2, 2), Float64: newRanks[float64](2, 2)}
	enginetest.Run(t, c, enginetest.Factorised, enginetest.Steady, enginetest.Integrated, enginetest.Propagated)
}

// TestSlabs: what slabs exchange, against the whole field: neighbouring slices and their
// transpose by ⟨Fill x, y⟩ = ⟨x, Collect y⟩, sums short and long, parts and fields put together.
func TestSlabs(t *testing.T) {
	const total, width = 17, 3
	rng := rand.New(rand.NewPCG(5, 6))
	whole := make([]float64, total*width)
	for i := range whole {
		whole[i] = rng.NormFloat64()
	}
	for _, size := range []int{2, 3, 4} {
		e := &ranks[float64]{comms: Local(size)}
		left, right := make([]float64, size), make([]float64, size)
		err := e.each(func(r int) (err error) {
			defer slab.Recover(&err)
			s, err := slab.New(e.comms[r], total, func(lo, hi int) (int, int) { return min(lo, 3), min(total-hi, 2) })
			if err != nil {
				return err
			}
			stored, lo := whole[s.First*width:s.End*width], (s.Lo-s.First)*width
			hi := lo + (s.Hi-s.Lo)*width
			two := make([]float64, 2*len(stored)) // fields
			x, y := two[len(stored):], make([]float64, len(stored))
			copy(two[lo:hi], stored[lo:hi])
			copy(x[lo:hi], stored[lo:hi])
			slab.Fill(s, two, width)
			if !slices.Equal(two, slices.Concat(stored, stored)) {
				return fmt.Errorf("rank %d of %d: Fill gives %g, want %g twice", r, size, two, stored)
			}
			for i := range y {
				y[i] = math.Sin(float64(r*1000 + i))
				left[r] += x[i] * y[i]
			}
			slab.Collect(s, y, width)
			for i := range y {
				if i >= lo && i < hi {
					right[r] += x[i] * y[i]
				} else if y[i] != 0 {
					return fmt.Errorf("rank %d of %d: Collect leaves %g", r, size, y)
				}
			}
			all := make([]float64, len(whole))
			from, to := s.Part(total)
			copy(all[from*width:to*width], whole[from*width:to*width])
			if slab.Join(s, all, total, func(i int) int { return i * width }); !slices.Equal(all, whole) {
				return fmt.Errorf("rank %d of %d: Join gives %g", r, size, all)
			}
			for _, n := range []int{1, 7, 3001} {
				v, want := make([]float64, n), make([]float64, n)
				for i := range v {
					v[i] = float64(r+1) * float64(i+1)
					want[i] = float64(size*(size+1)/2) * float64(i+1)
				}
				if slab.Sum(s, v); !slices.Equal(v, want) {
					return fmt.Errorf("rank %d of %d: a sum of %d numbers is wrong", r, size, n)
				}
			}
			var below [][]float64
			for q := range r {
				below = append(below, []float64{float64(q), 1})
			}
			if before := slab.Before(s, []float64{float64(r), 1}); !slices.EqualFunc(before, below, slices.Equal) {
				return fmt.Errorf("rank %d of %d: Before gives %g, want %g", r, size, before, below)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		l, r := 0.0, 0.0
		for i := range left {
			l, r = l+left[i], r+right[i]
		}
		if math.Abs(l-r) > 1e-12 {
			t.Errorf("%d ranks: ⟨Fill x, y⟩ = %g, ⟨x, Collect y⟩ = %g", size, l, r)
		}
	}
}

// TestDividedNetwork: outputs and gradient of a network are those of the whole grid, for the bytes and
// messages of docs/evidence/scaling.md.
func TestDividedNetwork(t *testing.T) {
	c := fno.Network{Inputs: 3, Width: 5, Layers: 2, Axes: []string{"t", "x", "y"}, Modes: []int{2, 3, 2}, Projection: 7, Outputs: 4, LastActivation: true, SpectralGain: 1}
	shape, rng := []int{11, 6, 8}, rand.New(rand.NewPCG(1, 2))
	const points, slice, batch = 11 * 48, 48, 2
	normal := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	params, input, bar := normal(c.Size()), normal(batch*c.Inputs*points), normal(batch*c.Outputs*points)
	want, grad := make([]float64, batch*c.Outputs*points), make([]float64, c.Size())
	whole := c.Float64(shape, batch, nil)
	whole.Forward(want, params, input)
	whole.Backward(grad, params, bar)
	for _, size := range []int{2, 3, 5} {
		got, grads := make([]float64, len(want)), make([][]float64, size)
		e := &ranks[float64]{comms: Local(size)}
		err := e.each(func(r int) (err error) {
			defer slab.Recover(&err)
			count := &counting{Comm: e.comms[r]}
			part, err := slab.New(count, shape[0], func(lo, hi int) (int, int) { return 1, 1 })
			if err != nil {
				return err
			}
			fields := func(all []float64) (own []float64) {
				for at := 0; at < len(all); at += points {
					own = append(own, all[at+part.Lo*slice:at+part.Hi*slice]...)
				}
				return own
			}
			n := c.Divided64(shape, batch, nil, part)
			out := fields(want)
			n.Forward(out, params, fields(input))
			for i := range batch * c.Outputs {
				width := (part.Hi - part.Lo) * slice
				copy(got[i*points+part.Lo*slice:], out[i*width:(i+1)*width])
			}
			grads[r] = make([]float64, c.Size())
			n.Backward(grads[r], params, fields(bar))
			passes := count.messages
			n.SumOverRanks(grads[r])

			// A sum moves a vector's parts to their owners and back, a join the parts once.
			const modes, groups = 4 * 6 * 2, 4 * 6 * 2 / 8
			padded := kernel.Pad(c.Width)
			sum := func(n int) int { return 2 * ((n + size - 1) / size) }
			join := func(group int) int { return (groups + size - 1) / size * group }
			spectrum := batch * 2 * modes * padded
			numbers := sum(spectrum) + (c.Layers-1)*sum(spectrum) + c.Layers*2*batch*join(8*padded) + // forward
				c.Layers*sum(spectrum) + c.Layers*2*batch*join(8*padded) // backward
			gradient := c.Layers * join(8*2*c.Width*c.Width)
			pointwise := []int{c.Inputs*c.Width + c.Width} // between the spectral matrices, which are the first of a layer
			for l := range c.Layers {
				rest := c.Width*c.Width + c.Width
				if l == c.Layers-1 {
					rest += c.Width*c.Projection + c.Projection + c.Projection*c.Outputs + c.Outputs
				}
				pointwise = append(pointwise, rest)
			}
			bytes := 8 * (numbers + gradient) * (size - 1)
			for _, n := range append(pointwise, padded*padded, padded*padded) { // and, of either sample, that of the lift
				if 8*n > 4096 {
					t.Fatal("a sum of the pointwise weights is not short")
				}
				bytes += 8 * n * (size - 1)
			}
			if count.bytes != bytes {
				t.Errorf("%d ranks: %d bytes, by formula %d", size, count.bytes, bytes)
			}
			if want := (2*c.Layers + 2*batch*c.Layers + 2*c.Layers + 2*batch*c.Layers + batch) * (size - 1); passes != want {
				t.Errorf("%d ranks: %d messages forward and backward, by formula %d", size, passes, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(got, want); d > 1e-12 {
			t.Errorf("%d ranks: outputs differ by %g", size, d)
		}
		if d := distance(grads[0], grad); d > 1e-12 {
			t.Errorf("%d ranks: gradients differ by %g", size, d)
		}
	}
}

// distance is the relative L2 distance.
func distance(got, want []float64) float64 {
	var d, n float64
	for i, v := range want {
		d, n = d+(got[i]-v)*(got[i]-v), n+v*v
	}
	return math.Sqrt(d / n)
}

// TestDividedStep: gradients of a training step are those of one process, to rounding, for any
// number of slabs, with experts beside and after each other, windows that slabs cut, rows
// from beyond borders, and a batch that groups of ranks share; groups change no bit.
func TestDividedStep(t *testing.T) {
	const flow = "network={width: 6, layers: 2, modes: {t: 3, x: 3, y: 3}, projection: 8, basis: 4, passes: 3, omit_coordinates: [x, y], features: {w: 1, w_x: 4, vel_y: 0.07, residual: 0.2, mean_residual: 1}}"
	for _, overrides := range [][]string{
		{"diffusion-sorption-demo", "grid={t: 23, x: 16}", "constraint.experts={t: 3, x: 2}", "constraint.points=30", "network={width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4}"},
		{"diffusion-sorption-demo", "grid={t: 151, x: 120}", "method=hard", "constraint.points=17000", "constraint.weights.initial=10", "network={width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4}"},                                   // solves start on an eighth
		{"diffusion-sorption-demo", "grid={t: 23, x: 16}", "constraint={experts: {t: 3, x: 2}, points: 0, condition_rows: local, weights: {residual: 0.14}, start: 0.3}", "network={width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4}"}, // no overlap: some ranks have no rows of an expert
		{"navier-stokes-demo", "grid={t: 21, x: 30, y: 30}", "method=hard", "constraint.points=0", flow},
		{"navier-stokes-demo", "grid={t: 21, x: 16, y: 16}", "constraint.points=0", flow},
		{"navier-stokes-demo", "grid={t: 21, x: 8, y: 8}", "constraint.experts={t: 2, x: 2}", "constraint.points=80", flow},
	} {
		spec, err := model.OpenSpec(overrides[0], append([]string{"method=moe"}, append(overrides[1:], "network.precision=float64", "training.batch=3", "training.micro_batch=1", "data.test.grids=[]",
			"constraint.tolerance=1e-13", "constraint.cost_tolerance=0", "constraint.max_iterations=200", "loss.border_jump=0.3", "loss.border_slope=0.1")...)...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pde.Open(spec.Problem)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := engine.New[float64](spec, p, engine.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer alone.Close()
		info, batch, rng := alone.Info(), engine.Batch{Training: engine.Training{Progress: 1}}, rand.New(rand.NewPCG(3, 4))
		for i := range spec.Training.Batch {
			u0 := make([]float64, info.InputSize())
			for q := range u0 {
				u0[q] = 0.1 * float64(1+i)
				if p.NeedsZeroMean(0) {
					u0[q] = math.Sin(2*math.Pi*float64(q)/float64(len(u0))) + math.Cos(float64(1+i)*2*math.Pi*float64(q%8)/8)
				}
			}
			batch.Inputs, batch.Seeds = append(batch.Inputs, u0), append(batch.Seeds, constraint.Seed{Sample: uint64(i)})
		}
		params := info.Initial()
		for i := range params {
			params[i] += 0.02 * rng.NormFloat64()
		}
		want := make([]float64, len(params))
		stats, err := alone.LossAndGrad(want, params, batch)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: loss %g, %g iterations, %d failed", spec.Problem, stats.Loss, stats.Iterations, stats.Failed)
		var pairs []float64 // the gradient of slabs of two ranks
		for _, c := range []struct{ ranks, slabs int }{{2, 2}, {4, 2}, {3, 3}, {5, 5}} {
			e, err := newRanks[float64](c.ranks, c.slabs)(spec, p, engine.Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			got := make([]float64, len(params))
			own, err := e.LossAndGrad(got, params, batch)
			if err != nil {
				t.Fatal(err)
			}
			if d := distance(got, want); d > 1e-9 || math.Abs(own.Loss/stats.Loss-1) > 1e-10 {
				t.Errorf("%s, %d ranks, %d slabs: gradients differ by %g, losses by %g", spec.Problem, c.ranks, c.slabs, d, own.Loss/stats.Loss-1)
			}
			if stats.Failed == 0 && own.Iterations != stats.Iterations {
				t.Errorf("%s, %d slabs: %g iterations, want %g", spec.Problem, c.slabs, own.Iterations, stats.Iterations)
			}
			if c.slabs == 2 && pairs == nil {
				pairs = got
			}
			if c.slabs == 2 && !slices.Equal(got, pairs) {
				t.Errorf("%s: %d ranks with 2 slabs: other bits than 2 ranks have", spec.Problem, c.ranks)
			}
		}
	}
}

// A grid that is too small for the ranks, and ranks that cannot be grouped, are refused.
func TestDividedRefuses(t *testing.T) {
	spec, err := model.OpenSpec("diffusion-sorption-demo", "method=soft", "grid={t: 9, x: 16}", "network={width: 4, layers: 1, modes: {t: 2, x: 2}, projection: 4}")
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(spec.Problem)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ranks, slabs int
		says         string
	}{
		{3, 2, "2 slabs: 3 ranks cannot be divided into groups of as many"},
		{8, 8, "axis t: 9 points on 8 ranks; want 2 each at least"},
	} {
		if _, err := newRanks[float32](c.ranks, c.slabs)(spec, p, engine.Options{Workers: 1}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d ranks, %d slabs: %v, want %q", c.ranks, c.slabs, err, c.says)
		}
	}
}
