package kernel

// GatherStencils32 is GatherStencils for a float32 basis: rows are summed in
// float64 and rounded once.
func GatherStencils32(dst, basis []float32, n int, points []int32, s *Stencils) {
	if n < 1 || len(dst) != len(points)*n || len(basis) != len(s.Which)*n {
		panic("kernel: GatherStencils32: want basis (P, n) and dst (len(points), n)")
	}
	if done := gatherStencilsWide(dst, basis, n, points, s); done < n {
		gatherStencils32Go(dst, basis, n, done, points, s)
	}
}

// gatherStencils32Go does the fields from column lo on.
func gatherStencils32Go(dst, basis []float32, n, lo int, points []int32, s *Stencils) {
	for r, p := range points {
		k := s.Which[p]
		offset, coef := s.Offset[s.Start[k]:s.Start[k+1]], s.Coef[s.Start[k]:s.Start[k+1]]
		for j := lo; j < n; j++ {
			sum := 0.0
			for e, c := range coef {
				sum += c * float64(basis[(int(p)+int(offset[e]))*n+j])
			}
			dst[r*n+j] = float32(sum)
		}
	}
}
