package experiment

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pihc/internal/discrete"
	"pihc/model"
	"pihc/pde"
)

// heldCase is an equation with a solution that is known, on a grid.
type heldCase struct {
	name   string
	yaml   string // of terms, residual and conditions; a, drawn from 0.9 to 1.1, is a size or a speed
	t, x   string // axes
	y      string // or ""
	exact  func(a float64, x []float64) float64
	coarse bool
	blame  string // the first axis whose points would be raised
}

func (c heldCase) problem(t *testing.T) (*pde.Problem, *model.Spec) {
	t.Helper()
	axes := fmt.Sprintf("  x: {range: %s}\n", c.x)
	if c.t != "" {
		axes = fmt.Sprintf("  t: {range: %s, boundary: nodes}\n", c.t) + axes
	}
	if c.y != "" {
		axes += fmt.Sprintf("  y: {range: %s}\n", c.y)
	}
	p, err := pde.Load("problem.yaml", []byte("name: held\nunknown: u\naxes:\n"+axes+"inputs:\n  a: {distribution: uniform, low: 0.9, high: 1.1}\n"+c.yaml))
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	spec, err := model.LoadSpec("spec.yaml", []byte("defaults: fitted\nproblem: problem.yaml\n"))
	if err == nil {
		err = spec.Fit(p)
	}
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return p, spec
}

const (
	advected = `
terms:
  u_t: {axis: t, derivative: 1, order: 4}
  u_x: {axis: x, derivative: 1, order: 4}
residual: {expression: u_t + a*u_x, rows: {t: [1, 0]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - sin(6*pi*x)}
`
	standing = `
terms:
  u_tt: {axis: t, derivative: 2, order: 2}
  u_t: {axis: t, derivative: 1, order: 2}
  u_xx: {axis: x, derivative: 2, order: 2}
residual: {expression: u_tt - u_xx, rows: {t: [1, 1], x: [1, 1]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - a*sin(3*pi*x)}
  rest: {kind: initial, at: {t: low}, expression: u_t}
  left: {at: {x: low}, rows: {t: [1, 0]}, expression: u}
  right: {at: {x: high}, rows: {t: [1, 0]}, expression: u}
`
	decaying = `
terms:
  u_t: {axis: t, derivative: 1, order: 4}
  u_xx: {axis: x, derivative: 2, order: 2}
residual: {expression: u_t - 0.02*u_xx, rows: {t: [0, 0]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - a*sin(4*pi*x)}
`
	turning = `
terms:
  u_t: {axis: t, derivative: 1, order: 2}
residual: {expression: u_t - 20*a*cos(20*t + 2*pi*x), rows: {t: [1, 0]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - a*sin(2*pi*x)}
`
	shock = `
terms:
  u_t: {axis: t, derivative: 1, order: 4}
  u_x: {axis: x, derivative: 1, order: 4}
  u_xx: {axis: x, derivative: 2, order: 4}
expressions: {front: 0.2*a - tanh((x - 0.3 - 0.2*a*t)/(2*NU))}
constants: {NU: %g}
residual: {expression: u_t + u*u_x - NU*u_xx, rows: {t: [1, 0], x: [1, 1]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - front}
  left: {at: {x: low}, rows: {t: [1, 0]}, expression: u - front}
  right: {at: {x: high}, rows: {t: [1, 0]}, expression: u - front}
`
	drum = `
terms:
  u_tt: {axis: t, derivative: 2, order: 4}
  u_t: {axis: t, derivative: 1, order: 4}
  lap: {spectral: laplacian}
residual: {expression: u_tt - lap, rows: {t: [1, 0]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - a*cos(2*pi*x)*cos(2*pi*y)}
  rest: {kind: initial, at: {t: low}, expression: u_t}
`
	carried = `
terms:
  u_t: {axis: t, derivative: 1, order: 4}
  u_x: {axis: x, derivative: 1, order: 4}
  u_y: {axis: y, derivative: 1, order: 4}
residual: {expression: u_t + 0.5*a*(u_x + u_y), rows: {t: [0, 0]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - sin(2*pi*x)*cos(6*pi*y)}
`
	resonant = `
time: none
terms:
  u_xx: {axis: x, derivative: 2}
  u_yy: {axis: y, derivative: 2}
residual: {expression: u_xx + u_yy + 60*u - a*(60 - 5*pi^2)*sin(2*pi*x)*sin(pi*y), rows: {x: [1, 1], y: [1, 1]}}
conditions:
  west: {at: {x: low}, expression: u}
  east: {at: {x: high}, expression: u}
  south: {at: {y: low}, rows: {x: [1, 1]}, expression: u}
  north: {at: {y: high}, rows: {x: [1, 1]}, expression: u}
`
)

