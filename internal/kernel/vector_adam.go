//go:build goexperiment.simd && (amd64 || arm64)

package kernel

import (
	"simd"
	"unsafe"
)

// adam32 does the first elements of Adam, without fused operations, and returns their
// number.
func adam32(params, first, second, grad []float32, s AdamStep) int {
	lanes := (simd.Float32s{}).Len()
	n := len(params) / lanes * lanes
	if n == 0 {
		return 0
	}
	p, m := unsafe.Pointer(&params[0]), unsafe.Pointer(&first[0])
	v, g := unsafe.Pointer(&second[0]), unsafe.Pointer(&grad[0])
	b1, b2 := float32(s.Beta1), float32(s.Beta2)
	beta1, rest1 := simd.BroadcastFloat32s(b1), simd.BroadcastFloat32s(1-b1)
	beta2, rest2 := simd.BroadcastFloat32s(b2), simd.BroadcastFloat32s(1-b2)
	size, root := simd.BroadcastFloat32s(float32(s.Size)), simd.BroadcastFloat32s(float32(s.Root))
	epsilon, scale := simd.BroadcastFloat32s(float32(s.Epsilon)), simd.BroadcastFloat32s(float32(s.Scale))
	for i := uintptr(0); i < 4*uintptr(n); i += 4 * uintptr(lanes) {
		x := scale.Mul(load32(unsafe.Add(g, i)))
		y := beta1.Mul(load32(unsafe.Add(m, i))).Add(rest1.Mul(x))
		z := beta2.Mul(load32(unsafe.Add(v, i))).Add(rest2.Mul(x.Mul(x)))
		store32(unsafe.Add(m, i), y)
		store32(unsafe.Add(v, i), z)
		step := size.Mul(y).Div(root.Mul(z.Sqrt()).Add(epsilon))
		store32(unsafe.Add(p, i), load32(unsafe.Add(p, i)).Sub(step))
	}
	clearUpper()
	return n
}
