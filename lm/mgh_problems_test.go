package lm

import "math"

// minimum is a value of Σf² that counts as solved, and why it is one.
type minimum struct {
	value float64
	why   string
}

// mghProblem is one problem of Moré, Garbow and Hillstrom, "Testing
// unconstrained optimization software", TOMS 7 (1981), numbered as there.
type mghProblem struct {
	number int
	name   string
	n, m   int
	start  []float64
	f      func(r, x []dual)
	minima []minimum // the global one first
	rank   int       // of J everywhere, where that is less than n; else 0
	// expected is, per start factor 1, 10, 100, the reason why a run is
	// expected to end elsewhere; "" where it is not.
	expected [3]string
}

func fill(n int, f func(i int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f(i + 1)
	}
	return x
}

func constant(n int, v float64) []float64 { return fill(n, func(int) float64 { return v }) }

func repeat(n int, pattern ...float64) []float64 {
	return fill(n, func(i int) float64 { return pattern[(i-1)%len(pattern)] })
}

func one(v float64) []minimum { return []minimum{{value: v, why: "the known global minimum"}} }

func with(ms []minimum, v float64, why string) []minimum { return append(ms, minimum{v, why}) }

func sumOf(x []dual) dual {
	s := con(0)
	for _, v := range x {
		s = s.add(v)
	}
	return s
}

// mghProblems returns the 35 problems. data holds the vectors of
// testdata/mgh.txt.
func mghProblems(data map[string][]float64) []mghProblem {
	return append(mghSmall(data), mghLarge(data)...)
}

