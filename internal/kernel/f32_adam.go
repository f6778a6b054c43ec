package kernel

import (
	"math"
	"unsafe"

	"pihc/compute"
)

// The constants of Adam in the paper.
const (
	Beta1, Beta2 float64 = 0.9, 0.999
	Epsilon      float64 = 1e-8
)

// AdamStep holds the constants of one Adam update. With t the number of updates
// including this one, bias correction is in Size = rate/(1-Beta1^t) and
// Root = 1/sqrt(1-Beta2^t).
type AdamStep struct {
	Beta1, Beta2, Epsilon float64
	Size, Root            float64
	Scale                 float64 // multiplies the gradient: 1/batch, clipping
}

// NewAdamStep returns the constants of update number t >= 1.
func NewAdamStep(rate, scale float64, t int) AdamStep {
	return AdamStep{
		Beta1: Beta1, Beta2: Beta2, Epsilon: Epsilon, Scale: scale,
		Size: rate / (1 - math.Pow(Beta1, float64(t))),
		Root: 1 / math.Sqrt(1-math.Pow(Beta2, float64(t))),
	}
}

// Adam updates parameters and both moments in one pass (Kingma and Ba 2015,
// algorithm 1, in the order of its section 2's last paragraph):
//
//	g = Scale·grad    m = β1 m + (1-β1) g    v = β2 v + (1-β2) g²
//	p -= Size·m / (Root·sqrt(v) + ε)
//
// Every operation is rounded by itself, so the result is bitwise the same at
// every width and however the slices are cut. It panics if a slice is shorter
// than params.
func Adam[T compute.Float](params, first, second, grad []T, s AdamStep) {
	n := len(params)
	first, second, grad = first[:n], second[:n], grad[:n]
	i := 0
	if width > 0 && n > 0 && unsafe.Sizeof(params[0]) == 4 {
		i = adam32(as32(params), as32(first), as32(second), as32(grad), s)
	}
	b1, b2, c1, c2 := T(s.Beta1), T(s.Beta2), 1-T(s.Beta1), 1-T(s.Beta2)
	size, root, epsilon, scale := T(s.Size), T(s.Root), T(s.Epsilon), T(s.Scale)
	for ; i < n; i++ { // T(x*y) keeps a compiler from fusing
		g := T(scale * grad[i])
		m := T(b1*first[i]) + T(c1*g)
		v := T(b2*second[i]) + T(c2*T(g*g))
		first[i], second[i] = m, v
		params[i] -= T(size*m) / (T(root*T(math.Sqrt(float64(v)))) + epsilon)
	}
}

// SumSquares returns the sum of x[i]^2, in float64 and in a fixed order: 16
// interleaved sums, then a tree of halves. For float32 the squares are exact, so
// the result is bitwise the same at every width.
func SumSquares[T compute.Float](x []T) float64 {
	var sums [16]float64
	n := len(x) &^ 15
	if width == 0 || n == 0 || unsafe.Sizeof(x[0]) != 4 || !addSquaresWide(&sums, as32(x)) {
		for i := 0; i < n; i += 16 {
			for j, v := range x[i : i+16] {
				sums[j] += float64(float64(v) * float64(v))
			}
		}
	}
	for j, v := range x[n:] {
		sums[j] += float64(float64(v) * float64(v))
	}
	for half := 8; half > 0; half /= 2 {
		for j := range half {
			sums[j] += sums[j+half]
		}
	}
	return sums[0]
}
