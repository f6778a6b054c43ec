package grid

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"pihc/compute"
	"pihc/internal/check"
	"pihc/internal/kernel"
)

// φ_q of a diagonal matrix and of a nilpotent one, against the formulas of numbers.
func TestPhis(t *testing.T) {
	for _, z := range []complex128{0.3i, -2, 3 + 4i, -700i, -5000} {
		got := Phis([]complex128{z, 0, 0, z / 3}, 2, 1, 3)
		for at, x := range []complex128{z, z / 3} {
			if real(x) > 10 {
				continue
			}
			want := cmplx.Exp(x)
			for q, inverse := range []float64{1, 1, 0.5, 0} {
				if d := cmplx.Abs(got[q][3*at] - want); !(d <= 1e-11) {
					t.Errorf("φ_%d(%v) = %v, want %v", q, x, got[q][3*at], want)
				}
				want = (want - complex(inverse, 0)) / x
			}
		}
	}
	got := Phis([]complex128{0, 1, 0, 0}, 2, 3, 2)
	check.Close(t, []float64{real(got[0][1]), real(got[1][1]), real(got[2][0]), real(got[2][1])}, []float64{3, 1.5, 0.5, 0.5}, 1e-15, 0)
}

// testPropagator is of an oscillator u” = λ_k u + d_k u' + w_k v and v' = μ_k v + 0.3 u, k = (modes of 6 x 5 points).
func testPropagator(times int, t float64) (*Grid, *Propagator, []complex128) {
	g := &Grid{Axes: []Axis{{Name: "t", Hi: t, Points: times, Boundary: Nodes}, {Name: "x", Hi: 1, Points: 6, Boundary: Periodic}, {Name: "y", Hi: 1, Points: 5, Boundary: Periodic}}}
	const modes, state = 18, 3
	rows := make([]complex128, modes*2*state)
	for mode := range modes {
		kx, ky := float64((mode/3+2)%6-2), float64(mode%3)
		odd := kx
		if kx == 3 {
			odd = 0
		}
		copy(rows[mode*6:], []complex128{complex(-2-kx*kx-ky*ky, 0), complex(-0.1, odd), complex(0.5, ky*0.2), 0.3, 0, complex(-0.5*ky, odd*odd*odd)})
	}
	return g, g.NewPropagator(Parities{{{}, {}}, {{}, {}}}, []int{2, 1}, []float64{2, 0.7}, rows), rows
}

// Of polynomials of degree 5 in time the solution is that of a fine march of the same equations by Runge and Kutta.
func TestPropagator(t *testing.T) {
	for _, times := range []int{4, 13} {
		g, p, rows := testPropagator(times, 0.12*float64(times-1))
		const functions, width = 3, 30
		random := rand.New(rand.NewPCG(1, 2))
		degree := min(5, times-1)
		coefs := make([]float64, (degree+1)*2*width*functions)
		for i := range coefs {
			coefs[i] = random.NormFloat64()
		}
		value := func(q, unknown, i int) float64 { return coefs[(q*2+unknown)*width*functions+i] }
		b := func(time float64, unknown, i int) (v float64) {
			for q := range degree + 1 {
				v += value(q, unknown, i) * math.Pow(time, float64(q))
			}
			return v
		}
		pool := compute.NewPool(2)
		defer pool.Close()
		got := make([][]float64, 2*times)
		p.NewPropagation(functions, pool).Apply(false, func(unknown, time int, values []float64) {
			for i := range values {
				values[i] = b(g.Axes[0].Coordinate(time), unknown, i)
			}
		}, func(unknown, time int, values []float64) { got[unknown*times+time] = append([]float64(nil), values...) })
		// one function, one Fourier mode at a time
		const f = 1
		dft := func(time float64, unknown, kx, ky int) (sum complex128) {
			for x := range 6 {
				for y := range 5 {
					sum += complex(b(time, unknown, (x*5+y)*functions+f), 0) * cmplx.Exp(complex(0, -2*math.Pi*(float64(kx*x)/6+float64(ky*y)/5)))
				}
			}
			return sum
		}
		for mode := range 18 {
			kx, ky := mode/3, mode%3
			var y [3]complex128
			rate := func(time float64, y [3]complex128) (out [3]complex128) {
				row := rows[mode*6:]
				out[0] = y[1]
				for j := range y {
					out[1] += row[j] * y[j]
					out[2] += row[3+j] * y[j]
				}
				out[1] += 2 * dft(time, 0, kx, ky)
				out[2] += 0.7 * dft(time, 1, kx, ky)
				return out
			}
			const sub = 60
			for i := 1; i < times; i++ {
				for s := range sub {
					h := g.Axes[0].Step() / sub
					at := g.Axes[0].Coordinate(i-1) + float64(s)*h
					plus := func(k [3]complex128, by float64) (out [3]complex128) {
						for j := range out {
							out[j] = y[j] + complex(by, 0)*k[j]
						}
						return out
					}
					k1 := rate(at, y)
					k2 := rate(at+h/2, plus(k1, h/2))
					k3 := rate(at+h/2, plus(k2, h/2))
					k4 := rate(at+h, plus(k3, h))
					for j := range y {
						y[j] += complex(h/6, 0) * (k1[j] + 2*k2[j] + 2*k3[j] + k4[j])
					}
				}
				for unknown, want := range []complex128{y[0], y[2]} {
					sum := complex128(0)
					for x := range 6 {
						for yy := range 5 {
							sum += complex(got[unknown*times+i][(x*5+yy)*functions+f], 0) * cmplx.Exp(complex(0, -2*math.Pi*(float64(kx*x)/6+float64(ky*yy)/5)))
						}
					}
					if d := cmplx.Abs(sum - want); !(d <= 2e-6*(1+cmplx.Abs(want))) {
						t.Fatalf("%d times, mode %d, unknown %d, time %d: %v, want %v", times, mode, unknown, i, sum, want)
					}
				}
			}
		}
	}
}

