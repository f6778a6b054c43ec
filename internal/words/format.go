// Package words writes numbers as people read them, lists of names, and advice on errors.
package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Percent formats a fraction: 0.036 is "3.60 %". Two decimals, as in the paper,
// and two significant digits below 0.1 %. What is within rounding of zero, less than
// 1e-12, is zero.
func Percent(x float64) string { return percent(x) + " %" }

func percent(x float64) string {
	p := 100 * x
	switch a := math.Abs(p); {
	case math.IsNaN(p):
		return "-"
	case math.IsInf(p, 0) || a >= 1e5:
		return Number(p)
	case a < 1e-10:
		return "0.00"
	case a >= 0.095:
		return Minus(strconv.FormatFloat(p, 'f', 2, 64))
	case a >= 1e-4:
		return Minus(strconv.FormatFloat(p, 'f', 1-int(math.Floor(math.Log10(a))), 64))
	}
	return Number(p)
}

// PercentOf formats mean and standard deviation: "3.60 ± 2.93 %".
func PercentOf(mean, std float64) string {
	if math.IsNaN(std) {
		return Percent(mean)
	}
	return percent(mean) + " ± " + Percent(std)
}

// Number formats x with three significant digits: 0.0123, 4.56, 12300,
// 1.20×10⁻⁵. NaN, an absent value, is "-".
func Number(x float64) string {
	a := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return "-"
	case math.IsInf(x, 1):
		return "∞"
	case math.IsInf(x, -1):
		return "−∞"
	case a == 0:
		return "0"
	case a == math.Trunc(a) && a < 1e5:
		return Minus(strconv.FormatFloat(x, 'f', 0, 64))
	}
	// Round first, so that 0.9999 is 1.00 and not 1.000.
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 2, 64), 64)
	exponent := int(math.Floor(math.Log10(math.Abs(rounded))))
	if exponent >= 5 || exponent < -3 {
		return scientific(rounded)
	}
	return Minus(strconv.FormatFloat(rounded, 'f', max(0, 2-exponent), 64))
}

func scientific(x float64) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', 2, 64), "e")
	n, _ := strconv.Atoi(exponent)
	return Minus(mantissa) + "×10" + superscript(n)
}

func superscript(n int) string {
	return strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
		"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(n))
}

// Minus writes a minus sign for the hyphen of a number.
func Minus(text string) string { return strings.Replace(text, "-", "−", 1) }

// PercentPoints formats a difference of fractions and its standard error in percentage points, with a
// sign: "−1.48 ± 0.26 points". Both have two decimals, or as many as show two digits of the error.
func PercentPoints(mean, standardError float64) string {
	decimals := 2
	if e := 100 * standardError; e > 0 && e < 0.095 {
		decimals = min(8, 1-int(math.Floor(math.Log10(e))))
	}
	text := func(v float64) string { return Minus(strconv.FormatFloat(100*v, 'f', decimals, 64)) }
	sign := "+"
	if mean < 0 {
		sign = ""
	}
	return sign + text(mean) + " ± " + text(standardError) + " points"
}

// Threads is "1 thread", or so many.
func Threads(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return Count(n) + " threads"
}

// Count formats an integer with thin spaces between thousands.
func Count(n int) string {
	text := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, text = "−", text[1:]
	}
	if len(text) < 5 {
		return sign + text
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return sign + text
}

// Duration formats seconds as a person would say it: 12 ms, 3.4 s, 2 min 05 s,
// 1 h 07 min.
func Duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(time.Second)
	switch {
	case math.IsNaN(seconds) || seconds < 0:
		return "-"
	case seconds < 0.9995:
		return fmt.Sprintf("%.0f ms", seconds*1e3)
	case seconds < 9.95:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds < 59.5:
		return fmt.Sprintf("%.0f s", seconds)
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

// Shape writes a shape as "1000 x 101 x 1024"; "scalar" if it is empty.
func Shape(shape []int) string {
	if len(shape) == 0 {
		return "scalar"
	}
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(shape), "[]")), " x ")
}

// Size formats a number of bytes: 1.5 GiB.
func Size(bytes float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for ; i < len(units)-1 && bytes >= 1024; i++ {
		bytes /= 1024
	}
	return fmt.Sprintf("%.3g %s", bytes, units[i])
}
