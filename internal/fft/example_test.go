package fft_test

import (
	"fmt"
	"math"

	"pihc/internal/fft"
)

// The derivative of three periodic fields at once: sin(x), sin(2x) and cos(x) on
// eight points of (0, 2π).
func ExampleReal() {
	const n, fields = 8, 3
	r := fft.NewReal([]int{n}, fields)
	u := make([]float64, r.Size()) // (n, fields)
	for i := range n {
		x := 2 * math.Pi * float64(i) / n
		u[i*fields], u[i*fields+1], u[i*fields+2] = math.Sin(x), math.Sin(2*x), math.Cos(x)
	}
	re, im := make([]float64, r.Modes()), make([]float64, r.Modes()) // (n/2+1, fields)
	r.Forward(re, im, u)
	for k := range n/2 + 1 {
		wave := float64(k) / n // the transforms are not normalised
		if 2*k == n {
			wave = 0 // the derivative of the highest frequency is not represented
		}
		for f := range fields {
			a, b := re[k*fields+f], im[k*fields+f]
			re[k*fields+f], im[k*fields+f] = -wave*b, wave*a
		}
	}
	r.Inverse(u, re, im)
	for i := range 3 {
		for f := range fields {
			u[i*fields+f] = math.Round(1e6*u[i*fields+f])/1e6 + 0 // no negative zeros
		}
		fmt.Printf("%+.6f\n", u[i*fields:(i+1)*fields])
	}
	// Output:
	// [+1.000000 +2.000000 +0.000000]
	// [+0.707107 +0.000000 -0.707107]
	// [+0.000000 -2.000000 -1.000000]
}
