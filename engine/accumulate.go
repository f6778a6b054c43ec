package engine

import (
	"math"
	"slices"
)

// An Accumulator adds up gradients where a Stepper has them. It starts at zero.
type Accumulator interface {
	// Add adds the gradient of a batch and returns the norm of the sum.
	Add(batch Batch) (Stats, float64, error)
	// Keep remembers the sum for Return. Clear makes it zero.
	Keep()
	Return()
	Clear()
}

// AddFinite adds the gradient of a batch and returns the norm of the sum. Where the
// loss or the gradient is not finite, the batch's samples are taken one by one, in
// their order, and those to blame left out: the others contribute the bits that they
// would without them. The statistics then are means over the others; the gradient is
// their part of that of the batch. If every sample is to blame or there is but one,
// what is returned is not Finite and the sum is of no use.
func AddFinite(sum Accumulator, batch Batch) (Stats, float64, error) {
	all, norm, err := sum.Add(batch)
	samples := len(batch.Initial)
	if err != nil || FiniteStep(&all, norm) || samples == 1 {
		return all, norm, err
	}
	all.MeanSquares = slices.Clone(all.MeanSquares) // before the engine's next call
	total := Stats{MeanSquares: make([]float64, len(all.MeanSquares))}
	sum.Clear()
	sum.Keep()
	rest := 0.0
	for i := range samples {
		stats, norm, err := sum.Add(batch.Sample(i))
		if err != nil {
			return total, 0, err
		}
		if !FiniteStep(&stats, norm) {
			sum.Return()
			total.Skipped++
			continue
		}
		sum.Keep()
		rest = norm
		total.Add(&stats)
	}
	if total.Skipped == samples {
		return all, norm, nil
	}
	total.Scale(float64(samples) / float64(samples-total.Skipped))
	return total, rest, nil
}

// FiniteStep reports whether a step with these statistics and this norm of the
// gradient counts.
func FiniteStep(s *Stats, norm float64) bool {
	return s.Finite() && !math.IsNaN(norm) && !math.IsInf(norm, 0)
}
