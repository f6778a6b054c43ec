package train

import (
	"math"

	"pihc/internal/kernel"
	"pihc/model"
)

// adam is one step of Adam (Kingma and Ba 2015, algorithm 1) with the gradient
// scaled by scale:
//
//	m ← β₁m + (1−β₁)g    v ← β₂v + (1−β₂)g²
//	p ← p − rate·(m/(1−β₁ᵗ)) / (√(v/(1−β₂ᵗ)) + ε)
func adam[T kernel.Float](s *state[T], grad []T, scale, rate float64, t model.TrainingSpec) {
	s.updates++
	c1 := 1 - math.Pow(t.Beta1, float64(s.updates))
	c2 := 1 - math.Pow(t.Beta2, float64(s.updates))
	b1, b2 := T(t.Beta1), T(t.Beta2)
	size, root, eps, g0 := T(rate/c1), T(1/math.Sqrt(c2)), T(t.Epsilon), T(scale)
	params, first, second := s.params[:len(grad)], s.first[:len(grad)], s.second[:len(grad)]
	for i, g := range grad {
		g *= g0
		m := b1*first[i] + (1-b1)*g
		v := b2*second[i] + (1-b2)*g*g
		first[i], second[i] = m, v
		params[i] -= size * m / (T(math.Sqrt(float64(v)))*root + eps)
	}
}

// squares returns Σ g², summed in float64 in a fixed order.
func squares[T kernel.Float](grad []T) float64 {
	var sum float64
	const block = 1 << 12
	for lo := 0; lo < len(grad); lo += block {
		var part float64
		for _, g := range grad[lo:min(lo+block, len(grad))] {
			part += float64(g) * float64(g)
		}
		sum += part
	}
	return sum
}
