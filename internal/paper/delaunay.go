package paper

import (
	"errors"
	"math"
	"math/big"
	"slices"
)

// A mesh is a triangulation of points of the plane.
type mesh struct {
	points     [][2]float64
	triangles  [][3]int // counterclockwise
	neighbours [][3]int // per triangle: across the edge opposite each corner; -1: none
}

// errFlat says that points span no triangle.
var errFlat = errors.New("all points lie on a line")

// newMesh takes triangles as they are, in either direction round.
func newMesh(points [][2]float64, triangles [][3]int) *mesh {
	m := &mesh{points: points, triangles: slices.Clone(triangles)}
	edges := map[[2]int][2]int{} // directed edge: triangle, opposite corner
	for t, v := range m.triangles {
		a, b, c := points[v[0]], points[v[1]], points[v[2]]
		if (b[0]-a[0])*(c[1]-a[1])-(b[1]-a[1])*(c[0]-a[0]) < 0 {
			v[1], v[2] = v[2], v[1]
			m.triangles[t] = v
		}
		for k := range 3 {
			edges[[2]int{v[(k+1)%3], v[(k+2)%3]}] = [2]int{t, k}
		}
	}
	m.neighbours = make([][3]int, len(m.triangles))
	for t, v := range m.triangles {
		for k := range 3 {
			m.neighbours[t][k] = -1
			if other, ok := edges[[2]int{v[(k+2)%3], v[(k+1)%3]}]; ok {
				m.neighbours[t][k] = other[0]
			}
		}
	}
	return m
}

// edges returns the points that each point shares an edge with.
func (m *mesh) edges() [][]int {
	out := make([][]int, len(m.points))
	add := func(p, q int) {
		if !slices.Contains(out[p], q) {
			out[p] = append(out[p], q)
		}
	}
	for _, v := range m.triangles {
		for k := range 3 {
			add(v[k], v[(k+1)%3])
			add(v[(k+1)%3], v[k])
		}
	}
	return out
}

func (m *mesh) centroid(t int) (x [2]float64) {
	for _, p := range m.triangles[t] {
		x[0], x[1] = x[0]+m.points[p][0]/3, x[1]+m.points[p][1]/3
	}
	return x
}

// barycentric returns the coordinates of x in a triangle.
func (m *mesh) barycentric(t int, x [2]float64) (b [3]float64) {
	v := m.triangles[t]
	p, q, r := m.points[v[0]], m.points[v[1]], m.points[v[2]]
	det := (q[0]-p[0])*(r[1]-p[1]) - (q[1]-p[1])*(r[0]-p[0])
	b[1] = ((x[0]-p[0])*(r[1]-p[1]) - (x[1]-p[1])*(r[0]-p[0])) / det
	b[2] = ((q[0]-p[0])*(x[1]-p[1]) - (q[1]-p[1])*(x[0]-p[0])) / det
	b[0] = 1 - b[1] - b[2]
	return b
}

// insideTolerance is how far outside a triangle, in its coordinates, a point may lie.
const insideTolerance = 1e-11

// find walks from triangle start to the one that holds x.
func (m *mesh) find(x [2]float64, start int) (t int, b [3]float64, ok bool) {
	t = start
	for range 2 * len(m.triangles) {
		b = m.barycentric(t, x)
		k := 0
		for i := range b {
			if b[i] < b[k] {
				k = i
			}
		}
		if b[k] >= -insideTolerance {
			return t, b, true
		}
		if m.neighbours[t][k] < 0 {
			break
		}
		t = m.neighbours[t][k]
	}
	for t = range m.triangles { // past the hull's edge, or round in a circle
		b = m.barycentric(t, x)
		if min(b[0], b[1], b[2]) >= -insideTolerance {
			return t, b, true
		}
	}
	return 0, b, false
}

// triangulate returns the Delaunay triangulation of distinct points with integer coordinates, at most 2^20 in size,
// exactly: no point lies inside the circle through the corners of a triangle. Points are
// added in their order by coordinates, each joined to the edges of the hull that it
// sees, and edges are flipped until all are locally Delaunay (C. L. Lawson 1977). Where
// four points or more lie on one circle the triangulation is one of several.
func triangulate(points [][2]int) (*mesh, error) {
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		if points[i][0] != points[j][0] {
			return points[i][0] - points[j][0]
		}
		return points[i][1] - points[j][1]
	})
	d := &delaunay{points: points, edges: map[[2]int]int{}}
	first := 2
	for first < len(order) && d.turn(order[0], order[1], order[first]) == 0 {
		first++
	}
	if first >= len(order) {
		return nil, errFlat
	}
	// The points before the first that is off their line, joined to it: a fan.
	apex := order[first]
	for i := range first - 1 {
		d.add(order[i], order[i+1], apex)
	}
	hull := append(slices.Clone(order[:first]), apex)
	if d.turn(order[0], order[1], apex) < 0 {
		slices.Reverse(hull)
	}
	for _, p := range order[first+1:] {
		hull = d.extend(hull, p)
	}
	d.flip()
	float := make([][2]float64, len(points))
	for i, p := range points {
		float[i] = [2]float64{float64(p[0]), float64(p[1])}
	}
	return newMesh(float, d.triangles), nil
}

