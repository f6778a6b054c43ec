package discrete

import (
	"errors"
	"fmt"

	"pihc/internal/kernel"
)

// A Stepper takes the fields of one instant to those of a later one, from any fields and not only from what a problem begins with, by one
// step of Radau IIA. It is for one goroutine at a time.
type Stepper struct {
	walk       *walk
	directions int
}

// ErrNotStepped says that fields cannot be taken from one instant to another alone.
var ErrNotStepped = errors.New("the first axis is not time, with derivatives of the first order along it")

// NewStepper returns that of a solver that refines no axis, for the inputs of a sample and up to so many derivatives. The error is
// ErrNotStepped where derivatives along the first axis are of second order, or where rows of later times read the input of that number,
// -1 for none, which only what the problem begins with may.
func (s *Solver) NewStepper(sample []float64, input, directions int) (*Stepper, error) {
	if s.march == nil || s.march.second {
		return nil, ErrNotStepped
	}
	for _, set := range s.march.step.sys.Sets {
		for _, x := range set.Extras {
			if x.Axis < 0 && x.Input == input {
				return nil, fmt.Errorf("%w: rows %s read %s at all times", ErrNotStepped, set.Name, x.Name)
			}
		}
	}
	along := make([][]float64, directions)
	for j := range along {
		along[j] = make([]float64, len(sample))
	}
	w := s.march.newWalk(sample, along)
	var err error
	if directions > 0 {
		w.slopes, err = newSlopes(w.state, along)
	}
	return &Stepper{w, directions}, err
}

// Size is the number of values of the fields of one instant, (unknowns, points).
func (p *Stepper) Size() int { return len(p.walk.u) }

// Begin returns the fields at the first time, and their derivatives along directions of the inputs.
func (s *Solver) Begin(sample []float64, along [][]float64) (u []float64, du [][]float64, err error) {
	w, err := s.march.initial(sample, along)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range w.tangents {
		du = append(du, x.u)
	}
	return w.u, du, nil
}

// Step moves fields u from t to t+h, and du to the derivatives of what they become along du, which are at most as many as there are
// directions.
func (p *Stepper) Step(u []float64, du [][]float64, t, h float64) error {
	w := p.walk
	all := w.tangents
	defer func() { w.tangents = all }()
	w.tangents = all[:len(du)]
	copy(w.u, u)
	for j, x := range du {
		copy(w.tangents[j].u, x)
	}
	slopes := w.slopes
	if len(du) == 0 {
		w.slopes = nil
	}
	w.h = 0 // what was solved last is of other fields
	err := w.advance(t, h, 0)
	w.slopes = slopes
	if err != nil {
		return err
	}
	if !finite(w.u) {
		return ErrNotConverged
	}
	copy(u, w.u)
	for j, x := range du {
		copy(x, w.tangents[j].u)
	}
	return nil
}

// A Banded is a symmetric positive definite matrix of which only elements within a distance of the diagonal are not zero.
type Banded struct{ b normalBand }

// NewBanded returns one of zeros.
func NewBanded(n, distance int) *Banded {
	distance = min(distance, n-1)
	return &Banded{normalBand{n: n, band: distance, a: make([]float64, n*(distance+1))}}
}

// Row returns the elements of row i from the first column that is kept up to the diagonal, to be added to.
func (m *Banded) Row(i int) (row []float64, first int) { return m.b.row(i) }

// Clear sets all elements to zero.
func (m *Banded) Clear() { clear(m.b.a) }

// Factor replaces the matrix by its Cholesky factor L, of the matrix with its diagonal times 1 + damping; it is false where that is not positive
// definite to rounding.
func (m *Banded) Factor(damping float64) bool { return m.b.factor(damping) }

// Solve replaces x by the solution of A y = x after Factor.
func (m *Banded) Solve(x []float64) { m.b.solve(x) }

// Forward replaces x, which is zero before a place, by L⁻¹ x: its square is xᵀ A⁻¹ x.
func (m *Banded) Forward(x []float64, from int) {
	for i := from; i < m.b.n; i++ {
		row, first := m.b.row(i)
		x[i] = (x[i] - kernel.Dot(row[:i-first], x[first:i])) / row[i-first]
	}
}
