package lm

// accumulate adds JᵀJ to the lower triangle of a (n x n, row-major) and Jᵀr
// to g for rows jac (len(r) x n, row-major). Dense problems are small and use
// it instead of the vector kernels: their results then do not depend on the
// processor.
func accumulate(a, g, jac, r []float64, n int) {
	i := 0
	for ; i+4 <= len(r); i += 4 {
		x0, x1 := jac[i*n:(i+1)*n], jac[(i+1)*n:(i+2)*n]
		x2, x3 := jac[(i+2)*n:(i+3)*n], jac[(i+3)*n:(i+4)*n]
		r0, r1, r2, r3 := r[i], r[i+1], r[i+2], r[i+3]
		for j := range n {
			v0, v1, v2, v3 := x0[j], x1[j], x2[j], x3[j]
			g[j] += (v0*r0 + v1*r1) + (v2*r2 + v3*r3)
			dst := a[j*n : j*n+j+1]
			y0, y1, y2, y3 := x0[:len(dst)], x1[:len(dst)], x2[:len(dst)], x3[:len(dst)]
			for k := range dst {
				dst[k] += (v0*y0[k] + v1*y1[k]) + (v2*y2[k] + v3*y3[k])
			}
		}
	}
	for ; i < len(r); i++ {
		row := jac[i*n : (i+1)*n]
		for j, v := range row {
			g[j] += v * r[i]
			axpy(a[j*n:j*n+j+1], v, row)
		}
	}
}

// symmetrize copies the lower triangle of a onto the upper one.
func symmetrize(a []float64, n int) {
	for i := range n {
		for j := range i {
			a[j*n+i] = a[i*n+j]
		}
	}
}