type delaunay struct {
	points    [][2]int
	triangles [][3]int
	edges     map[[2]int]int // directed edge: the triangle on its left
}

// turn is positive where a, b, c go round counterclockwise.
func (d *delaunay) turn(a, b, c int) int {
	p, q, r := d.points[a], d.points[b], d.points[c]
	return (q[0]-p[0])*(r[1]-p[1]) - (q[1]-p[1])*(r[0]-p[0])
}

// add adds a triangle, in counterclockwise order.
func (d *delaunay) add(a, b, c int) {
	if d.turn(a, b, c) < 0 {
		b, c = c, b
	}
	d.set(len(d.triangles), [3]int{a, b, c})
}

func (d *delaunay) set(t int, v [3]int) {
	if t == len(d.triangles) {
		d.triangles = append(d.triangles, v)
	}
	d.triangles[t] = v
	for k := range 3 {
		d.edges[[2]int{v[k], v[(k+1)%3]}] = t
	}
}

// extend joins a point outside the hull, which goes round counterclockwise, to the edges
// that it sees, and returns the new hull.
func (d *delaunay) extend(hull []int, p int) []int {
	n := len(hull)
	sees := func(i int) bool { return d.turn(hull[i%n], hull[(i+1)%n], p) < 0 }
	// The last point added is the largest of the hull: what p sees is about it.
	at := 0
	for i := range hull {
		if d.compare(hull[i], hull[at]) > 0 {
			at = i
		}
	}
	low, high := at, at // hull indices between which edges are seen
	for sees(high) && high < at+n {
		high++
	}
	for low+n > high && sees((low-1+n)%n) {
		low--
		if low < 0 {
			low, high, at = low+n, high+n, at+n
		}
	}
	for i := low; i < high; i++ {
		d.add(hull[i%n], hull[(i+1)%n], p)
	}
	next := []int{p}
	for i := high; i <= low+n; i++ {
		next = append(next, hull[i%n])
	}
	return next
}

func (d *delaunay) compare(a, b int) int {
	p, q := d.points[a], d.points[b]
	if p[0] != q[0] {
		return p[0] - q[0]
	}
	return p[1] - q[1]
}

// flip replaces the diagonal of every pair of triangles that are not Delaunay.
func (d *delaunay) flip() {
	var stack [][2]int
	for _, v := range d.triangles {
		for k := range 3 {
			stack = append(stack, [2]int{v[k], v[(k+1)%3]})
		}
	}
	for len(stack) > 0 {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		t, left := d.edges[e]
		u, right := d.edges[[2]int{e[1], e[0]}]
		if !left || !right {
			continue
		}
		a, b := e[0], e[1]
		c, x := d.third(t, a, b), d.third(u, a, b)
		if !d.inCircle(a, b, c, x) {
			continue
		}
		delete(d.edges, e)
		delete(d.edges, [2]int{b, a})
		d.set(t, [3]int{a, x, c})
		d.set(u, [3]int{x, b, c})
		stack = append(stack, [2]int{a, x}, [2]int{x, b}, [2]int{b, c}, [2]int{c, a})
	}
}

// third is the corner of a triangle beside a and b.
func (d *delaunay) third(t, a, b int) int {
	v := d.triangles[t]
	return v[0] + v[1] + v[2] - a - b
}

// inCircle reports whether x is inside the circle through a, b, c, which go round
// counterclockwise: by float64 where that is sure, by whole numbers where not.
func (d *delaunay) inCircle(a, b, c, x int) bool {
	var m [3][2]int
	for i, p := range [3]int{a, b, c} {
		m[i] = [2]int{d.points[p][0] - d.points[x][0], d.points[p][1] - d.points[x][1]}
	}
	square := func(i int) int { return m[i][0]*m[i][0] + m[i][1]*m[i][1] }
	cross := func(i, j int) int { return m[i][0]*m[j][1] - m[i][1]*m[j][0] }
	det, size := 0.0, 0.0
	for i := range 3 {
		v := float64(square(i)) * float64(cross((i+1)%3, (i+2)%3))
		det, size = det+v, size+math.Abs(v)
	}
	if math.Abs(det) > 1e-14*size {
		return det > 0
	}
	sum := new(big.Int)
	for i := range 3 {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(int64(square(i))), big.NewInt(int64(cross((i+1)%3, (i+2)%3)))))
	}
	return sum.Sign() > 0
}
