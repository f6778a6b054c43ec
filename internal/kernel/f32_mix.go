package kernel

import "unsafe"

// MixTranspose applies the adjoint of one mode's complex matrix R, stored as
// two row-major (in x out) blocks re and im:
//
//	dr[i] = scale * sum_o (re[i,o] gr[o] + im[i,o] gi[o])
//	di[i] = scale * sum_o (re[i,o] gi[o] - im[i,o] gr[o])
//
// for i < in. It panics if a slice is too short.
func MixTranspose[T Float](dr, di, re, im, gr, gi []T, in, out int, scale T) {
	if in <= 0 || out <= 0 {
		return
	}
	dr, di, re, im, gr, gi = dr[:in], di[:in], re[:in*out], im[:in*out], gr[:out], gi[:out]
	if unsafe.Sizeof(scale) == 4 && level >= AVX2 && out%16 == 0 {
		mixTranspose32(as32(dr), as32(di), as32(re), as32(im), as32(gr), as32(gi), out, float32(scale))
		return
	}
	for i := range dr {
		var x, y T
		rr, ri := re[i*out:][:out], im[i*out:][:out]
		for o, g := range gr {
			h := gi[o]
			x += rr[o]*g + ri[o]*h
			y += rr[o]*h - ri[o]*g
		}
		dr[i], di[i] = scale*x, scale*y
	}
}