// mghSmall returns problems 1 to 19, whose sizes are fixed.
func mghSmall(data map[string][]float64) []mghProblem {
	return []mghProblem{
		{
			number: 1, name: "Rosenbrock", n: 2, m: 2, start: []float64{-1.2, 1}, minima: one(0),
			f: func(r, x []dual) {
				r[0] = x[1].sub(x[0].square()).times(10)
				r[1] = x[0].neg().plus(1)
			},
		},
		{
			number: 2, name: "Freudenstein-Roth", n: 2, m: 2, start: []float64{.5, -2},
			minima: with(one(0), 48.9842536792, "the local minimum at (11.41, -0.8968) that lies on the way from x0"),
			f: func(r, x []dual) {
				r[0] = x[0].plus(-13).add(x[1].neg().plus(5).mul(x[1]).plus(-2).mul(x[1]))
				r[1] = x[0].plus(-29).add(x[1].plus(1).mul(x[1]).plus(-14).mul(x[1]))
			},
		},
		{
			number: 3, name: "Powell badly scaled", n: 2, m: 2, start: []float64{0, 1}, minima: one(0),
			expected: [3]string{"", "", "exp(-100) and its derivative vanish against 1: flat with infimum 1e-8 along x2 to infinity"},
			f: func(r, x []dual) {
				r[0] = x[0].mul(x[1]).times(1e4).plus(-1)
				r[1] = x[0].neg().exp().add(x[1].neg().exp()).plus(-1.0001)
			},
		},
		{
			number: 4, name: "Brown badly scaled", n: 2, m: 3, start: []float64{1, 1}, minima: one(0),
			f: func(r, x []dual) {
				r[0], r[1], r[2] = x[0].plus(-1e6), x[1].plus(-2e-6), x[0].mul(x[1]).plus(-2)
			},
		},
		{
			number: 5, name: "Beale", n: 2, m: 3, start: []float64{1, 1}, minima: one(0),
			f: func(r, x []dual) {
				for i, y := range []float64{1.5, 2.25, 2.625} {
					r[i] = x[0].mul(x[1].power(float64(i + 1)).neg().plus(1)).neg().plus(y)
				}
			},
		},
		{
			number: 6, name: "Jennrich-Sampson", n: 2, m: 10, start: []float64{.3, .4},
			minima:   with(one(124.362182356), 259.580190, "the local minimum where one exponential has died out"),
			expected: [3]string{"", "", "exp(400) squared overflows: the cost is not finite at the start"},
			f: func(r, x []dual) {
				for i := range r {
					k := float64(i + 1)
					r[i] = x[0].times(k).exp().add(x[1].times(k).exp()).neg().plus(2 + 2*k)
				}
			},
		},
		{
			number: 7, name: "Helical valley", n: 3, m: 3, start: []float64{-1, 0, 0}, minima: one(0),
			f: func(r, x []dual) {
				theta := x[1].div(x[0]).atan().times(1 / (2 * math.Pi))
				if x[0].v < 0 {
					theta = theta.plus(.5)
				}
				r[0] = x[2].sub(theta.times(10)).times(10)
				r[1] = x[0].square().add(x[1].square()).sqrt().plus(-1).times(10)
				r[2] = x[2]
			},
		},
		{
			number: 8, name: "Bard", n: 3, m: 15, start: []float64{1, 1, 1},
			minima: with(one(8.21487730658e-3), 17.4286933, "the infimum along x2, x3 to minus infinity"),
			f: func(r, x []dual) {
				for i, y := range data["bard08_y"] {
					u, v := float64(i+1), float64(15-i)
					w := min(u, v)
					r[i] = x[0].add(con(u).div(x[1].times(v).add(x[2].times(w)))).neg().plus(y)
				}
			},
		},
		{
			number: 9, name: "Gaussian", n: 3, m: 15, start: []float64{.4, 1, 0}, minima: one(1.12793276962e-8),
			f: func(r, x []dual) {
				for i, y := range data["gaussian09_y"] {
					t := float64(7-i) / 2
					r[i] = x[0].mul(x[1].mul(x[2].neg().plus(t).square()).times(-.5).exp()).plus(-y)
				}
			},
		},
		{
			number: 10, name: "Meyer", n: 3, m: 16, start: []float64{.02, 4000, 250}, minima: one(87.9458551707),
			f: func(r, x []dual) {
				for i, y := range data["meyer10_y"] {
					r[i] = x[0].mul(x[1].div(x[2].plus(45 + 5*float64(i+1))).exp()).plus(-y)
				}
			},
		},
		{
			number: 11, name: "Gulf research", n: 3, m: 10, start: []float64{5, 2.5, .15},
			minima:   one(0),
			expected: [3]string{"", "", "J underflows to zero: the start is stationary (0.0385, the plateau around a listed flat local minimum)"},
			f: func(r, x []dual) {
				for i := range r {
					t := float64(i+1) / 100
					y := 25 + math.Pow(-50*math.Log(t), 2./3)
					r[i] = x[1].neg().plus(y).abs().pow(x[2]).div(x[0]).neg().exp().plus(-t)
				}
			},
		},
		{
			number: 12, name: "Box 3-D", n: 3, m: 10, start: []float64{0, 10, 20}, minima: one(0),
			f: func(r, x []dual) {
				for i := range r {
					t := .1 * float64(i+1)
					r[i] = x[0].times(-t).exp().sub(x[1].times(-t).exp()).sub(x[2].times(math.Exp(-t) - math.Exp(-10*t)))
				}
			},
		},
		{
			number: 13, name: "Powell singular", n: 4, m: 4, start: []float64{3, -1, 0, 1}, minima: one(0),
			f: func(r, x []dual) { powellSingular(r, x) },
		},
		{
			number: 14, name: "Wood", n: 4, m: 6, start: []float64{-3, -1, -3, -1}, minima: one(0),
			f: func(r, x []dual) {
				r[0], r[1] = x[1].sub(x[0].square()).times(10), x[0].neg().plus(1)
				r[2], r[3] = x[3].sub(x[2].square()).times(math.Sqrt(90)), x[2].neg().plus(1)
				r[4], r[5] = x[1].add(x[3]).plus(-2).times(math.Sqrt(10)), x[1].sub(x[3]).times(1/math.Sqrt(10))
			},
		},
		{
			number: 15, name: "Kowalik-Osborne", n: 4, m: 11, start: []float64{.25, .39, .415, .39},
			minima: with(one(3.07505603849e-4), 1.0273430e-3, "the infimum along x3, x4 to infinity"),
			f: func(r, x []dual) {
				for i, y := range data["kowalik15_y"] {
					u := data["kowalik15_u"][i]
					num := x[0].mul(x[1].times(u).plus(u * u))
					r[i] = num.div(x[2].times(u).add(x[3]).plus(u * u)).neg().plus(y)
				}
			},
		},
		{
			number: 16, name: "Brown-Dennis", n: 4, m: 20, start: []float64{25, 5, -5, -1}, minima: one(85822.2016264),
			f: func(r, x []dual) {
				for i := range r {
					t := float64(i+1) / 5
					a := x[0].add(x[1].times(t)).plus(-math.Exp(t))
					b := x[2].add(x[3].times(math.Sin(t))).plus(-math.Cos(t))
					r[i] = a.square().add(b.square())
				}
			},
		},
		{
			number: 17, name: "Osborne 1", n: 5, m: 33, start: []float64{.5, 1.5, -1, .01, .02}, minima: one(5.46489469748e-5),
			f: func(r, x []dual) {
				for i, y := range data["osborne1_17_y"] {
					t := 10 * float64(i)
					r[i] = x[0].add(x[1].mul(x[3].times(-t).exp())).add(x[2].mul(x[4].times(-t).exp())).neg().plus(y)
				}
			},
		},
		{
			number: 18, name: "Biggs EXP6", n: 6, m: 13, start: []float64{1, 2, 1, 1, 1, 1},
			minima: with(with(one(0), 5.655649925e-3, "the known local minimum"), 0.306366772625, "the known flat local minimum"),
			f: func(r, x []dual) {
				for i := range r {
					t := .1 * float64(i+1)
					y := math.Exp(-t) - 5*math.Exp(-10*t) + 3*math.Exp(-4*t)
					r[i] = x[2].mul(x[0].times(-t).exp()).sub(x[3].mul(x[1].times(-t).exp())).
						add(x[5].mul(x[4].times(-t).exp())).plus(-y)
				}
			},
		},
		{
			number: 19, name: "Osborne 2", n: 11, m: 65, start: []float64{1.3, .65, .65, .7, .6, 3, 5, 7, 2, 4.5, 5.5},
			minima: with(one(4.01377362935e-2), 1.78981358688, "the local minimum listed by Kuntsevich and Kappel (SolvOpt unctest.m)"),
			f: func(r, x []dual) {
				for i, y := range data["osborne2_19_y"] {
					t := float64(i) / 10
					s := x[0].mul(x[4].times(-t).exp())
					for k := 1; k <= 3; k++ {
						s = s.add(x[k].mul(x[k+4].mul(x[k+7].neg().plus(t).square()).neg().exp()))
					}
					r[i] = s.neg().plus(y)
				}
			},
		},
	}
}

