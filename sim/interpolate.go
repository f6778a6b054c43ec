package sim

import "pihc/internal/fft"

// interpolator evaluates the trigonometric interpolant of a field on one
// periodic grid at the points of another over the same box. Between equal
// grids, and from a grid to every second, third, ... of its points, it copies
// values, up to rounding. It owns its workspace: one serves one goroutine.
type interpolator struct {
	from, to *fft.Real
	scale    float64 // 1/points of the grid from
	moves    []move
	fromSpectrum,
	toSpectrum spectrum
}

// spectrum is the half spectrum of a real field.
type spectrum struct{ re, im []float64 }

func newSpectrum(n int) spectrum { return spectrum{make([]float64, n), make([]float64, n)} }

// move adds weight times one coefficient, or its conjugate, to another.
type move struct {
	from, to int
	re, im   float64 // weights of the two parts; im < 0 conjugates
}

// NewInterpolator prepares interpolation between grids of the shapes from and
// to, of equal rank. It panics if the ranks differ or a size is not positive.
func NewInterpolator(from, to []int) *interpolator {
	if len(from) != len(to) {
		panic("sim: NewInterpolator: shapes of different rank")
	}
	p := &interpolator{from: fft.NewReal(from, 1), to: fft.NewReal(to, 1)}
	p.scale = 1 / float64(p.from.Size())
	p.fromSpectrum, p.toSpectrum = newSpectrum(p.from.Modes()), newSpectrum(p.to.Modes())
	frequencies := make([]int, len(from))
	p.addMoves(from, to, 0, 0, 1, frequencies)
	return p
}

// addMoves visits the signed frequencies of the source, axis by axis. The
// mode at half an even length belongs to both signs with half its weight.
func (p *interpolator) addMoves(from, to []int, axis, index int, weight float64, frequencies []int) {
	if axis == len(from) {
		p.addMode(to, index, weight, frequencies)
		return
	}
	n := from[axis]
	last := axis == len(from)-1
	stored := n
	if last {
		stored = n/2 + 1
	}
	for k := range stored {
		w := weight
		frequencies[axis] = fft.Frequency(k, n)
		if 2*k == n {
			w /= 2
			if !last {
				frequencies[axis] = -k
				p.addMoves(from, to, axis+1, index*stored+k, w, frequencies)
				frequencies[axis] = k
			}
		}
		p.addMoves(from, to, axis+1, index*stored+k, w, frequencies)
	}
}

// addMode adds one mode and, unless its partner is visited too, its conjugate.
// Frequencies fold into the target's range.
func (p *interpolator) addMode(to []int, index int, weight float64, frequencies []int) {
	last := len(to) - 1
	for _, sign := range []int{1, -1} {
		if sign < 0 && frequencies[last] == 0 {
			break
		}
		target, inside := 0, true
		for axis, m := range to {
			k := (sign*frequencies[axis]%m + m) % m
			if axis == last {
				inside = k <= m/2
				m = m/2 + 1
			}
			target = target*m + k
		}
		if inside {
			p.moves = append(p.moves, move{index, target, weight * p.scale, float64(sign) * weight * p.scale})
		}
	}
}

// Interpolate sets dst, on the grid to, from src, on the grid from.
func (p *interpolator) Interpolate(dst, src []float64) {
	p.from.Forward(p.fromSpectrum.re, p.fromSpectrum.im, src)
	p.synthesize(dst)
}

// synthesize sets dst from the spectrum of the source, which has the
// normalisation of an unnormalised forward transform.
func (p *interpolator) synthesize(dst []float64) {
	f, t := p.fromSpectrum, p.toSpectrum
	clear(t.re)
	clear(t.im)
	for _, m := range p.moves {
		t.re[m.to] += m.re * f.re[m.from]
		t.im[m.to] += m.im * f.im[m.from]
	}
	p.to.Inverse(dst, t.re, t.im)
}