// A mode that turns by more than a quarter from one time to the next takes steps of the implicit Euler method, also where nothing leads it.
func TestPropagatorOfFastModes(t *testing.T) {
	const times, width, kx = 4, 30, 2
	g, p, rows := testPropagator(times, 1.5) // by 8·0.5 for kx = 2
	random := rand.New(rand.NewPCG(7, 8))
	b, start := make([]float64, 2*times*width), make([]float64, 3*width)
	for i := range b {
		b[i] = random.NormFloat64()
	}
	for i := range start {
		start[i] = random.NormFloat64()
	}
	slice := func(f []float64, unknown, time int) []float64 { return f[(unknown*times+time)*width:][:width] }
	mode := func(values []float64, ky int) (sum complex128) {
		for i, v := range values {
			sum += complex(v, 0) * cmplx.Exp(complex(0, -2*math.Pi*(float64(kx*(i/5))/6+float64(ky*(i%5))/5)))
		}
		return sum
	}
	u, h := make([]float64, len(b)), complex(g.Axes[0].Step(), 0)
	store := func(unknown, time int, values []float64) { copy(slice(u, unknown, time), values) }
	w := p.NewPropagation(1, nil)
	for _, forced := range []complex128{1, 0} {
		if forced == 1 {
			w.Apply(false, func(unknown, time int, values []float64) { copy(values, slice(b, unknown, time)) }, store)
		} else {
			w.Begin(start, store)
			for c, state := range []int{0, 2} {
				check.Close(t, slice(u, c, 0), start[state*width:][:width], 1e-12, 1e-12)
			}
		}
		for ky := range 3 {
			row := rows[(kx*3+ky)*6+3:]
			for i := 1; i < times; i++ {
				v, before := mode(slice(u, 1, i), ky), mode(slice(u, 1, i-1), ky)
				left := (v-before)/h - row[0]*mode(slice(u, 0, i), ky) - row[2]*v - forced*0.7*mode(slice(b, 1, i), ky)
				if !(cmplx.Abs(left) <= 1e-10) {
					t.Errorf("ky = %d, time %d: %v is left of the equation", ky, i, left)
				}
			}
		}
	}
}

// Transposed is the transpose.
func TestPropagatorTransposed(t *testing.T) {
	g, p, _ := testPropagator(9, 2)
	const functions, width = 2, 30
	apply := func(x []float64, transposed bool) []float64 {
		out := make([]float64, len(x))
		at := func(x []float64, unknown, time int) []float64 {
			return x[(unknown*9+time)*width*functions:][:width*functions]
		}
		p.NewPropagation(functions, nil).Apply(transposed, func(unknown, time int, values []float64) { copy(values, at(x, unknown, time)) },
			func(unknown, time int, values []float64) { copy(at(out, unknown, time), values) })
		return out
	}
	n := 2 * g.Size() * functions
	check.AdjointIdentity(t, rand.New(rand.NewPCG(3, 4)), n, n,
		func(y, x []float64) { copy(y, apply(x, false)) }, func(x, y []float64) { kernel.Add64(x, x, apply(y, true)) }, 1e-14)
}

