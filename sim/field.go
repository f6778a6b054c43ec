package sim

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pihc/internal/fft"
)

// randomField draws Gaussian random fields with zero mean on a periodic box.
// A field is drawn on one grid, mode by mode with the standard deviations of
// its spectrum, and its trigonometric interpolant evaluated on another. It
// owns its workspace: one serves one goroutine.
type randomField struct {
	shape     []int
	amplitude []float64 // of each mode of the half spectrum
	noise     []float64
	transform *interpolator
}

// newPeriodicKernelField draws fields whose covariance, before their mean is
// removed, is the periodic kernel
//
//	k(d) = exp(-Σ_a sin²(π d_a) / (2λ²)),
//
// d_a being the distance along axis a as a fraction of the box (the exponentiated
// sine squared of D. MacKay; λ = 0.8 in the paper's Navier-Stokes data). Its
// spectrum on the grid shape is exact: with z = 1/(4λ²), each axis contributes
// exp(-z) I_j(z), I_j the modified Bessel functions, folded into the grid's
// frequencies. Fields are returned on the grid to.
func newPeriodicKernelField(shape, to []int, lambda float64) (*randomField, error) {
	if err := checkShapes(shape, to); err != nil {
		return nil, err
	}
	if !(lambda > 0) || math.IsInf(lambda, 1) {
		return nil, fmt.Errorf("random field: lambda = %g: want a positive number", lambda)
	}
	axes := make([][]float64, len(shape))
	for a, n := range shape {
		axes[a] = foldedBessel(1/(4*lambda*lambda), n)
	}
	return newRandomField(shape, to, func(k []int) float64 {
		variance := 1.0
		for a, j := range k {
			variance *= axes[a][(j+shape[a])%shape[a]]
		}
		return variance
	}), nil
}

// newPowerLawField draws fields with the covariance operator
// scale² (-Δ + τ²)^(-α) on the unit box: the mode of frequency vector k has the
// standard deviation scale·(4π²|k|² + τ²)^(-α/2) (Li et al., Fourier neural
// operator, 2021, with scale = τ^(α - dimension/2), which a scale of 0 means).
func newPowerLawField(shape, to []int, alpha, tau, scale float64) (*randomField, error) {
	if err := checkShapes(shape, to); err != nil {
		return nil, err
	}
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	if !finite(alpha) || !finite(tau) || tau < 0 || !finite(scale) || scale < 0 {
		return nil, fmt.Errorf("random field: alpha %g, tau %g, scale %g: want finite numbers, tau and scale not negative", alpha, tau, scale)
	}
	if scale == 0 {
		if tau == 0 {
			return nil, fmt.Errorf("random field: tau = 0 needs a scale")
		}
		scale = math.Pow(tau, alpha-float64(len(shape))/2)
	}
	return newRandomField(shape, to, func(k []int) float64 {
		sum := tau * tau
		for _, j := range k {
			sum += 4 * math.Pi * math.Pi * float64(j*j)
		}
		return scale * scale * math.Pow(sum, -alpha)
	}), nil
}

func checkShapes(shape, to []int) error {
	if len(shape) != len(to) || len(shape) == 0 {
		return fmt.Errorf("random field of %d axes on a grid of %d", len(shape), len(to))
	}
	for i := range shape {
		if shape[i] < 1 || to[i] < 1 {
			return fmt.Errorf("random field: %d points drawn, %d returned on axis %d; want at least 1", shape[i], to[i], i)
		}
	}
	return nil
}

// newRandomField takes the variance of each mode, such that the variance of
// the field is their sum.
func newRandomField(shape, to []int, variance func(k []int) float64) *randomField {
	f := &randomField{shape: append([]int{}, shape...), transform: NewInterpolator(shape, to)}
	size := 1
	for _, n := range shape {
		size *= n
	}
	f.noise = make([]float64, size)
	f.amplitude = make([]float64, f.transform.from.Modes())
	k := make([]int, len(shape))
	for i := range f.amplitude {
		rest, zero := i, true
		for a := len(shape) - 1; a >= 0; a-- {
			stored := shape[a]
			if a == len(shape)-1 {
				stored = shape[a]/2 + 1
			}
			k[a] = fft.Frequency(rest%stored, shape[a])
			rest /= stored
			zero = zero && k[a] == 0
		}
		if !zero {
			// White noise of variance 1 at each point has variance 1/size in
			// each normalised mode.
			f.amplitude[i] = math.Sqrt(variance(k) * float64(size))
		}
	}
	return f
}

// Sample draws one field into dst, on the grid that the constructor was given.
// It uses as many normal variates as the grid of the draw has points.
func (f *randomField) Sample(rng *rand.Rand, dst []float64) {
	for i := range f.noise {
		f.noise[i] = rng.NormFloat64()
	}
	s := f.transform.fromSpectrum
	f.transform.from.Forward(s.re, s.im, f.noise)
	for i, a := range f.amplitude {
		s.re[i] *= a
		s.im[i] *= a
	}
	f.transform.synthesize(dst)
}

// foldedBessel returns Σ_m exp(-z) I_{j+mn}(z) for j in [0, n), the exact
// eigenvalues, divided by n, of exp(z(cos 2πd - 1)) on n points. All terms are
// positive, so small ones keep their relative accuracy, which a transform of
// the kernel's values would lose.
func foldedBessel(z float64, n int) []float64 {
	// Miller's backward recurrence I_{j-1} = I_{j+1} + (2j/z) I_j, normalised by
	// I_0 + 2 Σ I_j = exp(z). At the start I_j is below the smallest number
	// that matters: I_j(z) exp(-z) < (z/2)^j/j!, and < exp(-j²/(2z)·...) for
	// large z, so j of a few times sqrt(z) beyond z is ample.
	start := int(2*z+40*math.Sqrt(z)) + 60
	b := make([]float64, start+2)
	b[start] = 1e-300
	sum := 0.0
	for j := start; j > 0; j-- {
		b[j-1] = b[j+1] + 2*float64(j)/z*b[j]
		if b[j-1] > 1e250 {
			for i := j - 1; i < len(b); i++ {
				b[i] *= 1e-250
			}
			sum *= 1e-250
		}
		sum += 2 * b[j-1]
	}
	sum -= b[0]
	folded := make([]float64, n)
	for j := start; j >= 0; j-- {
		x := b[j] / sum
		folded[j%n] += x
		if j > 0 {
			folded[(n-j%n)%n] += x
		}
	}
	return folded
}