func powellSingular(r, x []dual) {
	r[0] = x[0].add(x[1].times(10))
	r[1] = x[2].sub(x[3]).times(math.Sqrt(5))
	r[2] = x[1].sub(x[2].times(2)).square()
	r[3] = x[0].sub(x[3]).square().times(math.Sqrt(10))
}

// mghLarge returns problems 20 to 35, whose sizes are a choice.
func mghLarge(data map[string][]float64) []mghProblem {
	const n = 10
	h := 1 / float64(n+1)
	t := func(i int) float64 { return float64(i) * h }
	return []mghProblem{
		{
			number: 20, name: "Watson", n: 9, m: 31, start: constant(9, 0), minima: one(1.39976013809e-6),
			f: func(r, x []dual) {
				for i := range 29 {
					t := float64(i+1) / 29
					a, b := con(0), con(0)
					for j := range x {
						if j > 0 {
							a = a.add(x[j].times(float64(j) * math.Pow(t, float64(j-1))))
						}
						b = b.add(x[j].times(math.Pow(t, float64(j))))
					}
					r[i] = a.sub(b.square()).plus(-1)
				}
				r[29], r[30] = x[0], x[1].sub(x[0].square()).plus(-1)
			},
		},
		{
			number: 21, name: "Extended Rosenbrock", n: 20, m: 20, start: repeat(20, -1.2, 1), minima: one(0),
			f: func(r, x []dual) {
				for i := 0; i < len(x); i += 2 {
					r[i] = x[i+1].sub(x[i].square()).times(10)
					r[i+1] = x[i].neg().plus(1)
				}
			},
		},
		{
			number: 22, name: "Extended Powell singular", n: 20, m: 20, start: repeat(20, 3, -1, 0, 1), minima: one(0),
			f: func(r, x []dual) {
				for i := 0; i < len(x); i += 4 {
					powellSingular(r[i:i+4], x[i:i+4])
				}
			},
		},
		{
			number: 23, name: "Penalty I", n: n, m: n + 1, start: fill(n, func(i int) float64 { return float64(i) }), minima: one(7.08765146709e-5),
			f: func(r, x []dual) {
				s := con(-.25)
				for i, v := range x {
					r[i] = v.plus(-1).times(math.Sqrt(1e-5))
					s = s.add(v.square())
				}
				r[n] = s
			},
		},
		{
			number: 24, name: "Penalty II", n: n, m: 2 * n, start: constant(n, .5), minima: one(2.93660537457e-4),
			f: func(r, x []dual) {
				a := math.Sqrt(1e-5)
				e := func(i int) float64 { return math.Exp(float64(i) / 10) }
				r[0] = x[0].plus(-.2)
				s := con(-1)
				for i := 1; i <= n; i++ {
					xi := x[i-1]
					s = s.add(xi.square().times(float64(n - i + 1)))
					if i > 1 {
						grow := xi.times(.1).exp()
						r[i-1] = grow.add(x[i-2].times(.1).exp()).plus(-e(i) - e(i-1)).times(a)
						r[n+i-2] = grow.plus(-math.Exp(-.1)).times(a)
					}
				}
				r[2*n-1] = s
			},
		},
		{
			number: 25, name: "Variably dimensioned", n: n, m: n + 2, start: fill(n, func(i int) float64 { return 1 - float64(i)/n }), minima: one(0),
			f: func(r, x []dual) {
				s := con(0)
				for i, v := range x {
					r[i] = v.plus(-1)
					s = s.add(r[i].times(float64(i + 1)))
				}
				r[n], r[n+1] = s, s.square()
			},
		},
		{
			number: 26, name: "Trigonometric", n: n, m: n, start: constant(n, 1./n),
			minima: with(one(0), 2.79505612188e-5, "the known local minimum near x0"),
			f: func(r, x []dual) {
				s := con(n)
				for _, v := range x {
					s = s.sub(v.cos())
				}
				for i, v := range x {
					r[i] = s.add(v.cos().neg().plus(1).times(float64(i + 1))).sub(v.sin())
				}
			},
		},
		{
			number: 27, name: "Brown almost-linear", n: n, m: n, start: constant(n, .5),
			minima: with(one(0), 1, "the known local minimum at (0, ..., 0, n+1)"),
			f: func(r, x []dual) {
				s, product := sumOf(x), con(1)
				for i, v := range x {
					r[i] = v.add(s).plus(-(n + 1))
					product = product.mul(v)
				}
				r[n-1] = product.plus(-1)
			},
		},
		{
			number: 28, name: "Discrete boundary value", n: n, m: n, start: fill(n, func(i int) float64 { return t(i) * (t(i) - 1) }), minima: one(0),
			f: func(r, x []dual) {
				for i := range x {
					c := x[i].plus(t(i+1) + 1)
					r[i] = x[i].times(2).add(c.mul(c.square()).times(h * h / 2))
					if i > 0 {
						r[i] = r[i].sub(x[i-1])
					}
					if i+1 < n {
						r[i] = r[i].sub(x[i+1])
					}
				}
			},
		},
		{
			number: 29, name: "Discrete integral", n: n, m: n, start: fill(n, func(i int) float64 { return t(i) * (t(i) - 1) }), minima: one(0),
			f: func(r, x []dual) {
				for i := range x {
					s := con(0)
					for j := range x {
						c := x[j].plus(t(j+1) + 1)
						weight := (1 - t(i+1)) * t(j+1)
						if j > i {
							weight = t(i+1) * (1 - t(j+1))
						}
						s = s.add(c.mul(c.square()).times(weight))
					}
					r[i] = x[i].add(s.times(h / 2))
				}
			},
		},
		{
			number: 30, name: "Broyden tridiagonal", n: n, m: n, start: constant(n, -1), minima: one(0),
			f: func(r, x []dual) {
				for i, v := range x {
					r[i] = v.times(-2).plus(3).mul(v).plus(1)
					if i > 0 {
						r[i] = r[i].sub(x[i-1])
					}
					if i+1 < n {
						r[i] = r[i].sub(x[i+1].times(2))
					}
				}
			},
		},
		{
			number: 31, name: "Broyden banded", n: n, m: n, start: constant(n, -1), minima: one(0),
			f: func(r, x []dual) {
				for i, v := range x {
					s := v.mul(v.square().times(5).plus(2)).plus(1)
					for j := max(0, i-5); j <= min(n-1, i+1); j++ {
						if j != i {
							s = s.sub(x[j].mul(x[j].plus(1)))
						}
					}
					r[i] = s
				}
			},
		},
		{
			number: 32, name: "Linear, full rank", n: n, m: 20, start: constant(n, 1), minima: one(20 - n),
			f: func(r, x []dual) {
				s := sumOf(x).times(-2. / 20).plus(-1)
				for i := range r {
					r[i] = s
					if i < n {
						r[i] = r[i].add(x[i])
					}
				}
			},
		},
		{
			number: 33, name: "Linear, rank 1", n: n, m: 20, start: constant(n, 1), minima: one(20. * 19 / (2 * 41)), rank: 1,
			f: func(r, x []dual) {
				s := con(0)
				for j, v := range x {
					s = s.add(v.times(float64(j + 1)))
				}
				for i := range r {
					r[i] = s.times(float64(i + 1)).plus(-1)
				}
			},
		},
		{
			number: 34, name: "Linear, rank 1, zero columns and rows", n: n, m: 20, start: constant(n, 1),
			minima: one((400 + 60 - 6) / (2. * 37)), rank: 1,
			f: func(r, x []dual) {
				s := con(0)
				for j := 1; j < n-1; j++ {
					s = s.add(x[j].times(float64(j + 1)))
				}
				for i := range r {
					r[i] = con(-1)
					if i > 0 && i < 19 {
						r[i] = s.times(float64(i)).plus(-1)
					}
				}
			},
		},
		{
			number: 35, name: "Chebyquad", n: 8, m: 8, start: fill(8, func(i int) float64 { return float64(i) / 9 }), minima: one(3.51687372568e-3),
			f: func(r, x []dual) {
				clear(r)
				for _, v := range x {
					u := v.times(2).plus(-1)
					before, now := con(1), u
					for i := range r {
						r[i] = r[i].add(now.times(1. / 8))
						before, now = now, u.times(2).mul(now).sub(before)
					}
				}
				for i := 1; i < len(r); i += 2 {
					k := float64(i + 1)
					r[i] = r[i].plus(1 / (k*k - 1))
				}
			},
		},
	}
}
