package kernel

import "math"

// InvertComplex replaces a matrix (n, n) by scale times its inverse (Gauss-Jordan elimination with partial pivoting); false where a pivot
// vanishes.
func InvertComplex(a []complex128, n int, scale complex128) bool {
	swaps := make([]int, n)
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if SquareAbs(a[i*n+k]) > SquareAbs(a[p*n+k]) {
				p = i
			}
		}
		if pivot := SquareAbs(a[p*n+k]); !(pivot > 0) || math.IsInf(pivot, 0) {
			return false
		}
		swaps[k] = p
		top := a[k*n : (k+1)*n]
		if p != k {
			for j, v := range a[p*n : (p+1)*n] {
				a[p*n+j], top[j] = top[j], v
			}
		}
		by := 1 / top[k]
		top[k] = 1
		for j := range top {
			top[j] *= by
		}
		for i := range n {
			row := a[i*n : (i+1)*n]
			f := row[k]
			if i == k || f == 0 {
				continue
			}
			row[k] = 0
			for j, v := range top {
				row[j] -= f * v
			}
		}
	}
	for k := n - 1; k >= 0; k-- {
		for i := range n {
			a[i*n+k], a[i*n+swaps[k]] = a[i*n+swaps[k]], a[i*n+k]
		}
	}
	for i := range a {
		a[i] *= scale
	}
	return true
}

// SquareAbs is |z|².
func SquareAbs(z complex128) float64 { return real(z)*real(z) + imag(z)*imag(z) }
