package grid

import "math"

// stages are those of a step of Radau IIA, and how high polynomials of values in a step are.
const stages = 3

type stageMatrix = [stages][stages]float64

var (
	stageNodes   = [stages]float64{(4 - math.Sqrt(6)) / 10, (4 + math.Sqrt(6)) / 10, 1} // as fractions of a step
	stageRates   = rates()                                                              // derivatives at the stages of the polynomial that is zero where the step begins, times its length
	stageSeconds = times(stageRates, stageRates)                                        // likewise of that of these
	// Columns of splitting are a vector and two that rates leave among themselves, so that rates are a number and a block of two by two, splitRates.
	splitting, joining = split()
	splitRates         = times(joining, times(stageRates, splitting))
	splitSeconds       = times(splitRates, splitRates)
)

// RadauNodes are the stages of a step of Radau IIA, as fractions of it.
func RadauNodes() [stages]float64 { return stageNodes }

func rates() (out stageMatrix) {
	points := append([]float64{0}, stageNodes[:]...)
	for i, node := range stageNodes {
		copy(out[i][:], Fornberg(1, node, points)[1:])
	}
	return out
}

func times(a, b stageMatrix) (out stageMatrix) {
	for i := range stages {
		for k := range stages {
			for j := range stages {
				out[i][k] += a[i][j] * b[j][k]
			}
		}
	}
	return out
}

// split returns splitting and its inverse.
func split() (t, inverse stageMatrix) {
	cross := func(a, b [stages]float64) (out [stages]float64) {
		for i := range stages {
			j, k := (i+1)%stages, (i+2)%stages
			out[i] = a[j]*b[k] - a[k]*b[j]
		}
		return out
	}
	dot := func(a, b [stages]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
	// The real eigenvalue, by bisection: the determinant has one change of sign.
	lo, hi := 0.0, 100.0
	var shifted stageMatrix
	for range 100 {
		middle := (lo + hi) / 2
		shifted = stageRates
		for i := range stages {
			shifted[i][i] -= middle
		}
		if dot(shifted[0], cross(shifted[1], shifted[2])) > 0 {
			lo = middle
		} else {
			hi = middle
		}
	}
	vector := cross(shifted[0], shifted[1])
	columns := stageMatrix{vector, {shifted[0][0], shifted[1][0], shifted[2][0]}, {shifted[0][1], shifted[1][1], shifted[2][1]}}
	for k := range stages {
		size := math.Sqrt(dot(columns[k], columns[k]))
		for i := range stages {
			columns[k][i] /= size
			t[i][k] = columns[k][i]
		}
	}
	det := dot(columns[0], cross(columns[1], columns[2]))
	for k := range stages {
		row := cross(columns[(k+1)%stages], columns[(k+2)%stages])
		for i := range stages {
			inverse[k][i] = row[i] / det
		}
	}
	return t, inverse
}

func transpose(a stageMatrix) (out stageMatrix) {
	for i := range stages {
		for k := range stages {
			out[k][i] = a[i][k]
		}
	}
	return out
}
