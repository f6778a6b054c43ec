package engine

import (
	"math"
	"slices"
)

// AddFinite adds the gradient of the batch to a sum that is zero, by add, which returns the norm of the sum; reset makes
// it zero again. Where the loss or the gradient is not finite, the batch's samples are taken one by one, in their order,
// and those to blame left out: the others contribute the bits that they would without them. The statistics
// then are means over the others; the gradient is their part of that of the batch. If every sample is to blame or there
// is but one, what is returned is not Finite and the sum is of no use.
func (b *Batch) AddFinite(add func(Batch) (Stats, float64, error), reset func()) (Stats, float64, error) {
	all, norm, err := add(*b)
	samples := len(b.Inputs)
	if err != nil || all.FiniteStep(norm) || samples == 1 {
		return all, norm, err
	}
	all.MeanSquares = slices.Clone(all.MeanSquares) // before the engine's next call
	var left []int
	for i := range samples {
		left = append(left, i)
	}
	var total Stats
	rest := 0.0
	for at := 0; at < len(left); at++ {
		if at == 0 {
			reset()
			total = Stats{MeanSquares: make([]float64, len(all.MeanSquares))}
		}
		stats, norm, err := add(b.Sample(left[at]))
		if err != nil {
			return total, 0, err
		}
		if !stats.FiniteStep(norm) {
			left, at = slices.Delete(left, at, at+1), -1 // from the first of the others on
			continue
		}
		rest = norm
		total.Add(&stats)
	}
	if len(left) == 0 {
		return all, norm, nil
	}
	total.Skipped = samples - len(left)
	total.Scale(float64(samples) / float64(len(left)))
	return total, rest, nil
}

// FiniteStep reports whether a step with these statistics and this norm of the
// gradient counts.
func (s *Stats) FiniteStep(norm float64) bool {
	return s.Finite() && !math.IsNaN(norm) && !math.IsInf(norm, 0)
}
