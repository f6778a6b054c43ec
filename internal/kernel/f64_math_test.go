package kernel_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pihc/internal/check"
	"pihc/internal/kernel"
)

// The witness is math/big at 320 bits.
const bigPrec = 320

const (
	ln2Digits = "0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863326996418687542147932140170819150614827022"
	piDigits  = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651328230664709384460"
)

func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(bigPrec).SetFloat64(x) }

func bigParse(digits string) *big.Float {
	x, _, err := big.ParseFloat(digits, 10, bigPrec, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return x
}

func bigNew() *big.Float { return new(big.Float).SetPrec(bigPrec) }

// reduce returns x - n·m with n the nearest integer to x/m.
func reduce(x, m *big.Float) (*big.Float, int64) {
	q, _ := bigNew().Quo(x, m).Float64()
	n := math.RoundToEven(q)
	return bigNew().Sub(x, bigNew().Mul(bigOf(n), m)), int64(n)
}

func bigExp(x *big.Float) *big.Float {
	r, n := reduce(x, bigParse(ln2Digits))
	r.SetMantExp(r, -10)
	sum, term := bigOf(1), bigOf(1)
	for i := 1; i < 30; i++ {
		term.Quo(term.Mul(term, r), bigOf(float64(i)))
		sum.Add(sum, term)
	}
	for range 10 {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(n))
}

func bigLog(x *big.Float) *big.Float {
	var m big.Float
	e := x.MantExp(&m)
	f, _ := m.Float64()
	y := bigNew().Add(bigOf(math.Log(f)), bigNew().Mul(bigOf(float64(e)), bigParse(ln2Digits)))
	for range 3 { // Halley: the digits treble
		t := bigExp(y)
		d := bigNew().Quo(bigNew().Sub(x, t), bigNew().Add(x, t))
		y.Add(y, d.Add(d, d))
	}
	return y
}

func bigSin(x *big.Float, quarter int64) *big.Float {
	half := bigParse(piDigits)
	half.SetMantExp(half, -1)
	r, n := reduce(x, half)
	n += quarter
	z := bigNew().Mul(r, r)
	term, first := r, 2.0
	if n&1 != 0 {
		term, first = bigOf(1), 1
	}
	sum := bigNew().Set(term)
	term = bigNew().Set(term)
	for i := first; i < 60; i += 2 {
		term.Quo(term.Mul(term, z), bigOf(-i*(i+1)))
		sum.Add(sum, term)
	}
	if n&2 != 0 {
		sum.Neg(sum)
	}
	return sum
}

func bigTanh(x *big.Float) *big.Float {
	e := bigExp(bigNew().Add(x, x))
	return bigNew().Quo(bigNew().Sub(e, bigOf(1)), bigNew().Add(e, bigOf(1)))
}

func bigPow(x, y *big.Float) *big.Float { return bigExp(bigNew().Mul(y, bigLog(x))) }

// ulps returns |got - want| in units of the last place of want, which for
// subnormal results is 2^-1074. Overflow in the witness counts as infinity.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	if math.IsInf(w, 0) || math.IsInf(got, 0) || math.IsNaN(got) {
		if got == w {
			return 0
		}
		return math.Inf(1)
	}
	d, _ := bigNew().Sub(bigOf(got), want).Float64()
	return math.Abs(d) / (math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w))
}

type mathCase struct {
	name  string
	run   func(dst, x []float64)
	plain func(float64) float64
	want  func(x *big.Float) *big.Float
	bound float64 // ulps with vectors
	draws []func(*rand.Rand) float64
}

func uniform(lo, hi float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return lo + (hi-lo)*rng.Float64() }
}

func logUniform(lo, hi float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return math.Exp2(lo + (hi-lo)*rng.Float64()) }
}

