package kernel

// Eight numbers at a time: one of each of eight right-hand sides.

// SubtractOuter8 subtracts v[i] times at from x (len(v), 8), for each i.
func SubtractOuter8(x, v []float64, at *[8]float64) {
	if len(x) != 8*len(v) {
		panic("kernel: SubtractOuter8: want x (len(v), 8)")
	}
	if width > 0 {
		subtractOuter8(x, v, at)
		return
	}
	for i, by := range v {
		to := (*[8]float64)(x[8*i:])
		for j := range to {
			to[j] -= by * at[j]
		}
	}
}

// SubtractSum8 subtracts from at the sum of v[i] times x[i], x (len(v), 8).
func SubtractSum8(at *[8]float64, v, x []float64) {
	if len(x) != 8*len(v) {
		panic("kernel: SubtractSum8: want x (len(v), 8)")
	}
	if width > 0 {
		subtractSum8(at, v, x)
		return
	}
	for i, by := range v {
		from := (*[8]float64)(x[8*i:])
		for j := range at {
			at[j] -= by * from[j]
		}
	}
}