// heldCases are equations on grids that hold their solutions, and on coarse ones.
func heldCases() []heldCase {
	wave := func(a float64, x []float64) float64 { return math.Sin(6 * math.Pi * (x[1] - a*x[0])) }
	plucked := func(a float64, x []float64) float64 {
		return a * math.Sin(3*math.Pi*x[1]) * math.Cos(3*math.Pi*x[0])
	}
	heat := func(a float64, x []float64) float64 {
		return a * math.Exp(-0.02*16*math.Pi*math.Pi*x[0]) * math.Sin(4*math.Pi*x[1])
	}
	turn := func(a float64, x []float64) float64 { return a * math.Sin(20*x[0]+2*math.Pi*x[1]) }
	front := func(nu float64) func(a float64, x []float64) float64 {
		return func(a float64, x []float64) float64 { return 0.2*a - math.Tanh((x[1]-0.3-0.2*a*x[0])/(2*nu)) }
	}
	hill := func(a float64, x []float64) float64 {
		return a * math.Sin(2*math.Pi*x[0]) * math.Sin(math.Pi*x[1])
	}
	const ring, walls = "[0, 1], points: %d, boundary: periodic", "[0, 1], points: %d, boundary: nodes"
	on := func(axis string, points int) string { return fmt.Sprintf(axis, points) }
	return []heldCase{
		{name: "travelling wave", yaml: advected, t: "[0, 1], points: 65", x: on(ring, 48), exact: wave},
		{name: "travelling wave, few times", yaml: advected, t: "[0, 1], points: 16", x: on(ring, 48), exact: wave, coarse: true, blame: "t"},
		{name: "travelling wave, few points", yaml: advected, t: "[0, 1], points: 65", x: on(ring, 14), exact: wave, coarse: true, blame: "x"},
		{name: "string", yaml: standing, t: "[0, 1], points: 97", x: on(walls, 65), exact: plucked},
		{name: "string, few times", yaml: standing, t: "[0, 1], points: 13", x: on(walls, 65), exact: plucked, coarse: true, blame: "t"},
		{name: "string, few points", yaml: standing, t: "[0, 1], points: 97", x: on(walls, 11), exact: plucked, coarse: true, blame: "x"},
		{name: "decaying mode", yaml: decaying, t: "[0, 1], points: 33", x: on(ring, 32), exact: heat},
		{name: "decaying mode, few points", yaml: decaying, t: "[0, 1], points: 33", x: on(ring, 8), exact: heat, coarse: true, blame: "x"},
		{name: "driven", yaml: turning, t: "[0, 1], points: 65", x: on(ring, 16), exact: turn},
		{name: "driven, few times", yaml: turning, t: "[0, 1], points: 11", x: on(ring, 16), exact: turn, coarse: true, blame: "t"},
		{name: "front", yaml: fmt.Sprintf(shock, 0.05), t: "[0, 1], points: 41", x: on(walls, 65), exact: front(0.05)},
		{name: "front, few points", yaml: fmt.Sprintf(shock, 0.01), t: "[0, 1], points: 41", x: on(walls, 17), coarse: true, blame: "x"},
		{name: "drum", yaml: drum, t: "[0, 1], points: 33", x: on(ring, 8), y: on(ring, 8)},
		{name: "drum, few times", yaml: drum, t: "[0, 1], points: 9", x: on(ring, 8), y: on(ring, 8), coarse: true, blame: "t"},
		{name: "carried along", yaml: carried, t: "[0, 0.5], points: 9", x: on(ring, 10), y: on(ring, 24)},
		{name: "carried along, few points of one axis", yaml: carried, t: "[0, 0.5], points: 9", x: on(ring, 10), y: on(ring, 12), coarse: true, blame: "y"},
		{name: "resonance", yaml: resonant, x: on(walls, 25), y: on(walls, 13), exact: hill},
		{name: "resonance, few points", yaml: resonant, x: on(walls, 9), y: on(walls, 13), exact: hill, coarse: true, blame: "x"},
	}
}

// Grids that are too coarse for a solution that is known are named, with the axis, and no others; the distance is that of the field that
// minimises all rows from that solution.
func TestHold(t *testing.T) {
	for _, c := range heldCases() {
		p, spec := c.problem(t)
		points := pointsOn(p, spec)
		h, err := hold(t.Context(), p, spec, points)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		t.Logf("%s: %.3g, time %.3g, space %.3g, residual %.3g", c.name, h.distance, h.time, h.space, h.residual)
		if h.poor() != c.coarse {
			t.Errorf("%s: distance %g", c.name, h.distance)
		}
		if c.exact != nil {
			want := c.minimised(t, p, spec)
			t.Logf("%s: minimised %.3g", c.name, want)
			if want > mostGridError != c.coarse || want < 0.3 && (h.distance > 2.2*want || h.distance < want/1.5) {
				t.Errorf("%s: distance %g, of the minimiser %g", c.name, h.distance, want)
			}
		}
		if !c.coarse {
			continue
		}
		grids, err := h.enough(t.Context(), p, spec)
		if err != nil || len(grids) == 0 || grids[len(grids)-1].poor() {
			t.Errorf("%s: finer grids %+v, %v", c.name, grids, err)
			continue
		}
		if raised := grids[0].shape(p, h.points); !strings.HasPrefix(raised, c.blame+":") || strings.Contains(raised, ",") {
			t.Errorf("%s: raised %s first", c.name, raised)
		}
		t.Log(h.describe(p, grids))
	}
}

// minimised is the distance of the field that minimises all rows from the exact solution, for a = 1.
func (c heldCase) minimised(t *testing.T, p *pde.Problem, spec *model.Spec) float64 {
	t.Helper()
	g, err := p.Grid(nil)
	if err != nil {
		t.Fatal(err)
	}
	truth, x := make([]float64, g.Size()), make([]float64, len(g.Axes))
	for i := range truth {
		at := i
		for a := len(g.Axes) - 1; a >= 0; a-- {
			x[a] = g.Axes[a].Coordinate(at % g.Axes[a].Points)
			at /= g.Axes[a].Points
		}
		truth[i] = c.exact(1, x)
	}
	sys, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	scale, err := spec.RowScale(p)
	if err != nil {
		t.Fatal(err)
	}
	f, err := discrete.MeasureFloor(sys, scale, []float64{1}, truth, 1e9)
	if err != nil {
		t.Errorf("%s: %v", c.name, err)
	}
	return f.Error
}
