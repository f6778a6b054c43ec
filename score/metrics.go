package score

import (
	"math"
	"slices"

	"pihc/grid"
)

// A Summary describes the distribution of one metric over samples.
type Summary struct {
	Mean   float64 `json:"mean"`
	Std    float64 `json:"std"` // over samples, divided by n
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// Summarize returns mean, standard deviation (divisor n, as numpy.std),
// median and maximum of values; all are NaN if values is empty or holds a NaN.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		nan := math.NaN()
		return Summary{nan, nan, nan, nan}
	}
	n := float64(len(values))
	mean := 0.0
	for _, v := range values {
		mean += v
	}
	mean /= n // of equal integers their value
	variance := 0.0
	for _, v := range values {
		variance += (v - mean) * (v - mean)
	}
	variance /= n
	if math.IsNaN(mean) {
		return Summary{mean, mean, mean, mean}
	}
	sorted := slices.Sorted(slices.Values(values))
	return Summary{mean, math.Sqrt(variance), Quantile(sorted, 0.5), sorted[len(sorted)-1]}
}

// Quantile interpolates linearly between order statistics (type 7 of Hyndman
// and Fan 1996, the default of numpy). sorted must not be empty.
func Quantile(sorted []float64, p float64) float64 {
	h := p * float64(len(sorted)-1)
	i := int(h)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	if h == float64(i) || sorted[i] == sorted[i+1] { // either may be infinite
		return sorted[i]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// nrmse returns the root mean square of prediction - truth divided by the range
// (maximum minus minimum) of the truth, of one sample.
func nrmse(prediction, truth []float64) float64 {
	d := grid.Distance(prediction, truth)
	if d == 0 {
		return 0
	}
	return d / math.Sqrt(float64(len(truth))) / (slices.Max(truth) - slices.Min(truth))
}
