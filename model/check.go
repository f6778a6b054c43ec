package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// CheckParams returns the parameters at which CheckGradient works: initial ones
// with the first output shifted by one. A network's first fields are near zero,
// where a problem such as diffusion-sorption has a derivative without bound; a
// basis function near a constant lets every expert keep away from there.
func (e *CPU[T]) CheckParams() []T {
	params := e.InitialParams()
	params[e.Network.OutputBias().Offset] += 1
	return params
}

// CheckGradient compares the gradient of the whole loss with central
// differences in random directions, several for every parameter tensor; the
// constraint is solved anew at every point. It returns the worst relative error,
// where a direction's error is relative to the larger of the two derivatives, the
// tensor's own root mean square gradient, and 1e-5 of that of all parameters: a
// tensor may have no gradient, as the last bias where the ansatz removes the mean,
// and differences of the loss then show its rounding. With several passes the
// fields of the earlier ones stay as they are, as in training, and only the first
// micro-batch counts. The engine must be float64.
func (e *CPU[T]) CheckGradient(batch Batch, directions int) (float64, error) {
	params := e.CheckParams()
	if _, ok := any(params).([]float64); !ok {
		panic("model: CheckGradient needs a float64 engine")
	}
	if e.Spec.Network.Passes > 1 && len(batch.Initial) > e.micro {
		batch.Initial, batch.Seeds = batch.Initial[:e.micro], batch.Seeds[:e.micro]
	}
	grad := make([]T, len(params))
	st := e.LossAndGrad(grad, params, batch)
	if !st.Finite() {
		return 0, fmt.Errorf("the loss is not finite")
	}
	e.hold = e.Spec.Network.Passes > 1
	defer func() { e.hold = false }()
	rng := rand.New(rand.NewPCG(7, 8))
	scratch := make([]T, len(params))
	moved := make([]T, len(params))
	worst, whole := 0.0, 0.0
	for _, g := range grad {
		whole += float64(g) * float64(g) / float64(len(grad))
	}
	for _, tensor := range e.Network.Layout() {
		for range directions {
			dir := make([]T, tensor.Size())
			var analytic, norm float64
			for i := range dir {
				// Unit steps in the scale of each tensor's own gradient.
				dir[i] = T(rng.NormFloat64() / math.Sqrt(float64(len(dir))))
				analytic += float64(dir[i]) * float64(grad[tensor.Offset+i])
				norm += float64(grad[tensor.Offset+i]) * float64(grad[tensor.Offset+i])
			}
			at := func(h float64) float64 {
				copy(moved, params)
				for i, d := range dir {
					moved[tensor.Offset+i] += T(h) * d
				}
				clear(scratch)
				return e.LossAndGrad(scratch, moved, batch).Loss
			}
			own := math.Sqrt(norm / float64(len(dir)))
			size := max(own, 1e-5*math.Sqrt(whole))
			err := math.Inf(1)
			// The best step differs from tensor to tensor: truncation on one
			// side, rounding of the loss on the other.
			for _, h := range []float64{1e-3, 1e-4, 1e-5} {
				numeric := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
				off := math.Abs(numeric - analytic)
				if own < size && h == 1e-3 { // where there is no gradient, differences show the last bits of the loss
					off = max(0, off-4*0x1p-52*st.Loss/h)
				}
				err = min(err, off/max(math.Abs(analytic), math.Abs(numeric), size))
			}
			if math.IsNaN(err) {
				return 0, fmt.Errorf("the gradient of %s is not finite", strings.TrimSpace(tensor.Name))
			}
			worst = math.Max(worst, err)
		}
	}
	return worst, nil
}
