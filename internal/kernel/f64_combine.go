package kernel

import "pihc/compute"

// CombineFields sets dst[i] = Σ_f coef[f]·fields[f][i], formed in float64 with
// f ascending and rounded once to T. Every field has the length of dst at least;
// dst may be one of them, but must not overlap one otherwise.
func CombineFields[T compute.Float](dst []T, coef []float64, fields [][]float64) {
	if len(coef) != len(fields) {
		panic("kernel: CombineFields: want one coefficient per field")
	}
	for _, f := range fields {
		_ = f[:len(dst)]
	}
	done := 0
	if width > 0 {
		switch d := any(&dst).(type) {
		case *[]float32:
			var sums [512]float64
			for done < len(*d) {
				n := min(len(*d)-done, len(sums))
				k := combine64(sums[:n], done, coef, fields)
				narrow((*d)[done:done+k], sums[:k])
				if done += k; k < n {
					break
				}
			}
		case *[]float64:
			done = combine64(*d, 0, coef, fields)
		}
	}
	for i := done; i < len(dst); i++ {
		sum := 0.0
		for f, c := range coef {
			sum += c * fields[f][i]
		}
		dst[i] = T(sum)
	}
}

// narrow rounds x to dst.
func narrow(dst []float32, x []float64) {
	x = x[:len(dst)]
	for i := narrowWide(dst, x); i < len(dst); i++ {
		dst[i] = float32(x[i])
	}
}