var mathCases = []mathCase{
	{"exp", kernel.Exp64, plainExp, bigExp, 1.1, []func(*rand.Rand) float64{uniform(-1, 1), uniform(-745, 709), logUniform(-60, -1), uniform(-745.2, -707)}},
	{"log", kernel.Log64, plainLog, bigLog, 0.9, []func(*rand.Rand) float64{uniform(0.5, 2), logUniform(-1074, 1023), uniform(0.99, 1.01), logUniform(-1074, -1022)}},
	{"sin", kernel.Sin64, math.Sin, func(x *big.Float) *big.Float { return bigSin(x, 0) }, 0.9, []func(*rand.Rand) float64{uniform(-4, 4), uniform(-1e4, 1e4), uniform(-1e9, 1e9), logUniform(-60, 0), nearMultiples}},
	{"cos", kernel.Cos64, math.Cos, func(x *big.Float) *big.Float { return bigSin(x, 1) }, 0.9, []func(*rand.Rand) float64{uniform(-4, 4), uniform(-1e4, 1e4), uniform(-1e9, 1e9), logUniform(-60, 0), nearMultiples}},
	{"tanh", kernel.Tanh64, math.Tanh, bigTanh, 2.5, []func(*rand.Rand) float64{uniform(-1, 1), uniform(-23, 23), logUniform(-60, 5)}},
	powCase(-0.126), powCase(0.874), powCase(-1.126), powCase(1.0 / 3), powCase(7.25), powCase(40), powCase(-31),
}

// plainLog mends math.Log, which on amd64 is wrong for subnormal arguments.
func plainLog(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

func nearMultiples(rng *rand.Rand) float64 {
	return math.Nextafter(float64(rng.IntN(1e6))*(math.Pi/2), rng.NormFloat64())
}

func powCase(k float64) mathCase {
	r := min(1020, 1020/math.Abs(k))
	return mathCase{
		"pow", func(dst, x []float64) { kernel.PowScalar64(dst, x, k) },
		func(x float64) float64 { return plainPow(x, k) },
		func(x *big.Float) *big.Float { return bigPow(x, bigOf(k)) }, 1.1,
		[]func(*rand.Rand) float64{uniform(0, 3), logUniform(-r, r), uniform(0.999, 1.001)},
	}
}

// TestMathAccuracy holds every function to a stated bound against 320-bit
// arithmetic, at every width of vectors.
func TestMathAccuracy(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, c := range mathCases {
			for d, draw := range c.draws {
				x := make([]float64, 203)
				for i := range x {
					x[i] = draw(rng)
				}
				y := make([]float64, len(x))
				c.run(y, x)
				worst, at := 0.0, 0
				for i := range x {
					if e := ulps(y[i], c.want(bigOf(x[i]))); e > worst {
						worst, at = e, i
					}
				}
				bound := c.bound
				if kernel.Width() == 0 {
					bound = 512 // package math: pow of huge bases, sin and cos of large arguments
				}
				t.Logf("%s, range %d: %.3f ulp at %v", c.name, d, worst, x[at])
				if worst > bound {
					t.Errorf("%s(%v) = %v: %.3f ulp, bound %v", c.name, x[at], y[at], worst, bound)
				}
			}
		}
	})
}

var specials = []float64{
	0, math.Copysign(0, -1), 1, -1, 2, -2, 0.5, -0.5, 3, -3, math.Inf(1), math.Inf(-1), math.NaN(),
	math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.MaxFloat64, -math.MaxFloat64, 0x1p-1022, 0x1p-1023,
	709, 709.782712893385, 710, 1000, -708.4, -745.13, -745.14, -746, -1e4, 1e300, -1e300, 1e-300,
	math.Pi, math.Pi / 2, -math.Pi / 2, 0x1p30, -0x1p30, 0x1p29, 1e22, 22, 30, 0.625, 1 + 0x1p-52, 1 - 0x1p-53,
}

