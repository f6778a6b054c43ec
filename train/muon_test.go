package train

import (
	"math"
	"slices"
	"sync"
	"testing"

	"pihc/compute"
	"pihc/engine"
	"pihc/internal/check"
	"pihc/model"
	"pihc/network"
)

// dense is a matrix by its formulas: plain sums in float64.
type dense [][]float64

func newDense(rows, columns int) dense {
	d := make(dense, rows)
	for i := range d {
		d[i] = make([]float64, columns)
	}
	return d
}

func denseOf[T compute.Float](x []T, rows, columns int) dense {
	d := newDense(rows, columns)
	for i := range x {
		d[i/columns][i%columns] = float64(x[i])
	}
	return d
}

func (d dense) times(e dense) dense {
	out := newDense(len(d), len(e[0]))
	for i := range out {
		for j := range out[i] {
			for k := range e {
				out[i][j] += d[i][k] * e[k][j]
			}
		}
	}
	return out
}

func (d dense) transposed() dense {
	out := newDense(len(d[0]), len(d))
	for i := range out {
		for j := range out[i] {
			out[i][j] = d[j][i]
		}
	}
	return out
}

func (d dense) norm() float64 { return math.Sqrt(check.Dot(slices.Concat(d...), slices.Concat(d...))) }

// orthogonal is Newton-Schulz as Jordan et al. state it, from the left: A = XXᵀ, X <- aX + (bA + cA²)X, on X divided by the root of
// ‖XXᵀ‖.
func (d dense) orthogonal() dense {
	x := newDense(len(d), len(d[0]))
	divisor := math.Sqrt(d.times(d.transposed()).norm())
	for i := range x {
		for j := range x[i] {
			x[i][j] = d[i][j] / divisor
		}
	}
	for range 3 {
		a := x.times(x.transposed())
		ax := a.times(x)
		aax := a.times(ax)
		for i := range x {
			for j := range x[i] {
				x[i][j] = 3.4445*x[i][j] - 4.7750*ax[i][j] + 2.0315*aax[i][j]
			}
		}
	}
	return x
}

// singular returns the singular values, by Jacobi's rotations of columns.
func (d dense) singular() (out []float64) {
	columns := d.transposed()
	for range 30 {
		for p, x := range columns {
			for _, y := range columns[:p] {
				sin, cos := math.Sincos(0.5 * math.Atan2(2*check.Dot(x, y), check.Dot(x, x)-check.Dot(y, y)))
				for i := range x {
					x[i], y[i] = cos*x[i]+sin*y[i], cos*y[i]-sin*x[i]
				}
			}
		}
	}
	for _, x := range columns {
		out = append(out, math.Sqrt(check.Dot(x, x)))
	}
	return out
}

func TestOrthogonalise(t *testing.T) {
	for _, m := range []matrix{{0, 64, 32}, {0, 14, 7}, {0, 32, 32}, {0, 6, 24}, {0, 1, 5}} {
		v := check.Normal(check.Rand(3), make([]float64, m.size()))
		for i := range v {
			v[i] *= 1e-12 // sizes do not matter
		}
		want := denseOf(v, m.rows, m.columns).orthogonal()
		got := slices.Clone(v)
		newNewtonSchulz[float64]([]matrix{m}).orthogonalise(got, m)
		check.Close(t, got, slices.Concat(want...), 1e-9, 1e-10)
		check.Widths(t, func(t *testing.T) {
			single, wanted := make([]float32, len(v)), make([]float32, len(v))
			for i, w := range slices.Concat(want...) {
				single[i], wanted[i] = float32(v[i]), float32(w)
			}
			newNewtonSchulz[float32]([]matrix{m}).orthogonalise(single, m)
			check.Close(t, single, wanted, 1e-4, 1e-4)
		})
		if m.rows < 2*m.columns {
			continue // random square matrices have singular values near zero
		}
		for _, s := range denseOf(got, m.rows, m.columns).singular() {
			if s < 0.65 || s > 1.25 {
				t.Errorf("%d x %d: a singular value of %.3g; want one near 1", m.rows, m.columns, s)
			}
		}
	}
	zero := make([]float64, 12)
	newNewtonSchulz[float64]([]matrix{{0, 4, 3}}).orthogonalise(zero, matrix{0, 4, 3})
	check.Equal(t, zero, make([]float64, 12))
}

