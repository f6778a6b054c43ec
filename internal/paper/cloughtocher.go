package paper

import "math"

// cloughTocher interpolates values at scattered points of the plane by piecewise
// cubics with continuous gradients on a triangulation (R. W. Clough and J. L. Tocher
// 1965; P. Alfeld, Computer Aided Geometric Design 1, 1984): every triangle is split at
// its centroid into three cubics in Bernstein-Bézier form. Gradients at the points are
// those that minimise the curvature along all edges (G. M. Nielson, Math. Comp. 40, 1983;
// R. J. Renka and A. K. Cline, Rocky Mountain J. Math. 14, 1984). With the same
// triangulation it is SciPy's CloughTocher2DInterpolator.
type cloughTocher struct {
	mesh      *mesh
	values    []float64
	gradients [][2]float64
	direction [][3]float64 // per triangle and edge: along which gradients across it are linear
	last      int          // triangle of the last point
}

// The gradients are found by Gauss-Seidel sweeps to this change, relative where they are
// above one, or this many.
const (
	gradientTolerance = 1e-12
	gradientSweeps    = 4000
)

// newCloughTocher prepares the interpolant of one value per point of the mesh.
func newCloughTocher(m *mesh, values []float64) *cloughTocher {
	if len(values) != len(m.points) {
		panic("paper: newCloughTocher: values do not fit the points")
	}
	c := &cloughTocher{mesh: m, values: values, gradients: make([][2]float64, len(values)), direction: make([][3]float64, len(m.triangles))}
	c.findGradients()
	for t := range m.triangles {
		for k, other := range m.neighbours[t] {
			c.direction[t][k] = -0.5
			if other < 0 {
				continue
			}
			// The line to the neighbour's centroid, in this triangle's coordinates.
			b := m.barycentric(t, m.centroid(other))
			i, j := (k+1)%3, (k+2)%3
			c.direction[t][k] = (2*b[j] + b[i] - 1) / (2 - 3*b[j] - 3*b[i])
		}
	}
	return c
}

// findGradients minimises Σ over edges ∫ (curvature along the edge)², for cubics with the
// values and slopes at their ends.
func (c *cloughTocher) findGradients() {
	m := c.mesh
	around := m.edges()
	for range gradientSweeps {
		worst := 0.0
		for p, others := range around {
			var xx, xy, yy, rx, ry float64
			for _, q := range others {
				ex, ey := m.points[q][0]-m.points[p][0], m.points[q][1]-m.points[p][1]
				square := ex*ex + ey*ey
				cube := square * math.Sqrt(square)
				slope := ex*c.gradients[q][0] + ey*c.gradients[q][1]
				xx, xy, yy = xx+4*ex*ex/cube, xy+4*ex*ey/cube, yy+4*ey*ey/cube
				r := (6*(c.values[q]-c.values[p]) - 2*slope) / cube
				rx, ry = rx+r*ex, ry+r*ey
			}
			det := xx*yy - xy*xy
			next := [2]float64{(yy*rx - xy*ry) / det, (xx*ry - xy*rx) / det}
			old := c.gradients[p]
			change := max(math.Abs(next[0]-old[0]), math.Abs(next[1]-old[1]))
			worst = max(worst, change/max(1, math.Abs(next[0]), math.Abs(next[1])))
			c.gradients[p] = next
		}
		if worst < gradientTolerance {
			return
		}
	}
}

// At returns the value at a point; ok is false outside the triangulation.
func (c *cloughTocher) at(x, y float64) (value float64, ok bool) {
	t, b, ok := c.mesh.find([2]float64{x, y}, c.last)
	if !ok {
		return 0, false
	}
	c.last = t
	var f [3]float64
	var d [3][3]float64 // slope at i towards j
	for i, p := range c.mesh.triangles[t] {
		f[i] = c.values[p]
		for j, q := range c.mesh.triangles[t] {
			d[i][j] = c.gradients[p][0]*(c.mesh.points[q][0]-c.mesh.points[p][0]) + c.gradients[p][1]*(c.mesh.points[q][1]-c.mesh.points[p][1])
		}
	}
	// Ordinates by where they lie: near[i][j] a third of the way from corner i to j,
	// inner[i] from corner i to the centroid, middle[k] of the triangle on the edge
	// opposite k, last[i] beside the centroid.
	var near [3][3]float64
	var inner, middle, last [3]float64
	for i := range 3 {
		for j := range 3 {
			near[i][j] = f[i] + d[i][j]/3
		}
		j, k := (i+1)%3, (i+2)%3
		inner[i] = (near[i][j] + near[i][k] + f[i]) / 3
	}
	for k := range 3 {
		i, j := (k+1)%3, (k+2)%3
		g := c.direction[t][k]
		middle[k] = (g*(-f[i]+3*near[i][j]-3*near[j][i]+f[j]) + (-f[i] + 2*near[i][j] - near[j][i] + inner[i] + inner[j])) / 2
	}
	for i := range 3 {
		j, k := (i+1)%3, (i+2)%3
		last[i] = (middle[j] + middle[k] + inner[i]) / 3
	}
	centre := (last[0] + last[1] + last[2]) / 3
	// In the part away from the corner with the smallest coordinate: that of the
	// centroid is three times it.
	low := min(b[0], b[1], b[2])
	w := 3 * low
	for i := range b {
		b[i] -= low
	}
	sum := w * w * w * centre
	for i := range 3 {
		j, k := (i+1)%3, (i+2)%3
		u := b[i]
		sum += u*u*u*f[i] + 3*u*u*(b[j]*near[i][j]+b[k]*near[i][k]+w*inner[i]) + 3*u*w*w*last[i] + 6*b[j]*b[k]*w*middle[i]
	}
	return sum, true
}
