// Package solver is a classical solver for pihc: a program that imports it reads PDE files with
//
//	reference: {solver: fitzhugh-nagumo, constants: {Du: Du, Dv: Dv, a: a, b: b, eps: eps}}
//
// for the system of FitzHugh and Nagumo between walls without flux, such as fitzhugh-nagumo.yaml beside this file:
//
//	u_t = Du u_xx + u - u³ - v        v_t = Dv v_xx + eps (u + a - b v)
//
// It shows what a solver needs: a function that makes one for a sim.Setting, which says the axes, the unknowns, the
// inputs and the constants, and refuses what it is not for; and a method Solve (sim.Solver). Its solutions are what
// pihc scores with: the network never sees them. They are judged, in solver_test.go, by those of pihc's own solver of
// the rows of a PDE file (`reference: {solver: discrete}`).
//
// The method is that of lines: second differences in space and the classical Runge-Kutta method in time, with steps as
// short as diffusion on the grid asks for.
package solver

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"pihc/grid"
	"pihc/sim"
)

func init() {
	sim.Register("fitzhugh-nagumo", sim.Maker{
		Constants: []string{"Du", "Dv", "a", "b", "eps"}, // all required, and no others
		General:   true,                                  // of several unknowns
		Make:      newLines,
	})
}

// lines is the solver for one grid. It does not change: several goroutines may solve at once.
type lines struct {
	du, dv, a, b, eps float64
	points, times     int
	h, step           float64 // of space and time
	steps             int     // from one output to the next
}

// newLines is sim.Maker.Make. Errors say what of the setting does not fit.
func newLines(s sim.Setting) (sim.Solver, error) {
	if len(s.Axes) != 2 || s.Axes[0].Boundary != grid.Nodes || s.Axes[1].Boundary != grid.Cells {
		return nil, errors.New("fitzhugh-nagumo wants axes t (nodes) and x (cells)")
	}
	if len(s.Unknowns) != 2 || slices.ContainsFunc(s.Inputs, func(in sim.Input) bool { return !in.Initial }) {
		return nil, fmt.Errorf("fitzhugh-nagumo wants two unknowns and their initial conditions alone, not unknowns %v and %d inputs", s.Unknowns, len(s.Inputs))
	}
	t, x, c := s.Axes[0], s.Axes[1], s.Constants
	l := &lines{du: c["Du"], dv: c["Dv"], a: c["a"], b: c["b"], eps: c["eps"], points: x.Points, times: t.Points, h: x.Step()}
	// Runge-Kutta is stable up to 2.78 over the fastest rate, 4D/h² of diffusion. A hundredth of the unit of time is
	// for accuracy.
	longest := min(0.01, 2/(4*max(l.du, l.dv)/(l.h*l.h)+1e-9))
	l.steps = int(math.Ceil(t.Step() / longest))
	l.step = t.Step() / float64(l.steps)
	return l, nil
}

// Solve implements sim.Solver. A sample is u0 and v0, one after the other, each on the points of x; dst is u and v, each
// on (t, x).
func (l *lines) Solve(dst, sample []float64) (sim.Stats, error) {
	n := l.points
	state := slices.Clone(sample)
	var k [4][]float64
	for i := range k {
		k[i] = make([]float64, 2*n)
	}
	at := make([]float64, 2*n)
	move := func(k []float64, step float64) []float64 {
		for i, v := range state {
			at[i] = v + step*k[i]
		}
		return at
	}
	for i := range l.times {
		if i > 0 {
			for range l.steps {
				l.derivative(k[0], state)
				l.derivative(k[1], move(k[0], l.step/2))
				l.derivative(k[2], move(k[1], l.step/2))
				l.derivative(k[3], move(k[2], l.step))
				for j := range state {
					state[j] += l.step / 6 * (k[0][j] + 2*k[1][j] + 2*k[2][j] + k[3][j])
				}
			}
		}
		copy(dst[i*n:], state[:n])
		copy(dst[(l.times+i)*n:], state[n:])
	}
	stats := sim.Stats{Steps: l.steps * (l.times - 1), Derivatives: 4 * l.steps * (l.times - 1)}
	if last := state[0]; math.IsNaN(last) || math.IsInf(last, 0) {
		return stats, errors.New("fitzhugh-nagumo: the solution grows without bound")
	}
	return stats, nil
}

// derivative sets rate to that of state in time.
func (l *lines) derivative(rate, state []float64) {
	n := l.points
	u, v := state[:n], state[n:]
	for i := range n {
		below, above := max(i-1, 0), min(i+1, n-1) // beyond a wall is the value before it
		second := func(w []float64) float64 { return (w[below] - 2*w[i] + w[above]) / (l.h * l.h) }
		rate[i] = l.du*second(u) + u[i] - u[i]*u[i]*u[i] - v[i]
		rate[n+i] = l.dv*second(v) + l.eps*(u[i]+l.a-l.b*v[i])
	}
}
