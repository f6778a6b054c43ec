package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// comparison is a difference of two methods over the seeds that both have, in percentage
// points: mean, ends of its 95 % interval, and p by Student's t for a paired sample.
type comparison struct {
	n               int
	mean, low, high float64
	p               float64
}

// compare pairs errors, which are fractions, by seed. Of fewer than two seeds there is no interval.
func compare(a, b map[string]float64) (comparison, error) {
	var d []float64
	for seed, x := range a {
		y, ok := b[seed]
		if !ok || len(a) != len(b) {
			return comparison{}, fmt.Errorf("compared are runs of other seeds: %d and %d, of which seed %s is on one side alone", len(a), len(b), seed)
		}
		d = append(d, 100*(x-y))
	}
	slices.Sort(d) // a sum in one order
	n := float64(len(d))
	if n < 2 {
		return comparison{n: len(d), mean: mean(d), low: math.Inf(-1), high: math.Inf(1), p: 1}, nil
	}
	m, square := mean(d), 0.0
	for _, x := range d {
		square += (x - m) * (x - m)
	}
	e := math.Sqrt(square / (n - 1) / n)
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}
	half := student.Quantile(0.975) * e
	return comparison{len(d), m, m - half, m + half, 2 * student.CDF(-math.Abs(m)/e)}, nil
}

// holm says which of a family of comparisons differ from nothing at level 0.05 of the whole
// family (Holm 1979): the k-th smallest p of n is held to 0.05/(n-k+1), up to the first that fails.
func holm(family []comparison) []bool {
	order := make([]int, len(family))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(family[i].p, family[j].p) })
	differ := make([]bool, len(family))
	for k, i := range order {
		if family[i].p > 0.05/float64(len(family)-k) {
			break
		}
		differ[i] = true
	}
	return differ
}

// cell is a comparison as tables have it, bold where it differs from nothing.
func (c comparison) cell(differs bool) string {
	digits := 2
	switch {
	case c.high-c.low >= 4:
		digits = 1
	case c.high-c.low < 0.02:
		digits = 3
	}
	text := fmt.Sprintf("%+.*f (%+.*f to %+.*f)", digits, c.mean, digits, c.low, digits, c.high)
	if differs {
		return "**" + text + "**"
	}
	return text
}
