package sim

import (
	"fmt"
	"math"

	"pihc/internal/fft"
)

// navierStokes is the incompressible flow of a viscous fluid on a periodic box
// in vorticity form,
//
//	w_t + v·∇w = ν Δw + f,   -Δψ = w,   v = (ψ_y, -ψ_x),
//
// by a Fourier-Galerkin method: products are formed on the grid and all modes
// above 2/3 of its highest one dropped, so that no product aliases (Orszag
// 1971). Advection takes four transforms, in the form of Basdevant (1983),
//
//	v·∇w = (∂_xx - ∂_yy)(v_x v_y) + ∂_xy(v_y² - v_x²).
//
// In time: the Runge-Kutta method of order 4 with five stages and error estimate
// of Merson (1957), in the variable from which the viscous decay is factored
// out (Lawson 1967). For advection it is stable up to steps of 3.46 inverse
// frequencies, as many per stage as the classical method, whose embedded
// estimates cannot see the error of a steady right-hand side. Steps end on the
// output times.
//
// The zero values of Length, RTol and ATol mean {1, 1}, 1e-7 and 0. A value may
// be used by several goroutines at once.
type navierStokes struct {
	Viscosity float64    // ν >= 0
	Points    [2]int     // along x and y, at least 4 each
	Length    [2]float64 // of the box
	Time      float64    // duration
	Outputs   int        // times, at least 2, the first the initial one

	// Forcing is f at a point; nil is none. Its mean is dropped.
	Forcing func(x, y float64) float64
	// RemoveMean subtracts the mean of the initial vorticity. Without it a mean
	// that is not zero is an error: no periodic velocity has one.
	RemoveMean bool

	// RTol and ATol bound the error of one step: in the norm of L2 over the box,
	// at most ATol + RTol times that of the vorticity.
	RTol, ATol float64
}

// meanTolerance is how large a mean, relative to the root mean square, counts
// as zero: rounding of float32 data.
const meanTolerance = 1e-6

func (n navierStokes) withDefaults() navierStokes {
	for i := range n.Length {
		if n.Length[i] == 0 {
			n.Length[i] = 1
		}
	}
	if n.RTol == 0 {
		n.RTol = 1e-7
	}
	return n
}

// Validate reports the first thing wrong with the constants and sizes.
func (n navierStokes) Validate() error {
	n = n.withDefaults()
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
	switch {
	case !(n.Viscosity >= 0) || math.IsInf(n.Viscosity, 1):
		return fmt.Errorf("viscosity nu = %g: want a number >= 0", n.Viscosity)
	case n.Points[0] < 4 || n.Points[1] < 4:
		return fmt.Errorf("grid of %d x %d points; navier-stokes needs at least 4 x 4", n.Points[0], n.Points[1])
	case n.Outputs < 2:
		return fmt.Errorf("axis t has %d points; navier-stokes needs at least 2", n.Outputs)
	case !positive(n.Length[0]) || !positive(n.Length[1]):
		return fmt.Errorf("box of %g x %g: want positive lengths", n.Length[0], n.Length[1])
	case !positive(n.Time):
		return fmt.Errorf("duration %g: want a positive number", n.Time)
	case !positive(n.RTol) || !(n.ATol >= 0):
		return fmt.Errorf("tolerances rtol %g, atol %g: want a positive and a non-negative number", n.RTol, n.ATol)
	case n.RTol < 1e-13:
		return fmt.Errorf("rtol %g is below the rounding of float64; want at least 1e-13", n.RTol)
	}
	return nil
}

// Shape returns the shape of a solution, (Outputs, x, y).
func (n navierStokes) Shape() []int { return []int{n.Outputs, n.Points[0], n.Points[1]} }

// Solve writes the vorticity from the initial one (x, y) to dst
// (Outputs, x, y). The first output is the initial vorticity without its mean,
// if that was removed; later ones have the modes of the dealiased flow. dst and
// initial must not overlap. It panics if dst has another size, and returns an
// error if Validate does, if the initial vorticity has another size, is not
// finite or has a mean, or if the integration breaks down (ErrStepSize).
func (n navierStokes) Solve(dst, initial []float64) (Stats, error) {
	if err := n.Validate(); err != nil {
		return Stats{}, err
	}
	n = n.withDefaults()
	size := n.Points[0] * n.Points[1]
	if len(dst) != n.Outputs*size {
		panic("sim: NavierStokes.Solve: dst must be (Outputs, x, y)")
	}
	if err := checkInitial(initial, size); err != nil {
		return Stats{}, err
	}
	mean, square := 0.0, 0.0
	for _, w := range initial {
		mean += w
		square += w * w
	}
	mean /= float64(size)
	if rms := math.Sqrt(square / float64(size)); !n.RemoveMean && math.Abs(mean) > meanTolerance*rms {
		return Stats{}, fmt.Errorf("initial vorticity has mean %.3g (root mean square %.3g); a periodic flow has mean 0 (option remove_mean subtracts it)", mean, rms)
	}
	first := dst[:size]
	copy(first, initial)
	if n.RemoveMean {
		for i := range first {
			first[i] -= mean
		}
	}
	return newFlow(n).integrate(dst, n)
}

