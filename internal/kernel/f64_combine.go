package kernel

// CombineFields sets dst[i] = Σ_f coef[f]·fields[f][i], formed in float64 with
// f ascending and rounded once to T. Every field has the length of dst at least;
// dst may be one of them, but must not overlap one otherwise.
func CombineFields[T Float](dst []T, coef []float64, fields [][]float64) {
	if len(coef) != len(fields) {
		panic("kernel: CombineFields: want one coefficient per field")
	}
	for _, f := range fields {
		_ = f[:len(dst)]
	}
	done := 0
	switch d := any(&dst).(type) {
	case *[]float32:
		done = vectorCombine32(*d, coef, fields)
	case *[]float64:
		done = vectorCombine64(*d, coef, fields)
	}
	for i := done; i < len(dst); i++ {
		sum := 0.0
		for f, c := range coef {
			sum += c * fields[f][i]
		}
		dst[i] = T(sum)
	}
}