// parityTest is a grid with an axis of nodes, on which the two unknowns have parities of each kind, and a periodic one.
func parityTest() (*Grid, Parities) {
	g := &Grid{Axes: []Axis{{Name: "t", Hi: 1, Points: 7, Boundary: Nodes}, {Name: "x", Hi: 1, Points: 5, Boundary: Nodes}, {Name: "y", Hi: 1, Points: 3, Boundary: Periodic}}}
	return g, Parities{{{Odd, Even}, {}}, {{Even, Odd}, {}}}
}

// Fields on the mirrored grid are those of the nodes, and what parities make of them beyond.
func TestMirrored(t *testing.T) {
	g, parities := parityTest()
	m := g.Mirrored(parities)
	if a := m.Axes[1]; a.Boundary != Periodic || a.Points != 16 || a.Hi != 4 || m.Axes[0] != g.Axes[0] || m.Axes[2] != g.Axes[2] {
		t.Fatalf("mirrored %+v", m.Axes)
	}
	if a := g.Mirrored(Parities{{{Odd, Odd}, {}}, {{Even, Even}, {}}}).Axes[1]; a.Points != 8 || a.Hi != 2 {
		t.Fatalf("mirrored %+v", a)
	}
	for ends, f := range map[[2]Parity]func(x float64) float64{
		{Odd, Odd}:   func(x float64) float64 { return math.Sin(math.Pi*x) - math.Sin(3*math.Pi*x) },
		{Even, Even}: func(x float64) float64 { return 1 + math.Cos(math.Pi*x) - math.Cos(2*math.Pi*x) },
		{Odd, Even}:  func(x float64) float64 { return math.Sin(math.Pi*x/2) + math.Sin(3*math.Pi*x/2) },
		{Even, Odd}:  func(x float64) float64 { return math.Cos(math.Pi*x/2) + math.Cos(3*math.Pi*x/2) },
	} {
		matrix := Continuation(5, 16, ends)
		for j := range 16 {
			got := 0.0
			for i := range 5 {
				got += matrix[j*5+i] * f(float64(i)/4)
			}
			if want := f(float64(j) / 4); math.Abs(got-want) > 1e-14 {
				t.Errorf("%v: point %d has %g, want %g", ends, j, got, want)
			}
		}
	}
}

// A standing wave between walls, u” = -k² u, is solved by its offset, and Apply has its transpose.
func TestPropagatorBetweenWalls(t *testing.T) {
	g, parities := parityTest()
	mirrored := g.Mirrored(parities)
	const functions, width, modes = 2, 15, 32
	rows := make([]complex128, modes*2*4)
	for mode := range modes {
		k := float64((mode/2+8)%16-8) * math.Pi / 2 // of an axis of length 4
		rows[mode*8], rows[mode*8+4+2] = complex(-k*k, 0), complex(-k*k, 0)
	}
	p := g.NewPropagator(parities, []int{2, 2}, []float64{1, 1}, rows)
	if p.Modes != modes || mirrored.Size() != 7*16*3 {
		t.Fatal(p.Modes, mirrored.Size())
	}
	y := make([]float64, 4*width)
	for i := range width {
		x := g.Axes[1].Coordinate(i / 3)
		y[i], y[2*width+i] = math.Sin(math.Pi*x/2), math.Cos(math.Pi*x/2)
	}
	p.NewPropagation(1, nil).Begin(y, func(unknown, time int, values []float64) {
		for i, v := range values {
			if want := y[2*unknown*width+i] * math.Cos(math.Pi/2*g.Axes[0].Coordinate(time)); math.Abs(v-want) > 1e-12 {
				t.Fatalf("unknown %d, time %d, point %d: %g, want %g", unknown, time, i, v, want)
			}
		}
	})
	at := func(x []float64, unknown, time int) []float64 {
		return x[(unknown*7+time)*width*functions:][:width*functions]
	}
	apply := func(x []float64, transposed bool) []float64 {
		out := make([]float64, len(x))
		p.NewPropagation(functions, nil).Apply(transposed, func(unknown, time int, values []float64) { copy(values, at(x, unknown, time)) },
			func(unknown, time int, values []float64) { copy(at(out, unknown, time), values) })
		return out
	}
	n := 2 * g.Size() * functions
	check.AdjointIdentity(t, rand.New(rand.NewPCG(3, 4)), n, n,
		func(y, x []float64) { copy(y, apply(x, false)) }, func(x, y []float64) { kernel.Add64(x, x, apply(y, true)) }, 1e-14)
}
