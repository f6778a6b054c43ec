package fft

import (
	"unsafe"

	"pihc/internal/kernel"
)

// Real transforms real arrays of a fixed shape along all axes, for a number of
// fields at once. The array is (shape..., fields), row-major; its spectrum has
// only the indices 0..n/2 along the last axis, the rest following from
// X[-k] = conj X[k]: re and im are (shape[0], ..., shape[last]/2+1, fields).
//
// Sequences are transformed in pairs, one as the real and one as the imaginary
// part. A Real owns its scratch memory: one Real serves one goroutine at a time.
type Real struct {
	shape  []int
	fields int
	plans  []*plan
	size   int // values in the array
	modes  int // values in each part of the spectrum
	buffer buffer
}

// NewReal prepares transforms of the given shape (one axis or more).
func NewReal(shape []int, fields int) *Real {
	if len(shape) == 0 || fields < 1 {
		panic("fft: want at least one axis and one field")
	}
	r := &Real{shape: append([]int(nil), shape...), fields: fields, size: fields}
	for _, n := range shape {
		r.plans = append(r.plans, newPlan(n))
		r.size *= n
	}
	last := shape[len(shape)-1]
	r.modes = r.size / last * (last/2 + 1)
	r.buffer = newBuffer(r.plans)
	return r
}

// Size returns the number of values in the array, all fields included.
func (r *Real) Size() int { return r.size }

// Modes returns the number of values in each of re and im, all fields included.
func (r *Real) Modes() int { return r.modes }

// Forward sets (re, im) to the half spectrum of x, with the sign exp(-2πi jk/n).
// It does not allocate.
func (r *Real) Forward(re, im, x []float64) {
	r.check(re, im, x)
	last := len(r.shape) - 1
	n := r.shape[last]
	r.buffer.pairs(r.plans[last], re, im, x, r.size/(n*r.fields), r.fields, false)
	inner := (n/2 + 1) * r.fields
	for d := last - 1; d >= 0; d-- {
		r.buffer.along(r.plans[d], re, im, r.modes/(r.shape[d]*inner), inner)
		inner *= r.shape[d]
	}
}

// Inverse sets x to the inverse transform of the half spectrum (re, im), with the
// sign exp(+2πi jk/n) and without the factor 1/n, and OVERWRITES re and im. What
// cannot belong to a real array (an imaginary part at index 0 of the last axis or,
// for even length, at n/2, once the other axes are done) is ignored. It does not
// allocate.
func (r *Real) Inverse(x, re, im []float64) {
	r.check(re, im, x)
	last := len(r.shape) - 1
	n := r.shape[last]
	inner := r.modes / r.shape[0]
	for d := range last {
		r.buffer.along(r.plans[d], im, re, r.modes/(r.shape[d]*inner), inner)
		inner /= r.shape[d+1]
	}
	r.buffer.pairs(r.plans[last], re, im, x, r.size/(n*r.fields), r.fields, true)
}

func (r *Real) check(re, im, x []float64) {
	if len(x) != r.size || len(re) != r.modes || len(im) != r.modes {
		panic("fft: want (shape..., fields) values and (..., n/2+1, fields) real and imaginary parts")
	}
}

// pairs transforms the middle axis of the real (outer, p.n, inner) array x to
// half spectra (outer, p.n/2+1, inner), or back.
func (b *buffer) pairs(p *plan, re, im, x []float64, outer, inner int, inverse bool) {
	whole := inner - inner%kernel.LaneCount
	pending := -1 // number of a full vector that waits for its partner
	count := 0
	for o := range outer {
		for j := 0; j < whole; j += kernel.LaneCount {
			if at := o*inner + j; pending < 0 {
				pending = at
			} else {
				b.direct(p, re, im, x, inner, pending, at, inverse)
				pending = -1
			}
		}
		for j := whole; j < inner; j++ {
			count = b.collect(p, re, im, x, inner, count, o*inner+j, inverse)
		}
	}
	if pending >= 0 {
		for l := range kernel.LaneCount {
			count = b.collect(p, re, im, x, inner, count, pending+l, inverse)
		}
	}
	if count > 0 {
		b.collectedPairs(p, re, im, x, inner, count, inverse)
	}
}

