package report

import (
	"math"
	"strconv"

	"pihc/score"
)

func formatFixed(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

// formatShortest writes v with at most six significant digits and no trailing zeros.
func formatShortest(v float64) string { return score.Minus(strconv.FormatFloat(v, 'g', 6, 64)) }

// scientificShort writes v as a multiple of a power of ten, with the digits
// that multiples of step need.
func scientificShort(v, step float64) string {
	e := int(math.Floor(math.Log10(math.Abs(v)) + 1e-9))
	digits := max(0, e-int(math.Floor(math.Log10(step)+1e-9)))
	if m := step / math.Pow(10, math.Floor(math.Log10(step)+1e-9)); math.Abs(m-2.5) < 1e-6 {
		digits++
	}
	return score.Minus(formatFixed(v/math.Pow(10, float64(e)), digits)) + power(e)[1:]
}