// muonLayout has a first and a last layer, two complex matrices, a real one and vectors.
func muonLayout() (l network.Layout) {
	l.Add("lift.weight", 3, 4)
	l.Add("lift.bias", 4)
	l.AddComplex("spectral", 1, 2, 2, 4, 4)
	l.Add("weight", 4, 5)
	l.Add("bias", 5)
	l.Add("output.weight", 5, 2)
	l.Add("output.bias", 2)
	return l
}

// Steps of Muon are those of its formulas for the matrices between the first layer and the last, and of Adam for all else.
func TestMuon(t *testing.T) {
	l := muonLayout()
	n := l.Size()
	rng := check.Rand(5)
	s := &engine.State[float64]{Params: check.Normal(rng, make([]float64, n)), First: make([]float64, n), Second: make([]float64, n)}
	a := &adam[float64]{training: model.TrainingSpec{}, mu: new(sync.Mutex), matrices: matrices(l)}
	if err := a.Begin(s); err != nil {
		t.Fatal(err)
	}
	all := adamReference{p: slices.Clone(s.Params), m: make([]float64, n), v: make([]float64, n)}
	want, buffer := slices.Clone(s.Params), make([]float64, n)
	ours := []matrix{{16, 8, 4}, {48, 8, 4}, {80, 4, 5}}
	for step := range 6 {
		rate, factor := 0.1/float64(1+step), 0.5
		g := check.Normal(rng, make([]float64, n))
		copy(a.grad, g)
		for i := range g {
			g[i] *= factor
			buffer[i] = 0.95*buffer[i] + 0.05*g[i]
		}
		a.update(factor, rate)
		all.step(g, rate)
		for _, m := range ours {
			nesterov := make([]float64, m.size())
			for i := range nesterov {
				nesterov[i] = 0.95*buffer[m.offset+i] + 0.05*g[m.offset+i]
			}
			direction := slices.Concat(denseOf(nesterov, m.rows, m.columns).orthogonal()...)
			for i, d := range direction {
				want[m.offset+i] -= rate * 0.2 * math.Sqrt(float64(max(m.rows, m.columns))) * d
			}
		}
		for i, g := range a.grad {
			if g != 0 {
				t.Fatalf("step %d: gradient %d is left at %g", step, i, g)
			}
		}
	}
	copy(want, all.p[:16])
	copy(want[100:], all.p[100:])
	check.Close(t, s.Params, want, 0, 1e-9)
}

// On ½‖AW - B‖² with singular values of A from 1 to 10 Muon comes to the least squares, at the rates where one learning rate is for all.
func TestMuonQuadratic(t *testing.T) {
	const n = 8
	l := network.Layout{}
	l.Add("first", 1, 1)
	l.Add("weight", n, n)
	l.Add("last", 1, 1)
	s := &engine.State[float64]{Params: make([]float64, l.Size()), First: make([]float64, l.Size()), Second: make([]float64, l.Size())}
	a := &adam[float64]{mu: new(sync.Mutex), matrices: matrices(l)}
	if err := a.Begin(s); err != nil {
		t.Fatal(err)
	}
	solution := denseOf(check.Normal(check.Rand(7), make([]float64, n*n)), n, n)
	distance := func() float64 {
		w := denseOf(s.Params[1:1+n*n], n, n)
		for i := range w {
			for j := range w[i] {
				w[i][j] -= solution[i][j]
			}
		}
		return w.norm() / solution.norm()
	}
	const steps = 400
	for step := range steps {
		for i := range n { // AᵀA(W - solution), A diagonal
			scale := math.Pow(10, 2*float64(i)/(n-1))
			for j := range n {
				a.grad[1+i*n+j] = scale * (s.Params[1+i*n+j] - solution[i][j])
			}
		}
		a.update(1, 0.1*(1-float64(step)/steps))
	}
	if d := distance(); !(d < 2e-2) {
		t.Errorf("after %d steps the distance is %.2g of that at the beginning", steps, d)
	}
}
