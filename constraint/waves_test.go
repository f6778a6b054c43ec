package constraint

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pihc/compute"
	"pihc/fno"
	"pihc/internal/kernel"
	"pihc/pde"
)

// hinged is a beam between simple supports, with what is put into its ansatz.
const hinged = `
name: hinged
unknown: u
axes:
  t: {range: [0, 0.1], points: 65, boundary: nodes}
  x: {range: [0, 1], points: 65, boundary: nodes}
terms:
  u_tt: {axis: t, derivative: 2}
  u_xx: {axis: x, derivative: 2}
  u_xxxx: {axis: x, derivative: 4}
residual: {expression: u_tt + u_xxxx, weight: 7e-4, rows: {x: [2, 2]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
  left: {at: {x: low}, expression: u}
  right: {at: {x: high}, expression: u}
  left_moment: {at: {x: low}, expression: u_xx, weight: 0.5}
  right_moment: {at: {x: high}, expression: u_xx, weight: 0.5}
initial: {distribution: random-series, series: sine}
ansatz: {offset: u0, %s}
`

// What a fourth derivative makes of the basis of an untrained network, and what least squares of rows keep of its best
// combination: as it is, with rows in a negative norm, smoothed rows, and with S of the ansatz (docs/evidence/choices.md has the table).
func TestShortWaves(t *testing.T) {
	const walls, start = `multiplier: "4*x*(1 - x)*(t/0.1)^2"`, `multiplier: "(t/0.1)^2"`
	smoother := wavesSystem(t, start+", smooth: {x: 0.15}")
	all, err := smoother.Smoothers()
	if err != nil {
		t.Fatal(err)
	}
	matrix := all[0][0].Matrix
	negative := func(line []float64) { multiply(line, matrix) }
	binomial := func(times int) func(line []float64) {
		return func(line []float64) {
			for range times {
				for before, i := 0.0, 0; i+1 < len(line); i++ {
					v := line[i]
					line[i], before = before/4+v/2+line[i+1]/4, v
				}
			}
		}
	}
	kepts := map[string]float64{}
	for _, v := range []struct {
		name, ansatz string
		rows         func(line []float64)
	}{
		{"as it is", walls, nil},
		{"rows in a negative norm", walls, negative},
		{"rows smoothed 4 times", walls, binomial(4)},
		{"rows smoothed 32 times", walls, binomial(32)},
		{"S, 0.085", start + ", smooth: {x: 0.085}", nil},
		{"S, 0.15", start + ", smooth: {x: 0.15}", nil},
		{"S, 0.27", start + ", smooth: {x: 0.27}", nil},
	} {
		sys := wavesSystem(t, v.ansatz)
		for _, functions := range []int{16, 64} {
			var best, kept, short float64
			const draws = 4
			for seed := range uint64(draws) {
				b, k, s := wavesErrors(t, sys, functions, seed, v.rows)
				best, kept, short = best+b/draws, kept+k/draws, short+s/draws
			}
			kepts[fmt.Sprint(v.name, functions)] = kept
			t.Logf("%-24s %2d functions: best combination %.2g %%, least squares %.3g %%; squared rows of waves above the third %.2g", v.name, functions, 100*best, 100*kept, short)
		}
	}
	for _, functions := range []string{"16", "64"} {
		if plain, smooth := kepts["as it is"+functions], kepts["S, 0.15"+functions]; !(smooth < plain/2) {
			t.Errorf("%s functions: %.3g with S, %.3g without", functions, smooth, plain)
		}
	}
}

func wavesSystem(t *testing.T, ansatz string) *pde.System {
	t.Helper()
	p, err := pde.Load("hinged.yaml", fmt.Appendf(nil, hinged, ansatz))
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	sys, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	return sys
}

// multiply replaces x by A x.
func multiply(x, a []float64) {
	out := make([]float64, len(x))
	for i := range out {
		out[i] = kernel.Dot(a[i*len(x):(i+1)*len(x)], x)
	}
	copy(x, out)
}

// wavesErrors returns the errors of the best combination and of least squares, over the solution, for a sum of two modes and the
// basis of an untrained network, and the part of waves above the third in the squared residual rows of this basis.
func wavesErrors(t *testing.T, sys *pde.System, functions int, seed uint64, treat func(line []float64)) (best, kept, short float64) {
	const n = 65
	g, random := sys.Grid, rand.New(rand.NewPCG(seed, 1))
	u0, offset, truth := make([]float64, n), make([]float64, n*n), make([]float64, n*n)
	for mode := 1; mode <= 2; mode++ {
		a, wave := random.NormFloat64()/float64(mode), math.Pi*float64(mode)
		for p := range truth {
			v := a * math.Sin(wave*g.Axes[1].Coordinate(p%n))
			truth[p] += v * math.Cos(wave*wave*g.Axes[0].Coordinate(p/n))
			if p < n {
				u0[p] += v
			}
		}
	}
	sys.Offset(offset, u0)
	correction := make([]float64, n*n)
	for p, v := range truth {
		correction[p] = v - offset[p]
	}
	columns, right := untrained(t, sys, functions, u0, random), rowsOf(sys, offset, u0, treat)
	var rows [][]float64
	waves, sines := make([]float64, n), make([]float64, n*n)
	for i := range sines {
		sines[i] = math.Sin(math.Pi * float64(i/n) * g.Axes[1].Coordinate(i%n))
	}
	for _, f := range columns {
		r := rowsOf(sys, append([]float64(nil), f...), make([]float64, n), treat)
		rows = append(rows, r)
		for k := 1; k < n-1; k++ {
			for at := range n {
				sum := kernel.Dot(sines[k*n:(k+1)*n], r[at*n:(at+1)*n])
				waves[k] += sum * sum
			}
		}
	}
	all := 0.0
	for k, v := range waves {
		all += v
		if k > 3 {
			short += v
		}
	}
	for i := range right {
		right[i] = -right[i]
	}
	miss := func(weights []float64) float64 {
		u := append([]float64(nil), offset...)
		for i, w := range weights {
			kernel.Axpy64(u, w, columns[i])
		}
		kernel.Axpy64(u, -1, truth)
		return math.Sqrt(kernel.SumSquares64(u) / kernel.SumSquares64(truth))
	}
	return miss(leastSquares(columns, correction)), miss(leastSquares(rows, right)), short / all
}

