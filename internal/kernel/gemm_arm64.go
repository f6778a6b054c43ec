//go:build goexperiment.simd

package kernel

func (t *block) tile(kind, columns int, j uintptr) { t.tileSIMD(kind, columns, j) }
