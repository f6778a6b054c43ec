package paper

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// scattered are cases of SciPy's CloughTocher2DInterpolator with tol=1e-12 (made by
// testdata/cloughtocher.py), with the triangles it had: those of points of a grid are
// one choice of several.
type scattered struct {
	Name      string       `json:"name"`
	SciPy     string       `json:"scipy"`
	Points    [][2]float64 `json:"points"`
	Values    []float64    `json:"values"`
	Triangles [][3]int     `json:"simplices"`
	Queries   [][2]float64 `json:"queries"`
	Results   []*float64   `json:"results"` // nil outside the hull
}

func TestCloughTocherAgainstSciPy(t *testing.T) {
	src, err := os.ReadFile("testdata/cloughtocher.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []scattered
	if err := json.Unmarshal(src, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		f := newCloughTocher(newMesh(c.Points, c.Triangles), c.Values)
		size, worst, outside := 0.0, 0.0, 0
		for _, v := range c.Values {
			size = max(size, math.Abs(v))
		}
		for i, q := range c.Queries {
			got, ok := f.at(q[0], q[1])
			if want := c.Results[i]; ok != (want != nil) {
				t.Errorf("%s: at %v: inside %v", c.Name, q, ok)
			} else if ok {
				worst = max(worst, math.Abs(got-*want)/size)
			} else {
				outside++
			}
		}
		t.Logf("%s: %d points, %d queries (%d outside), worst difference %.2g", c.Name, len(c.Points), len(c.Queries), outside, worst)
		if worst > 1e-6 {
			t.Errorf("%s: differs by %g", c.Name, worst)
		}
	}
	if len(cases) < 4 {
		t.Errorf("%d cases", len(cases))
	}
}

// Linear functions are reproduced, values at the points are met, and gradients go on
// across edges.
func TestCloughTocherIsSmooth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	points := latticeSample(rng, 14, 9, 70, 3, 7)
	mesh, err := triangulate(points)
	if err != nil {
		t.Fatal(err)
	}
	linear, wavy := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		linear[i] = 2 + 0.3*float64(p[0]) - 0.1*float64(p[1])
		wavy[i] = math.Sin(0.3*float64(p[0])) + rng.Float64()
	}
	flat, curved := newCloughTocher(mesh, linear), newCloughTocher(mesh, wavy)
	for i, p := range points {
		if v, ok := curved.at(float64(p[0]), float64(p[1])); !ok || math.Abs(v-wavy[i]) > 1e-10 {
			t.Errorf("at point %d: %g, %v; want %g", i, v, ok, wavy[i])
		}
	}
	inside := 0
	for range 300 {
		x, y := 39*rng.Float64(), 56*rng.Float64()
		v, ok := flat.at(x, y)
		if !ok {
			continue
		}
		inside++
		if want := 2 + 0.3*x - 0.1*y; math.Abs(v-want) > 1e-9 {
			t.Errorf("linear at (%g, %g): %g, want %g", x, y, v, want)
		}
	}
	if inside < 200 {
		t.Errorf("%d of 300 points inside", inside)
	}
	// Second differences over 2h along a line are of order h, where a gradient jumps of
	// order one.
	const h = 1e-4
	for range 40 {
		x, y := 3+30*rng.Float64(), 7+40*rng.Float64()
		for s := range 2000 {
			at := x + float64(s)*h
			a, ok1 := curved.at(at-h, y)
			b, ok2 := curved.at(at, y)
			c, ok3 := curved.at(at+h, y)
			if ok1 && ok2 && ok3 && math.Abs(a-2*b+c)/h > 5e-3 {
				t.Fatalf("the gradient jumps by %g at (%g, %g)", (a-2*b+c)/h, at, y)
			}
		}
	}
}

// latticeSample draws distinct points of a lattice, with the given steps.
func latticeSample(rng *rand.Rand, nx, ny, count, sx, sy int) (out [][2]int) {
	for _, i := range rng.Perm(nx * ny)[:count] {
		out = append(out, [2]int{i % nx * sx, i / nx * sy})
	}
	return out
}

// No point in the circle of a triangle, checked against all; triangles cover the hull.
func TestDelaunay(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ nx, ny, count, sx, sy int }{{5, 5, 25, 1, 1}, {20, 15, 120, 25, 256}, {4, 40, 90, 3, 2}, {1000, 1000, 200, 1000, 1000}, {2, 2, 3, 1, 1}} {
		points := latticeSample(rng, c.nx, c.ny, c.count, c.sx, c.sy)
		m, err := triangulate(points)
		if err != nil {
			t.Fatal(err)
		}
		d := &delaunay{points: points}
		area := 0
		hull := map[int]bool{}
		for i, v := range m.triangles {
			turn := d.turn(v[0], v[1], v[2])
			if turn <= 0 {
				t.Fatalf("%+v: triangle %v has area %d", c, v, turn)
			}
			area += turn
			for x := range points {
				if x != v[0] && x != v[1] && x != v[2] && d.inCircle(v[0], v[1], v[2], x) {
					t.Fatalf("%+v: point %d is in the circle of %v", c, x, v)
				}
			}
			for k, other := range m.neighbours[i] {
				if other < 0 {
					hull[v[(k+1)%3]] = true
				}
			}
		}
		if want := hullArea(points); area != want {
			t.Errorf("%+v: area %d, hull %d", c, area, want)
		}
		if got, want := len(m.triangles), 2*len(points)-2-len(hull); got != want {
			t.Errorf("%+v: %d triangles, want %d", c, got, want)
		}
	}
	if _, err := triangulate([][2]int{{0, 0}, {1, 1}, {3, 3}}); err != errFlat {
		t.Errorf("points on a line: %v", err)
	}
}

// hullArea is twice the area of the convex hull, by gift wrapping.
func hullArea(points [][2]int) (area int) {
	d := &delaunay{points: points}
	start := 0
	for i := range points {
		if d.compare(i, start) < 0 {
			start = i
		}
	}
	for at := start; ; {
		next := -1
		for i, p := range points {
			if i == at {
				continue
			}
			if next < 0 {
				next = i
				continue
			}
			turn := d.turn(at, next, i)
			q, o := points[next], points[at]
			farther := abs(p[0]-o[0])+abs(p[1]-o[1]) > abs(q[0]-o[0])+abs(q[1]-o[1])
			if turn < 0 || turn == 0 && farther {
				next = i
			}
		}
		area += points[at][0]*points[next][1] - points[at][1]*points[next][0]
		if at = next; at == start {
			return area
		}
	}
}

func abs(x int) int { return max(x, -x) }
