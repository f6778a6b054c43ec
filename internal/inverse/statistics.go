package inverse

import "math"

// Doubtful is the probability of a larger chi-squared below which data reject a fit, and above whose complement their deviations are too large.
const Doubtful = 1e-3

// Rejects reports whether chi-squared is too large for its degrees, also where finer grids, which moved it by so much, take as much
// again from it as steps that shrink with the root of the grid's do.
func Rejects(chiSquared, moved float64, degrees int) bool {
	return degrees > 0 && chiSquaredTail(chiSquared-moved/(1-math.Sqrt(0.5)), float64(degrees)) < Doubtful
}

// A Part is one of the sums that chi-squared is made of. Its degrees are what a linear problem expects of it, the number of its squares less
// the trace of their part of the hat matrix, so that those of all parts add up to the whole's. P, of a larger one, takes it for a variate of
// chi-squared of so many degrees, which it is nearly.
type Part struct {
	Name                   string
	ChiSquared, Degrees, P float64
}

func part(name string, sum, degrees float64) Part {
	p := Part{name, sum, degrees, 1}
	if degrees > 1e-6 {
		p.P = chiSquaredTail(sum, degrees)
	}
	return p
}

// chiSquaredTail is the probability that a chi-squared variate of so many degrees of freedom is larger than x: the regularised
// incomplete gamma function Q(degrees/2, x/2), by its series or its continued fraction (W. H. Press et al., Numerical Recipes, 6.2).
func chiSquaredTail(x, degrees float64) float64 {
	a := degrees / 2
	x /= 2
	if x <= 0 {
		return 1
	}
	logGamma, _ := math.Lgamma(a)
	front := math.Exp(-x + a*math.Log(x) - logGamma)
	if x < a+1 {
		term := 1 / a
		sum := term
		for n := a + 1; term > sum*1e-16; n++ {
			term *= x / n
			sum += term
		}
		return 1 - front*sum
	}
	const tiny = 1e-300
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for i := 1.0; i < 1e5; i++ {
		b += 2
		d = 1 / nonzero(-i*(i-a)*d+b, tiny)
		c = nonzero(b-i*(i-a)/c, tiny)
		h *= d * c
		if math.Abs(d*c-1) < 1e-15 {
			break
		}
	}
	return front * h
}

func nonzero(x, tiny float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}

// normalQuantile is the z that a standard normal variate is below with a probability.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// information is JᵀJ of parameters scaled to unit diagonal, by its eigenvalues.
type information struct {
	n       int
	scale   []float64 // norms of the columns of J
	values  []float64
	vectors []float64 // (n, n): vector k in column k
}

// leastSeen is the eigenvalue, of n that add up to n, below which a direction counts as unseen: derivatives are right to about 1e-9, and
// eigenvalues to its square, but interpolation and rows that are solved to a tolerance leave more.
const leastSeen = 1e-10

// newInformation takes J (rows, n).
func newInformation(jac []float64, n int) *information {
	f := &information{n: n, scale: make([]float64, n)}
	a := make([]float64, n*n)
	for i := 0; i < len(jac); i += n {
		for j, v := range jac[i : i+n] {
			for k, w := range jac[i : i+n] {
				a[j*n+k] += v * w
			}
		}
	}
	for j := range n {
		f.scale[j] = math.Sqrt(a[j*n+j])
	}
	for j := range n {
		for k := range n {
			if s := f.scale[j] * f.scale[k]; s > 0 {
				a[j*n+k] /= s
			}
		}
	}
	f.values, f.vectors = eigen(a, n)
	return f
}

func (f *information) seen(k int) bool { return f.values[k] > leastSeen }

// rank is the number of directions that are seen.
func (f *information) rank() (r int) {
	for k := range f.n {
		if f.seen(k) {
			r++
		}
	}
	return r
}

// unseen reports whether a parameter has part in an unseen direction.
func (f *information) unseen(j int) bool {
	part := 0.0
	for k := range f.n {
		if !f.seen(k) {
			part += f.vectors[j*f.n+k] * f.vectors[j*f.n+k]
		}
	}
	return part > 1e-8
}

// solve is the shortest x, in scaled coordinates, with JᵀJ x = b.
func (f *information) solve(b []float64) []float64 {
	n, x := f.n, make([]float64, f.n)
	for k := range n {
		if !f.seen(k) {
			continue
		}
		part := 0.0
		for j, s := range f.scale {
			if s > 0 {
				part += f.vectors[j*n+k] * b[j] / s
			}
		}
		for j, s := range f.scale {
			if s > 0 {
				x[j] += f.vectors[j*n+k] * part / f.values[k] / s
			}
		}
	}
	return x
}

// covariance is the pseudo-inverse of JᵀJ (n, n).
func (f *information) covariance() []float64 {
	c, unit := make([]float64, f.n*f.n), make([]float64, f.n)
	for j := range f.n {
		clear(unit)
		unit[j] = 1
		copy(c[j*f.n:], f.solve(unit))
	}
	return c
}

// eigen returns the eigenvalues of a symmetric matrix (n, n), and its eigenvectors in columns, by Jacobi's rotations (G. H. Golub and
// C. F. Van Loan, Matrix Computations, 8.5). It overwrites a.
func eigen(a []float64, n int) (values, vectors []float64) {
	vectors, values = make([]float64, n*n), make([]float64, n)
	for i := range n {
		vectors[i*n+i] = 1
	}
	for range 60 {
		off := 0.0
		for p := range n {
			for q := range p {
				off += a[p*n+q] * a[p*n+q]
				rotate(a, vectors, n, q, p)
			}
		}
		if off == 0 {
			break
		}
	}
	for i := range n {
		values[i] = a[i*n+i]
	}
	return values, vectors
}

// rotate makes the entry (p, q) zero.
func rotate(a, vectors []float64, n, p, q int) {
	if math.Abs(a[p*n+q]) <= 1e-18*math.Sqrt(math.Abs(a[p*n+p]*a[q*n+q])) {
		a[p*n+q], a[q*n+p] = 0, 0
		return
	}
	tau := (a[q*n+q] - a[p*n+p]) / (2 * a[p*n+q])
	t := 1 / (math.Abs(tau) + math.Sqrt(1+tau*tau))
	if tau < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(1+t*t)
	s := t * c
	for k := range n {
		x, y := a[k*n+p], a[k*n+q]
		a[k*n+p], a[k*n+q] = c*x-s*y, s*x+c*y
		x, y = vectors[k*n+p], vectors[k*n+q]
		vectors[k*n+p], vectors[k*n+q] = c*x-s*y, s*x+c*y
	}
	for k := range n {
		x, y := a[p*n+k], a[q*n+k]
		a[p*n+k], a[q*n+k] = c*x-s*y, s*x+c*y
	}
}
