package grid

import "math/rand/v2"

// Stepped is how many functions a LinearSolver solves for at once.
const Stepped = 8

// A LinearSolver solves the linear part of a problem's rows for fields, Stepped of them at once.
type LinearSolver interface {
	// NewStepping allocates what the others work with.
	NewStepping() *Stepping
	// Apply solves with what load gives as the source, and hands the solution to store; transposed it applies the transpose of that linear map.
	Apply(w *Stepping, transposed bool, load, store Slices)
	// Begin solves with the constants of the rows, from y at the first time where there is one, and hands the solution to store; all functions are the same.
	Begin(w *Stepping, y []float64, store Slices)
	// Of is the part of y that belongs to an unknown.
	Of(y []float64, unknown int) []float64
	// Work is about the number of products that one function takes.
	Work() float64
	// Growth is how many times larger what is there at first may become.
	Growth(random *rand.Rand) float64
}

// A Source is By times a value (Unknowns, Times, Points), the right-hand side of a row of the matrix.
type Source struct {
	Row, Value int
	By         float64
}

// Stepping is the memory of a LinearSolver for Stepped functions at once. It belongs to one caller at a time.
type Stepping struct {
	b, bbar        []float64 // (Times, Unknowns, Points, Stepped)
	y, next, field []float64 // of a Radau: (rows, stages, Stepped)
}

// addToAll adds one number for each point, times a factor, to all functions.
func addToAll(to, from []float64, by float64) {
	for p, v := range from {
		v *= by
		all := (*[Stepped]float64)(to[p*Stepped:])
		for j := range all {
			all[j] += v
		}
	}
}