// flow is the state of one solve. Spectra are normalised, so that the vorticity
// is Σ_k w_k exp(i k·x), and hold the kept modes only: kx from -kept[0] to
// kept[0] in the order 0, 1, ..., -1, ky from 0 to kept[1].
type flow struct {
	points, kept [2]int
	kx, ky       []float64 // angular wave numbers of rows and columns
	viscosity    float64
	stats        Stats

	w, stage, next spectrum    // vorticity
	n              [5]spectrum // derivatives without viscosity, n[0] of w
	forcing        spectrum    // empty if there is none
	decayX, decayY []float64   // exp(-ν k² h/6) = decayX·decayY
	decayStep      float64     // the h they belong to

	pair    *fft.Real // two interleaved fields
	fields  []float64
	grid    spectrum
	single  *fft.Real
	oneGrid spectrum
}

func newFlow(c navierStokes) *flow {
	f := &flow{points: c.Points, viscosity: c.Viscosity}
	for i := range f.kept {
		f.kept[i] = (c.Points[i] - 1) / 3 // 3 kept < points
	}
	rows, columns := 2*f.kept[0]+1, f.kept[1]+1
	for i := range rows {
		f.kx = append(f.kx, 2*math.Pi/c.Length[0]*float64(fft.Frequency(i, rows)))
	}
	for j := range columns {
		f.ky = append(f.ky, 2*math.Pi/c.Length[1]*float64(j))
	}
	for _, s := range []*spectrum{&f.w, &f.stage, &f.next, &f.n[0], &f.n[1], &f.n[2], &f.n[3], &f.n[4]} {
		*s = newSpectrum(rows * columns)
	}
	f.decayX, f.decayY = make([]float64, rows), make([]float64, columns)
	f.pair, f.single = fft.NewReal(c.Points[:], 2), fft.NewReal(c.Points[:], 1)
	f.fields = make([]float64, f.pair.Size())
	f.grid, f.oneGrid = newSpectrum(f.pair.Modes()), newSpectrum(f.single.Modes())
	if c.Forcing != nil {
		f.forcing = newSpectrum(rows * columns)
		values := make([]float64, c.Points[0]*c.Points[1])
		for i := range values {
			x, y := i/c.Points[1], i%c.Points[1]
			values[i] = c.Forcing(c.Length[0]*float64(x)/float64(c.Points[0]), c.Length[1]*float64(y)/float64(c.Points[1]))
		}
		f.analyze(f.forcing, values)
	}
	return f
}

// row returns where row i of the kept modes starts in the half spectrum of the
// grid, in points.
func (f *flow) row(i int) int {
	if i > f.kept[0] {
		i += f.points[0] - len(f.kx)
	}
	return i * (f.points[1]/2 + 1)
}

// analyze sets s to the kept modes of a field, without its mean.
func (f *flow) analyze(s spectrum, field []float64) {
	g := f.oneGrid
	f.single.Forward(g.re, g.im, field)
	scale := 1 / float64(f.single.Size())
	columns := len(f.ky)
	for i := range f.kx {
		from := f.row(i)
		for j := range columns {
			s.re[i*columns+j] = g.re[from+j] * scale
			s.im[i*columns+j] = g.im[from+j] * scale
		}
	}
	s.re[0], s.im[0] = 0, 0
}

// synthesize sets the values of a field from its kept modes.
func (f *flow) synthesize(field []float64, s spectrum) {
	g := f.oneGrid
	clear(g.re)
	clear(g.im)
	columns := len(f.ky)
	for i := range f.kx {
		to := f.row(i)
		copy(g.re[to:], s.re[i*columns:][:columns])
		copy(g.im[to:], s.im[i*columns:][:columns])
	}
	f.single.Inverse(field, g.re, g.im)
}

