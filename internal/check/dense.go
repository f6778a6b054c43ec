package check

import (
	"math"

	"pihc/compute"
)

// Pointwise applies a matrix (in, out) and a bias to the channels of each point, as
// dense versions of networks do.
func Pointwise(v [][]float64, weight, bias []float64) [][]float64 {
	out := make([][]float64, len(v))
	for i, x := range v {
		y := append([]float64(nil), bias...)
		for j, a := range x {
			for o := range y {
				y[o] += a * weight[j*len(bias)+o]
			}
		}
		out[i] = y
	}
	return out
}

// Gelu replaces each element by its GELU, by the formula.
func Gelu(v [][]float64) {
	for _, x := range v {
		for i, y := range x {
			x[i] = y / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(y+0.044715*y*y*y)))
		}
	}
}

// PerPoint turns fields (channels, P) into the channels of each point, and Fields
// back.
func PerPoint(input []float64, points int) [][]float64 {
	a := make([][]float64, points)
	for j := 0; j < len(input); j += points {
		for i := range a {
			a[i] = append(a[i], input[j+i])
		}
	}
	return a
}

// Fields turns the channels of each point into fields (channels, P).
func Fields(v [][]float64) []float64 {
	flat := make([]float64, len(v)*len(v[0]))
	for i, x := range v {
		for j, y := range x {
			flat[j*len(v)+i] = y
		}
	}
	return flat
}

// Points is the size of a grid.
func Points(shape []int) int {
	p := 1
	for _, n := range shape {
		p *= n
	}
	return p
}

// Views returns the tensors of a flat parameter slice by name.
func Views(layout []compute.Tensor, params []float64) map[string][]float64 {
	view := map[string][]float64{}
	for _, t := range layout {
		view[t.Name] = params[t.Offset : t.Offset+t.Size()]
	}
	return view
}
