//go:build goexperiment.simd && amd64 && go1.26 && !go1.27

package kernel

import (
	"simd/archsimd"
	"unsafe"
)

// strip is what the vector passes see of a Lanes: addresses, and the distance
// between points in bytes. AVX2 passes take the 8 lanes as two strips of 4.
type strip struct {
	re, im unsafe.Pointer
	step   int
}

func (l Lanes) strip(lane int) strip {
	return strip{unsafe.Pointer(&l.Re[lane]), unsafe.Pointer(&l.Im[lane]), 8 * l.Stride}
}

func fftPassSIMD(dst, src Lanes, twiddle []float64, r, m, s int) bool {
	t := unsafe.Pointer(unsafe.SliceData(twiddle))
	if level >= AVX512 {
		d, x := dst.strip(0), src.strip(0)
		switch r {
		case 2:
			fftPass2x8(d, x, t, m, s)
		case 3:
			fftPass3x8(d, x, t, m, s)
		case 4:
			fftPass4x8(d, x, t, m, s)
		case 5:
			fftPass5x8(d, x, t, m, s)
		case 7:
			fftPass7x8(d, x, t, m, s)
		default:
			return false
		}
		archsimd.ClearAVXUpperBits()
		return true
	}
	for lane := 0; lane < LaneCount; lane += 4 {
		d, x := dst.strip(lane), src.strip(lane)
		switch r {
		case 2:
			fftPass2x4(d, x, t, m, s)
		case 3:
			fftPass3x4(d, x, t, m, s)
		case 4:
			fftPass4x4(d, x, t, m, s)
		case 5:
			fftPass5x4(d, x, t, m, s)
		case 7:
			fftPass7x4(d, x, t, m, s)
		default:
			return false
		}
	}
	archsimd.ClearAVXUpperBits()
	return true
}

func fftTwistSIMD(dst, src Lanes, factor []float64, n int) {
	t := unsafe.Pointer(unsafe.SliceData(factor))
	if level >= AVX512 {
		fftTwistx8(dst.strip(0), src.strip(0), t, n)
	} else {
		fftTwistx4(dst.strip(0), src.strip(0), t, n)
		fftTwistx4(dst.strip(4), src.strip(4), t, n)
	}
	archsimd.ClearAVXUpperBits()
}

func fftSplitSIMD(a, b, z Lanes, n int) {
	if level >= AVX512 {
		fftSplitx8(a.strip(0), b.strip(0), z.strip(0), n)
	} else {
		fftSplitx4(a.strip(0), b.strip(0), z.strip(0), n)
		fftSplitx4(a.strip(4), b.strip(4), z.strip(4), n)
	}
	archsimd.ClearAVXUpperBits()
}

func fftMergeSIMD(z, a, b Lanes, n int) {
	if level >= AVX512 {
		fftMergex8(z.strip(0), a.strip(0), b.strip(0), n)
	} else {
		fftMergex4(z.strip(0), a.strip(0), b.strip(0), n)
		fftMergex4(z.strip(4), a.strip(4), b.strip(4), n)
	}
	archsimd.ClearAVXUpperBits()
}