// advect sets dst to the spectrum of -v·∇w + f.
func (f *flow) advect(dst, w spectrum) {
	f.stats.Derivatives++
	columns := len(f.ky)
	g := f.grid
	clear(g.re)
	clear(g.im)
	for i, kx := range f.kx {
		to := 2 * f.row(i)
		re, im := w.re[i*columns:][:columns], w.im[i*columns:][:columns]
		gre, gim := g.re[to:][:2*columns], g.im[to:][:2*columns]
		for j, ky := range f.ky {
			k2 := kx*kx + ky*ky
			if k2 == 0 {
				continue
			}
			a, b := re[j]/k2, im[j]/k2 // stream function
			gre[2*j], gim[2*j] = -ky*b, ky*a
			gre[2*j+1], gim[2*j+1] = kx*b, -kx*a
		}
	}
	f.pair.Inverse(f.fields, g.re, g.im)
	scale := 1 / float64(f.single.Size())
	for i := 0; i+1 < len(f.fields); i += 2 {
		u, v := f.fields[i], f.fields[i+1]
		f.fields[i], f.fields[i+1] = scale*u*v, scale*(v*v-u*u)
	}
	f.pair.Forward(g.re, g.im, f.fields)
	for i, kx := range f.kx {
		from := 2 * f.row(i)
		re, im := dst.re[i*columns:][:columns], dst.im[i*columns:][:columns]
		gre, gim := g.re[from:][:2*columns], g.im[from:][:2*columns]
		for j, ky := range f.ky {
			p, q := kx*kx-ky*ky, kx*ky
			re[j] = p*gre[2*j] + q*gre[2*j+1]
			im[j] = p*gim[2*j] + q*gim[2*j+1]
		}
	}
	if f.forcing.re != nil {
		for i := range dst.re {
			dst.re[i] += f.forcing.re[i]
			dst.im[i] += f.forcing.im[i]
		}
	}
}

// setStep prepares the decay over a sixth of a step of size h.
func (f *flow) setStep(h float64) {
	if h == f.decayStep {
		return
	}
	for i, k := range f.kx {
		f.decayX[i] = math.Exp(-h / 6 * f.viscosity * k * k)
	}
	for j, k := range f.ky {
		f.decayY[j] = math.Exp(-h / 6 * f.viscosity * k * k)
	}
	f.decayStep = h
}

// step takes one step of size h from f.w, whose derivative is n[0], to f.next,
// and returns the norm of the estimated error. With d the decay over a sixth
// of the step, so that d² takes a value over a third of it, the stages of
// Merson's method at 1/3, 1/3, 1/2 and 1 and its two solutions are:
//
//	n1 = N(d² (w + h/3 n0))
//	n2 = N(d² (w + h/6 n0) + h/6 n1)
//	n3 = N(d³ (w + h/8 n0) + 3h/8 d n2)
//	n4 = N(d⁶ (w + h/2 n0) - 3h/2 d⁴ n2 + 2h d³ n3)
//	next = d⁶ (w + h/6 n0) + 2h/3 d³ n3 + h/6 n4
//	error = h/30 (2 d⁶ n0 - 9 d⁴ n2 + 8 d³ n3 - n4)
func (f *flow) step(h float64) float64 {
	f.setStep(h)
	f.forModes(func(d float64, i int) {
		d2 := d * d
		f.stage.re[i] = d2 * (f.w.re[i] + h/3*f.n[0].re[i])
		f.stage.im[i] = d2 * (f.w.im[i] + h/3*f.n[0].im[i])
	})
	f.advect(f.n[1], f.stage)
	f.forModes(func(d float64, i int) {
		d2 := d * d
		f.stage.re[i] = d2*(f.w.re[i]+h/6*f.n[0].re[i]) + h/6*f.n[1].re[i]
		f.stage.im[i] = d2*(f.w.im[i]+h/6*f.n[0].im[i]) + h/6*f.n[1].im[i]
	})
	f.advect(f.n[2], f.stage)
	f.forModes(func(d float64, i int) {
		d2 := d * d
		f.stage.re[i] = d * (d2*(f.w.re[i]+h/8*f.n[0].re[i]) + 3*h/8*f.n[2].re[i])
		f.stage.im[i] = d * (d2*(f.w.im[i]+h/8*f.n[0].im[i]) + 3*h/8*f.n[2].im[i])
	})
	f.advect(f.n[3], f.stage)
	f.forModes(func(d float64, i int) {
		d3 := d * d * d
		f.stage.re[i] = d3 * (d3*(f.w.re[i]+h/2*f.n[0].re[i]) - 3*h/2*d*f.n[2].re[i] + 2*h*f.n[3].re[i])
		f.stage.im[i] = d3 * (d3*(f.w.im[i]+h/2*f.n[0].im[i]) - 3*h/2*d*f.n[2].im[i] + 2*h*f.n[3].im[i])
	})
	f.advect(f.n[4], f.stage)
	f.forModes(func(d float64, i int) {
		d3 := d * d * d
		f.next.re[i] = d3*(d3*(f.w.re[i]+h/6*f.n[0].re[i])+2*h/3*f.n[3].re[i]) + h/6*f.n[4].re[i]
		f.next.im[i] = d3*(d3*(f.w.im[i]+h/6*f.n[0].im[i])+2*h/3*f.n[3].im[i]) + h/6*f.n[4].im[i]
		f.stage.re[i] = h / 30 * (d3*(2*d3*f.n[0].re[i]-9*d*f.n[2].re[i]+8*f.n[3].re[i]) - f.n[4].re[i])
		f.stage.im[i] = h / 30 * (d3*(2*d3*f.n[0].im[i]-9*d*f.n[2].im[i]+8*f.n[3].im[i]) - f.n[4].im[i])
	})
	return f.norm(f.stage)
}

