//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"unsafe"
)

// arith64 does op on the first elements and returns their number, that of whole
// vectors. A nil operand stands for k in every element.
func arith64(op arithmetic, dst, x, y []float64, k float64) int {
	lanes := (simd.Float64s{}).Len()
	n := len(dst) / lanes * lanes
	if n == 0 {
		return 0
	}
	same := [8]float64{k, k, k, k, k, k, k, k}
	d, p, q := unsafe.Pointer(&dst[0]), unsafe.Pointer(&same), unsafe.Pointer(&same)
	xs, ys := uintptr(0), uintptr(0) // all ones where an operand advances
	if x != nil {
		p, xs = unsafe.Pointer(&x[0]), ^uintptr(0)
	}
	if y != nil {
		q, ys = unsafe.Pointer(&y[0]), ^uintptr(0)
	}
	end, step := 8*uintptr(n), 8*uintptr(lanes)
	one := simd.BroadcastFloat64s(1)
	switch op {
	case opAdd:
		for i := uintptr(0); i < end; i += step {
			store64(unsafe.Add(d, i), load64(unsafe.Add(p, i&xs)).Add(load64(unsafe.Add(q, i&ys))))
		}
	case opSub:
		for i := uintptr(0); i < end; i += step {
			store64(unsafe.Add(d, i), load64(unsafe.Add(p, i&xs)).Sub(load64(unsafe.Add(q, i&ys))))
		}
	case opMul:
		for i := uintptr(0); i < end; i += step {
			store64(unsafe.Add(d, i), load64(unsafe.Add(p, i&xs)).Mul(load64(unsafe.Add(q, i&ys))))
		}
	case opDiv:
		for i := uintptr(0); i < end; i += step {
			store64(unsafe.Add(d, i), load64(unsafe.Add(p, i&xs)).Div(load64(unsafe.Add(q, i&ys))))
		}
	case opMin: // which operand Min returns for NaN depends on the processor
		for i := uintptr(0); i < end; i += step {
			u, v := load64(unsafe.Add(p, i)), load64(unsafe.Add(q, i))
			store64(unsafe.Add(d, i), u.Min(v).IfElse(u.Equal(u).And(v.Equal(v)), u.Add(v)))
		}
	case opMax:
		for i := uintptr(0); i < end; i += step {
			u, v := load64(unsafe.Add(p, i)), load64(unsafe.Add(q, i))
			store64(unsafe.Add(d, i), u.Max(v).IfElse(u.Equal(u).And(v.Equal(v)), u.Add(v)))
		}
	case opAbs:
		for i := uintptr(0); i < end; i += step {
			store64(unsafe.Add(d, i), load64(unsafe.Add(p, i)).Abs())
		}
	case opSqrt:
		for i := uintptr(0); i < end; i += step {
			store64(unsafe.Add(d, i), load64(unsafe.Add(p, i)).Sqrt())
		}
	case opLess:
		for i := uintptr(0); i < end; i += step {
			store64(unsafe.Add(d, i), one.Masked(load64(unsafe.Add(p, i)).Less(load64(unsafe.Add(q, i)))))
		}
	case opLessEqual:
		for i := uintptr(0); i < end; i += step {
			store64(unsafe.Add(d, i), one.Masked(load64(unsafe.Add(p, i)).LessEqual(load64(unsafe.Add(q, i)))))
		}
	case opEqual:
		for i := uintptr(0); i < end; i += step {
			store64(unsafe.Add(d, i), one.Masked(load64(unsafe.Add(p, i)).Equal(load64(unsafe.Add(q, i)))))
		}
	case opNotEqual:
		for i := uintptr(0); i < end; i += step {
			store64(unsafe.Add(d, i), one.Masked(load64(unsafe.Add(p, i)).NotEqual(load64(unsafe.Add(q, i)))))
		}
	}
	clearUpper()
	return n
}

// select64 is arith64 for Select64.
func select64(dst, c, x, y []float64) int {
	lanes := (simd.Float64s{}).Len()
	n := len(dst) / lanes * lanes
	if n == 0 {
		return 0
	}
	d, t := unsafe.Pointer(&dst[0]), unsafe.Pointer(&c[0])
	p, q := unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	for i := uintptr(0); i < 8*uintptr(n); i += 8 * uintptr(lanes) {
		chosen := load64(unsafe.Add(t, i)).NotEqual(simd.Float64s{})
		store64(unsafe.Add(d, i), load64(unsafe.Add(p, i)).IfElse(chosen, load64(unsafe.Add(q, i))))
	}
	clearUpper()
	return n
}

// axpy64 does the first elements of Axpy64 and returns their number.
func axpy64(dst []float64, alpha float64, x []float64) int {
	lanes := (simd.Float64s{}).Len()
	n := len(x) / lanes * lanes
	if n == 0 {
		return 0
	}
	d, p, v := unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), simd.BroadcastFloat64s(alpha)
	for i := uintptr(0); i < 8*uintptr(n); i += 8 * uintptr(lanes) {
		store64(unsafe.Add(d, i), v.MulAdd(load64(unsafe.Add(p, i)), load64(unsafe.Add(d, i))))
	}
	clearUpper()
	return n
}

// dot64 returns Σ x[i]·y[i] over the first elements and their number, a multiple of
// four vectors.
func dot64(x, y []float64) (sum float64, n int) {
	lanes := (simd.Float64s{}).Len()
	if n = len(x) / (4 * lanes) * 4 * lanes; n == 0 {
		return 0, 0
	}
	p, q := unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	var s0, s1, s2, s3 simd.Float64s
	step := 8 * uintptr(lanes)
	for i := uintptr(0); i < 8*uintptr(n); i += 4 * step {
		s0 = load64(unsafe.Add(p, i)).MulAdd(load64(unsafe.Add(q, i)), s0)
		s1 = load64(unsafe.Add(p, i+step)).MulAdd(load64(unsafe.Add(q, i+step)), s1)
		s2 = load64(unsafe.Add(p, i+2*step)).MulAdd(load64(unsafe.Add(q, i+2*step)), s2)
		s3 = load64(unsafe.Add(p, i+3*step)).MulAdd(load64(unsafe.Add(q, i+3*step)), s3)
	}
	var v [8]float64
	store64(unsafe.Pointer(&v), s0.Add(s1).Add(s2.Add(s3)))
	clearUpper()
	for _, t := range v {
		sum += t
	}
	return sum, n
}
