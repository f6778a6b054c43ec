// Package router is a decomposition for pihc: a program that imports it has specs with
//
//	constraint: {router: parabolas, experts: {x: 3}}
//
// Where something diffuses from a wall into a domain that was empty, what it has reached grows as the root of the time.
// So do these subdomains: expert i of k has the points with
//
//	i ≤ k·X/√T < i+1
//
// X from 0 to 1 along the second axis of the problem and T along the first; the last expert has all beyond. Borders are
// parabolas, and no subdomain is a box.
//
// It shows what a decomposition needs: a function that makes a constraint.Router for the grid of an experiment and the
// experts that its spec asks for along each axis; and a method that says who owns each point of a grid. It is judged, in
// router_test.go, by enginetest.RunCPU, by an assembly of fields that experts have alone, and by a short training.
package router

import (
	"errors"
	"math"

	"pihc/constraint"
	"pihc/grid"
)

func init() { constraint.RegisterRouter("parabolas", newParabolas) }

// parabolas keeps what the domain is, not its points: the network is used on other grids than that of its training, and
// on a part of the domain where training has a window.
type parabolas struct {
	experts int
	t, x    grid.Axis
}

// newParabolas makes the router of an experiment. Errors say what of the spec does not fit.
func newParabolas(g *grid.Grid, experts []int) (constraint.Router, error) {
	for a, k := range experts {
		if a != 1 && k > 1 {
			return nil, errors.New("parabolas divide the second axis alone; want no experts along others")
		}
	}
	return parabolas{experts[1], g.Axes[0], g.Axes[1]}, nil
}

// Experts implements constraint.Router.
func (r parabolas) Experts() int { return r.experts }

// Divide implements constraint.Router. A Division may also list the points where each expert has rows, if these are not
// the ones that it owns: subdomains then overlap.
func (r parabolas) Divide(g *grid.Grid) (*constraint.Division, error) {
	d := &constraint.Division{Owner: make([]int32, g.Size())}
	strides := g.Strides()
	for p := range d.Owner {
		t := fraction(r.t, g.Axes[0].Coordinate(p/strides[0]))
		x := fraction(r.x, g.Axes[1].Coordinate(p/strides[1]%g.Axes[1].Points))
		if at := float64(r.experts) * x / math.Sqrt(t); at < float64(r.experts) { // not at t = 0
			d.Owner[p] = int32(at)
		} else {
			d.Owner[p] = int32(r.experts - 1)
		}
	}
	return d, nil
}

// fraction is where a coordinate lies on an axis, from 0 to 1.
func fraction(a grid.Axis, coordinate float64) float64 { return (coordinate - a.Lo) / (a.Hi - a.Lo) }