// accept makes the solution of the step the state from which the next starts.
func (f *flow) accept() {
	f.w, f.next = f.next, f.w
	f.advect(f.n[0], f.w)
}

// forModes calls each with the decay over a sixth of the step and the index of
// every kept mode.
func (f *flow) forModes(each func(decay float64, i int)) {
	columns := len(f.ky)
	for i, x := range f.decayX {
		for j, y := range f.decayY {
			each(x*y, i*columns+j)
		}
	}
}

// norm returns the root mean square of the field with the spectrum s.
func (f *flow) norm(s spectrum) float64 {
	columns := len(f.ky)
	sum := 0.0
	for i := range f.kx {
		re, im := s.re[i*columns:][:columns], s.im[i*columns:][:columns]
		sum += re[0]*re[0] + im[0]*im[0]
		row := 0.0
		for j := 1; j < columns; j++ {
			row += re[j]*re[j] + im[j]*im[j]
		}
		sum += 2 * row // both signs of ky
	}
	return math.Sqrt(sum)
}

// integrate solves from dst's first field.
func (f *flow) integrate(dst []float64, c navierStokes) (Stats, error) {
	size := f.single.Size()
	f.analyze(f.w, dst[:size])
	f.advect(f.n[0], f.w)
	h := f.firstStep(c)
	for output := 1; output < c.Outputs; output++ {
		t, end := c.Time*float64(output-1)/float64(c.Outputs-1), c.Time*float64(output)/float64(c.Outputs-1)
		for t < end {
			if f.stats.Steps+f.stats.Rejected >= maxSteps {
				return f.stats, fmt.Errorf("%d steps led only to t = %g of %g: %w", maxSteps, t, c.Time, errStepSize)
			}
			// Equal steps to the next output.
			left := end - t
			steps := math.Ceil(left/h - 1e-9)
			try := left / max(1, steps)
			if !(try > 1e-14*c.Time) {
				return f.stats, fmt.Errorf("step size %g at t = %g: %w", h, t, errStepSize)
			}
			e := f.step(try)
			if e != 0 { // fluid at rest has no norm to compare with
				e /= c.ATol + c.RTol*f.norm(f.next)
			}
			if !(e <= 1) { // also not a number
				f.stats.Rejected++
				shrink := 0.1
				if e <= 1e12 {
					shrink = max(0.1, 0.9*math.Pow(e, -0.25))
				}
				h = try * shrink
				continue
			}
			f.stats.Steps++
			if steps <= 1 {
				t = end
			} else {
				t += try
			}
			f.accept()
			grow := min(3, max(0.3, 0.9*math.Pow(e, -0.25)))
			if grow >= 1 {
				h = max(h, try*grow) // try may have been cut short to meet the output
			} else {
				h = try * grow
			}
		}
		f.synthesize(dst[output*size:(output+1)*size], f.w)
	}
	return f.stats, nil
}

// firstStep guesses a step from the time in which advection changes the
// vorticity by its own size.
func (f *flow) firstStep(c navierStokes) float64 {
	w, n := f.norm(f.w), f.norm(f.n[0])
	h := c.Time / float64(c.Outputs-1)
	if n > 0 {
		h = min(h, math.Pow(c.RTol, 0.25)*max(w, c.ATol)/n)
	}
	return max(h, 1e-9*c.Time)
}
