package fft

import "pihc/internal/kernel"

// Forward transforms complex (n, fields) arrays in place along the first axis, with the
// sign exp(-2πi jk/n). Forward(im, re, n) is the inverse without the factor 1/n.
func Forward(re, im []float64, n int) {
	p := newPlan(n)
	if len(re) == 0 || len(re)%n != 0 || len(im) != len(re) {
		panic("fft: want (n, fields) real and imaginary parts")
	}
	b := newBuffer([]*plan{p})
	b.along(p, re, im, 1, len(re)/n)
}

// buffer is the scratch memory of one goroutine.
type buffer struct {
	first, second []float64 // complex points of 8 lanes
	half          []float64 // two half spectra, for real transforms
	scratch       []float64
	bases         [2 * kernel.LaneCount]int
}

func newBuffer(plans []*plan) buffer {
	length, scratch := 0, 0
	for _, p := range plans {
		length = max(length, p.n)
		scratch = max(scratch, p.scratch())
	}
	return buffer{
		first: aligned(length * point), second: aligned(length * point),
		half: aligned(2 * (length/2 + 1) * point), scratch: aligned(scratch),
	}
}

// along transforms the middle axis of (outer, p.n, inner) arrays in place.
func (b *buffer) along(p *plan, re, im []float64, outer, inner int) {
	if p.n == 1 {
		return
	}
	whole := inner - inner%kernel.LaneCount
	count := 0
	for o := range outer {
		base := o * p.n * inner
		for j := 0; j < whole; j += kernel.LaneCount {
			l := kernel.Lanes{Re: re[base+j:], Im: im[base+j:], Stride: inner}
			p.run(l, l, b.scratch)
		}
		// Columns that do not fill a vector are collected from several outer indices.
		for j := whole; j < inner; j++ {
			b.bases[count] = base + j
			if count++; count == kernel.LaneCount {
				b.collected(p, re, im, inner, count)
				count = 0
			}
		}
	}
	if count > 0 {
		b.collected(p, re, im, inner, count)
	}
}

// collected transforms the columns that start at b.bases[:count].
func (b *buffer) collected(p *plan, re, im []float64, stride, count int) {
	l := lanes(b.first)
	if count < kernel.LaneCount {
		clear(b.first[:p.n*point])
	}
	for k, base := range b.bases[:count] {
		gather(l.Re[k:], re[base:], p.n, stride)
		gather(l.Im[k:], im[base:], p.n, stride)
	}
	p.run(l, l, b.scratch)
	for k, base := range b.bases[:count] {
		scatter(re[base:], l.Re[k:], p.n, stride)
		scatter(im[base:], l.Im[k:], p.n, stride)
	}
}

// gather copies n values, stride apart in src, to one lane of a buffer.
func gather(dst, src []float64, n, stride int) {
	for i := range n {
		dst[i*point] = src[i*stride]
	}
}

// scatter is the inverse of gather.
func scatter(dst, src []float64, n, stride int) {
	for i := range n {
		dst[i*stride] = src[i*point]
	}
}