// untrained returns the functions of an untrained network with the multiplier and S of the ansatz.
func untrained(t *testing.T, sys *pde.System, functions int, u0 []float64, random *rand.Rand) (columns [][]float64) {
	const n = 65
	net := fno.Network{Keys: fno.Keys{Width: 32, Layers: 4, Projection: 64, LastActivation: true}, Inputs: 4, Outputs: functions, Modes: []int{8, 12}}
	params := make([]float64, net.Size())
	net.Init(params, random)
	in, basis := make([]float64, 4*n*n), make([]float64, functions*n*n)
	curved, sizes := make([]float64, n*n), [2]float64{}
	for p := range n * n {
		if x := p % n; x > 1 && x < n-2 {
			curved[p] = u0[x-2] - 4*u0[x-1] + 6*u0[x] - 4*u0[x+1] + u0[x+2]
		}
		sizes[0] += u0[p%n] * u0[p%n] / (n * n)
		sizes[1] += curved[p] * curved[p] / (n * n)
	}
	for p := range n * n {
		in[p], in[n*n+p] = float64(p/n)/(n-1), float64(p%n)/(n-1)
		in[2*n*n+p], in[3*n*n+p] = u0[p%n]/math.Sqrt(sizes[0]), curved[p]/math.Sqrt(sizes[1])
	}
	pool := compute.NewPool(1)
	net.Float64([]int{n, n}, 1, pool).Forward(basis, params, in)
	smoothers, err := sys.Smoothers()
	if err != nil {
		t.Fatal(err)
	}
	mu := sys.Multiplier()
	for i := range functions {
		f := basis[i*n*n:][:n*n]
		kernel.Mul64(f, f, mu)
		for _, s := range smoothers[0] {
			for at := range n {
				multiply(f[at*n:(at+1)*n], s.Matrix)
			}
		}
		columns = append(columns, f)
	}
	return columns
}

// rowsOf returns the residual rows of a field, treated line by line along x, and those of the moments, each set over the root of its number.
func rowsOf(sys *pde.System, field, u0 []float64, treat func(line []float64)) []float64 {
	const n = 65
	out := make([]float64, n*n)
	for _, set := range sys.Sets {
		values := sys.NewRowValues(set, set.Points).Eval(0, field, u0)[0]
		scale := 1 / math.Sqrt(float64(len(values)))
		if set.Kind == pde.ResidualRows {
			for i, p := range set.Points {
				out[p] = values[i] * scale
			}
			for at := 0; at < n && treat != nil; at++ {
				treat(out[at*n : (at+1)*n])
			}
			continue
		}
		for _, v := range values {
			out = append(out, v*scale)
		}
	}
	return out
}

// leastSquares returns the weights of columns whose sum is nearest to y, by Gram-Schmidt, done twice, with columns that depend on
// others left out.
func leastSquares(columns [][]float64, y []float64) []float64 {
	m := len(columns)
	y = append([]float64(nil), y...)
	var q [][]float64
	weights, r := make([]float64, m), make([]float64, m*m)
	for j, c := range columns {
		v := append([]float64(nil), c...)
		size := math.Sqrt(kernel.SumSquares64(v))
		for range 2 {
			for i, e := range q {
				d := kernel.Dot(e, v)
				r[i*m+j] += d
				kernel.Axpy64(v, -d, e)
			}
		}
		rest := math.Sqrt(kernel.SumSquares64(v))
		if r[j*m+j] = rest; rest < 1e-10*size {
			r[j*m+j], rest = 0, math.Inf(1)
		}
		kernel.MulScalar64(v, 1/rest, v)
		q = append(q, v)
		weights[j] = kernel.Dot(v, y)
		kernel.Axpy64(y, -weights[j], v)
	}
	for j := m - 1; j >= 0; j-- {
		for k := j + 1; k < m; k++ {
			weights[j] -= r[j*m+k] * weights[k]
		}
		if weights[j] /= r[j*m+j]; r[j*m+j] == 0 {
			weights[j] = 0
		}
	}
	return weights
}