// agree compares with package math: special values exactly (any NaN, the sign
// of zero too), others to its own accuracy, some hundred units in the last place.
func agree(got, want float64) bool {
	switch {
	case math.IsNaN(want):
		return math.IsNaN(got)
	case want == 0 || math.IsInf(want, 0):
		return math.Float64bits(got) == math.Float64bits(want)
	}
	return math.Abs(got-want) <= math.Max(5e-13*math.Abs(want), 0x1p-1073)
}

// plainExp mends math.Exp, whose arm64 version gives 0 for the last subnormal numbers.
func plainExp(x float64) float64 {
	if x < -745 && x > -745.1332 {
		return math.SmallestNonzeroFloat64
	}
	return math.Exp(x)
}

// plainPow mends math.Pow likewise; package math overflows a little early.
func plainPow(x, y float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Exp(y * plainLog(x))
	}
	return math.Pow(x, y)
}

func TestMathSpecialValues(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		for _, c := range mathCases {
			y := make([]float64, len(specials))
			c.run(y, specials)
			for i, x := range specials {
				if want := c.plain(x); !agree(y[i], want) {
					t.Errorf("%s(%v) = %v, package math gives %v", c.name, x, y[i], want)
				}
			}
		}
		for _, k := range append([]float64{5, -5, 4, -4, 1e10, 2.5, -2.5, 1e300}, specials...) {
			y := make([]float64, len(specials))
			kernel.PowScalar64(y, specials, k)
			for i, x := range specials {
				if want := plainPow(x, k); !agree(y[i], want) {
					t.Errorf("pow(%v, constant %v) = %v, package math gives %v", x, k, y[i], want)
				}
			}
			ks := make([]float64, len(specials))
			for i := range ks {
				ks[i] = k
			}
			kernel.Pow64(y, specials, ks)
			for i, x := range specials {
				if want := plainPow(x, k); !agree(y[i], want) {
					t.Errorf("pow(%v, %v) = %v, package math gives %v", x, k, y[i], want)
				}
			}
		}
	})
}

func TestPowAccuracy(t *testing.T) {
	check.Widths(t, func(t *testing.T) {
		if kernel.Width() == 0 {
			return // package math
		}
		rng := rand.New(rand.NewPCG(3, 4))
		x, k, y := make([]float64, 501), make([]float64, 501), make([]float64, 501)
		for i := range x {
			x[i] = math.Exp2(40 * rng.NormFloat64())
			k[i] = 1000 * (2*rng.Float64() - 1) / (1e-3 + math.Abs(math.Log2(x[i])))
		}
		kernel.Pow64(y, x, k)
		for i := range x {
			if e := ulps(y[i], bigPow(bigOf(x[i]), bigOf(k[i]))); e > 1.1 {
				t.Errorf("pow(%v, %v) = %v: %.2f ulp", x[i], k[i], y[i], e)
			}
		}
	})
}

// Lengths around the vectors, unaligned starts, guard bands and dst = x; every
// element as if computed alone.
func TestMathShapes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	check.Widths(t, func(t *testing.T) {
		rng = rand.New(rand.NewPCG(5, 6))
		for _, c := range mathCases {
			for n := range 35 {
				x, y := check.Guard[float64](n, n%8), check.Guard[float64](n, (n+3)%8)
				want := make([]float64, n)
				for i := range n {
					x.Slice()[i] = c.draws[0](rng)
					if i%11 == 7 {
						x.Slice()[i] = specials[rng.IntN(len(specials))]
					}
					var one [1]float64
					c.run(one[:], x.Slice()[i:i+1])
					want[i] = one[0]
				}
				c.run(y.Slice(), x.Slice())
				check.Equal(t, y.Slice(), want)
				c.run(x.Slice(), x.Slice())
				check.Equal(t, x.Slice(), want)
				x.Verify(t)
				y.Verify(t)
			}
		}
	})
}

func BenchmarkMath(b *testing.B) {
	x, y := make([]float64, 256), make([]float64, 256)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range x {
		x[i] = 0.01 + rng.Float64()
	}
	for _, c := range mathCases[:6] {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.run(y, x)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/value")
		})
	}
}