// base returns where column c (numbered outer·inner + index) of an array of
// (outer, n, inner) starts.
func base(c, n, inner int) int { return c/inner*n*inner + c%inner }

// direct transforms the eight columns from c and the eight from d.
func (b *buffer) direct(p *plan, re, im, x []float64, inner, c, d int, inverse bool) {
	h := p.n/2 + 1
	cx, dx, ch, dh := base(c, p.n, inner), base(d, p.n, inner), base(c, h, inner), base(d, h, inner)
	values := kernel.Lanes{Re: x[cx:], Im: x[dx:], Stride: inner}
	first := kernel.Lanes{Re: re[ch:], Im: im[ch:], Stride: inner}
	second := kernel.Lanes{Re: re[dh:], Im: im[dh:], Stride: inner}
	z := lanes(b.first)
	if inverse {
		kernel.FFTMerge(z, first, second, p.n)
		p.run(swapped(values), swapped(z), b.scratch)
	} else {
		p.run(z, values, b.scratch)
		kernel.FFTSplit(first, second, z, p.n)
	}
}

// collect notes column c and transforms the noted columns when there are sixteen.
func (b *buffer) collect(p *plan, re, im, x []float64, inner, count, c int, inverse bool) int {
	b.bases[count] = c
	if count++; count == len(b.bases) {
		b.collectedPairs(p, re, im, x, inner, count, inverse)
		return 0
	}
	return count
}

// collectedPairs transforms the columns b.bases[:count], the first eight as real
// and the others as imaginary parts.
func (b *buffer) collectedPairs(p *plan, re, im, x []float64, stride, count int, inverse bool) {
	h := p.n/2 + 1
	z, values := lanes(b.first), lanes(b.second)
	first, second := lanes(b.half), lanes(b.half[h*point:])
	half := func(k int) (l kernel.Lanes, lane int) {
		if k < kernel.LaneCount {
			return first, k
		}
		return second, k - kernel.LaneCount
	}
	part := func(k int) []float64 {
		if k < kernel.LaneCount {
			return values.Re[k:]
		}
		return values.Im[k-kernel.LaneCount:]
	}
	// Lanes left over have values of an earlier call, which would grow with every
	// unnormalised transform and spill into their partners by rounding.
	if inverse {
		if count < len(b.bases) {
			clear(b.half[:2*h*point])
		}
		for k, c := range b.bases[:count] {
			l, lane := half(k)
			at := base(c, h, stride)
			gather(l.Re[lane:], re[at:], h, stride)
			gather(l.Im[lane:], im[at:], h, stride)
		}
		kernel.FFTMerge(z, first, second, p.n)
		p.run(swapped(values), swapped(z), b.scratch)
		for k, c := range b.bases[:count] {
			scatter(x[base(c, p.n, stride):], part(k), p.n, stride)
		}
		return
	}
	if count < len(b.bases) {
		clear(b.second[:p.n*point])
	}
	for k, c := range b.bases[:count] {
		gather(part(k), x[base(c, p.n, stride):], p.n, stride)
	}
	p.run(z, values, b.scratch)
	kernel.FFTSplit(first, second, z, p.n)
	for k, c := range b.bases[:count] {
		l, lane := half(k)
		at := base(c, h, stride)
		scatter(re[at:], l.Re[lane:], h, stride)
		scatter(im[at:], l.Im[lane:], h, stride)
	}
}

// aligned returns n zeros that start on a cache line, so that no vector of eight
// straddles two.
func aligned(n int) []float64 {
	if n == 0 {
		return nil
	}
	s := make([]float64, n+7)
	skip := int(-uintptr(unsafe.Pointer(&s[0]))%64) / 8
	return s[skip : skip+n : skip+n]
}
