package fft

// DFT is the definition, in n² operations: it sets (outRe, outIm) to the forward
// transform of the complex sequence (re, im), or the inverse one. It is the
// reference that the fast transforms are tested against.
func DFT(outRe, outIm, re, im []float64, inverse bool) {
	n := len(re)
	for k := range n {
		sr, si := 0.0, 0.0
		for j := range n {
			c, s := unit(j*k%n, n)
			if !inverse {
				s = -s
			}
			sr += re[j]*c - im[j]*s
			si += re[j]*s + im[j]*c
		}
		outRe[k], outIm[k] = sr, si
	}
}
