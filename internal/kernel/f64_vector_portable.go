//go:build !(goexperiment.simd && amd64 && go1.26 && !go1.27)

package kernel

// Without SIMD no element is done by vectors: each of these returns 0, and the
// portable loop of its caller does all.

func vectorAdd(dst, x, y []float64) int                             { return 0 }
func vectorSub(dst, x, y []float64) int                             { return 0 }
func vectorMul(dst, x, y []float64) int                             { return 0 }
func vectorDiv(dst, x, y []float64) int                             { return 0 }
func vectorMin(dst, x, y []float64) int                             { return 0 }
func vectorMax(dst, x, y []float64) int                             { return 0 }
func vectorLess(dst, x, y []float64) int                            { return 0 }
func vectorLessEqual(dst, x, y []float64) int                       { return 0 }
func vectorEqual(dst, x, y []float64) int                           { return 0 }
func vectorNotEqual(dst, x, y []float64) int                        { return 0 }
func vectorPow(dst, x, y []float64) int                             { return 0 }
func vectorAbs(dst, x []float64) int                                { return 0 }
func vectorSqrt(dst, x []float64) int                               { return 0 }
func vectorExp(dst, x []float64) int                                { return 0 }
func vectorLog(dst, x []float64) int                                { return 0 }
func vectorSin(dst, x []float64) int                                { return 0 }
func vectorCos(dst, x []float64) int                                { return 0 }
func vectorTanh(dst, x []float64) int                               { return 0 }
func vectorAddScalar(dst, x []float64, k float64) int               { return 0 }
func vectorDivScalar(dst, x []float64, k float64) int               { return 0 }
func vectorPowScalar(dst, x []float64, k float64) int               { return 0 }
func vectorSubFromScalar(dst []float64, k float64, x []float64) int { return 0 }
func vectorMulScalar(dst []float64, k float64, x []float64) int     { return 0 }
func vectorDivIntoScalar(dst []float64, k float64, x []float64) int { return 0 }
func vectorSelect(dst, c, x, y []float64) int                       { return 0 }
