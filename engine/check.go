package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// CheckParams are the parameters at which CheckGradient works: initial ones
// with the outputs of the first basis function shifted by one. A network's first fields are near zero,
// where a problem such as diffusion-sorption has a derivative without bound; a
// basis function near a constant lets every expert keep away from there.
func (i *Info) CheckParams() []float64 {
	params := i.Initial()
	for c := range i.Problem.Unknowns {
		params[i.OutputBias.Offset+c]++
	}
	return params
}

// lastPass adds to a batch the fields that its pass, the last one unless it says so, corrects: of a chain of segments, whatever the
// pass, since they begin with what these have there (Rollout).
func lastPass(e Engine[float64], params []float64, batch Batch) (Batch, error) {
	info, pass := e.Info(), batch.Pass
	if pass == 0 {
		pass = info.Spec.Network.Passes
	}
	chained := info.Spec.Rollout > 1
	if pass == 1 && !chained || batch.Previous != nil {
		return batch, nil
	}
	sys, err := info.Problem.Discretize(info.Grid)
	if err != nil {
		return batch, err
	}
	before := batch
	before.Pass = max(1, pass-1)
	err = e.Predict(params, before, func(_ int, p *Prediction) error {
		h := info.NewHistory()
		sys.Offset(h.Field, batch.Inputs[len(batch.Previous)])
		h.Add(p.Field)
		batch.Previous, batch.Directions = append(batch.Previous, h.Field), append(batch.Directions, h.Directions)
		return nil
	})
	return batch, err
}

// Unsettled returns how far the solves at which CheckGradient works end from a stationary point: the largest
// gradient of their cost, over its bound. Where they end at a jump of the rows, or for
// want of digits, that is not small, and the implicit derivative of their weights does not exist.
func Unsettled(e Engine[float64], batch Batch) (worst float64, err error) {
	info := e.Info()
	params := info.CheckParams()
	if batch, err = lastPass(e, params, batch); err != nil {
		return 0, err
	}
	err = e.Predict(params, batch, func(_ int, p *Prediction) error {
		for _, o := range p.Experts {
			worst = math.Max(worst, o.Gradient)
		}
		return nil
	})
	return worst, err
}

// CheckGradient compares the gradient of the whole loss with central
// differences in random directions, several for every parameter tensor; the
// constraint is solved anew at every point. It returns the worst relative error,
// where a direction's error is relative to the larger of the two derivatives, the
// tensor's own root mean square gradient, and 1e-5 of that of all parameters: a
// tensor may have no gradient, as the last bias where the ansatz removes the mean,
// and differences of the loss then show its rounding. The fields that a later pass
// corrects stay as they are, as in training.
func CheckGradient(e Engine[float64], batch Batch, directions int) (float64, error) {
	info := e.Info()
	params := info.CheckParams()
	batch, err := lastPass(e, params, batch)
	if err != nil {
		return 0, err
	}
	grad := make([]float64, len(params))
	st, err := e.LossAndGrad(grad, params, batch)
	if err != nil {
		return 0, err
	}
	if !st.Finite() {
		return 0, fmt.Errorf("the loss is not finite")
	}
	loss, whole := st.Loss, 0.0
	for _, g := range grad {
		whole += g * g / float64(len(grad))
	}
	rng := rand.New(rand.NewPCG(7, 8))
	scratch, moved := make([]float64, len(params)), make([]float64, len(params))
	worst := 0.0
	for _, tensor := range info.Layout {
		lo, hi := tensor.Offset, tensor.Offset+tensor.Size()
		for range directions {
			dir := make([]float64, hi-lo)
			var analytic, norm float64
			for i, g := range grad[lo:hi] {
				// Unit steps in the scale of each tensor's own gradient.
				dir[i] = rng.NormFloat64() / math.Sqrt(float64(len(dir)))
				analytic += dir[i] * g
				norm += g * g
			}
			at := func(h float64) float64 {
				copy(moved, params)
				for i, d := range dir {
					moved[lo+i] += h * d
				}
				st, failed := e.LossAndGrad(scratch, moved, batch)
				if failed != nil {
					err = failed
				}
				return st.Loss
			}
			rms := math.Sqrt(norm / float64(len(dir)))
			size := max(rms, 1e-5*math.Sqrt(whole))
			best := math.Inf(1)
			// The best step differs from tensor to tensor: truncation on one
			// side, rounding of the loss on the other.
			for _, h := range []float64{1e-3, 1e-4, 1e-5} {
				numeric := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
				off := math.Abs(numeric - analytic)
				if rms < size && h == 1e-3 { // where there is no gradient, differences show the last bits of the loss
					off = max(0, off-4*0x1p-52*loss/h)
				}
				best = min(best, off/max(math.Abs(analytic), math.Abs(numeric), size))
			}
			if err != nil {
				return 0, err
			}
			if math.IsNaN(best) {
				return 0, fmt.Errorf("the gradient of %s is not finite", tensor.Name)
			}
			worst = max(worst, best)
		}
	}
	return worst, nil
}
