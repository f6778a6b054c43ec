package constraint

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/pde"
)

// A Router divides the domain of a problem among experts (paper, section 3,
// "Physics-Informed Hard Constraints with Mixture-of-Experts"). It keeps coordinates, not points,
// so that the decomposition made for training holds on any other grid.
type Router interface {
	// Experts is the number of experts.
	Experts() int
	// Divide divides the points of a grid among them. Errors say what the grid lacks.
	Divide(g *grid.Grid) (*Division, error)
}

// A Division says which points of a grid are whose. Two experts border on each other wherever
// neighbouring points, along an axis or across the seam of a periodic one, are not of one owner.
type Division struct {
	// Owner is the expert of each point (P): the prediction there is its field.
	Owner []int32
	// Rows are, per expert, the points where its rows may be, ascending; nil: those that it owns.
	Rows [][]int32
}

// Points returns the points that an expert owns, ascending.
func (d *Division) Points(expert int) []int32 {
	var own []int32
	for p, k := range d.Owner {
		if int(k) == expert {
			own = append(own, int32(p))
		}
	}
	return own
}

// rowsAmong returns those of ascending points where an expert may have rows.
func (d *Division) rowsAmong(points []int32, expert int) []int32 {
	var in []int32
	for _, p := range points {
		may := int(d.Owner[p]) == expert
		if d.Rows != nil {
			_, may = slices.BinarySearch(d.Rows[expert], p)
		}
		if may {
			in = append(in, p)
		}
	}
	return in
}

// LeastRows is the number of rows of the residual and the expert that may have the fewest.
func LeastRows(sys *pde.System, r Router) (int, error) {
	d, err := Divide(r, sys.Grid)
	least := sys.Grid.Size()
	for _, set := range sys.Residuals() {
		for k := range r.Experts() {
			if err == nil {
				least = min(least, len(d.rowsAmong(set.Points, k)))
			}
		}
	}
	return least, err
}

// Divide is the division of a grid by a router, with an error where it is none.
func Divide(r Router, g *grid.Grid) (*Division, error) {
	d, err := r.Divide(g)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, errors.New("experts: the router gives no division")
	}
	if len(d.Owner) != g.Size() || d.Rows != nil && len(d.Rows) != r.Experts() {
		return nil, fmt.Errorf("experts: owners of %d points and rows of %d experts, for a grid of %d and %d experts", len(d.Owner), len(d.Rows), g.Size(), r.Experts())
	}
	for p, k := range d.Owner {
		if k < 0 || int(k) >= r.Experts() {
			return nil, fmt.Errorf("experts: point %d belongs to expert %d of %d", p, k, r.Experts())
		}
	}
	for k, rows := range d.Rows {
		for i, p := range rows {
			if p < 0 || int(p) >= g.Size() || i > 0 && p <= rows[i-1] {
				return nil, fmt.Errorf("experts: rows of expert %d are at point %d, want points of the grid, ascending", k, p)
			}
		}
	}
	return d, nil
}

// DefaultRouter is the name of the router of Boxes.
const DefaultRouter = "boxes"

var routers = map[string]func(g *grid.Grid, experts []int) (Router, error){
	DefaultRouter: func(g *grid.Grid, experts []int) (Router, error) { return NewBoxes(g, experts), nil },
}

// RegisterRouter makes a router available by name: a function of the grid of an experiment, whose
// axes say what the domain is, and of what is asked for along each of them (constraint.experts; 1
// where nothing is). It panics if the name is taken, and is to be called before any experiment is
// opened.
func RegisterRouter(name string, make func(g *grid.Grid, experts []int) (Router, error)) {
	if _, ok := routers[name]; ok {
		panic("constraint: RegisterRouter: the name is taken")
	}
	routers[name] = make
}

// Routers lists the names of all routers.
func Routers() []string { return slices.Sorted(maps.Keys(routers)) }

// NewRouter makes the router of the options for a grid.
func (o *Options) NewRouter(g *grid.Grid) (Router, error) {
	name := o.Router
	if name == "" {
		name = DefaultRouter
	}
	make, ok := routers[name]
	if !ok {
		return nil, fmt.Errorf("router %q: there is no such router: want %s", name, strings.Join(Routers(), ", "))
	}
	return make(g, o.Experts)
}

// Boxes is a Router that splits the domain into boxes, the last axis fastest: Boxes[a] are the
// ascending ends of the subdomains along axis a, with k experts along it k+1 values from Lo to Hi.
type Boxes [][]float64

// NewBoxes splits every axis of g uniformly into experts[a] parts (missing or
// zero: 1). Sizes may be uneven when the number of points does not divide.
func NewBoxes(g *grid.Grid, experts []int) Boxes {
	var r Boxes
	for a, axis := range g.Axes {
		k := 1
		if a < len(experts) && experts[a] > 0 {
			k = experts[a]
		}
		b := make([]float64, k+1)
		for i := range b {
			b[i] = axis.Lo + (axis.Hi-axis.Lo)*float64(i)/float64(k)
		}
		r = append(r, b)
	}
	return r
}

// Experts implements Router.
func (r Boxes) Experts() int {
	n := 1
	for _, b := range r {
		n *= len(b) - 1
	}
	return n
}

// Divide implements Router. A point on a border belongs to the upper box.
func (r Boxes) Divide(g *grid.Grid) (*Division, error) {
	if len(r) != len(g.Axes) {
		return nil, fmt.Errorf("experts: borders along %d axes, but the grid has %d", len(r), len(g.Axes))
	}
	d := &Division{Owner: make([]int32, g.Size())}
	for a, axis := range g.Axes {
		b, stride := r[a], g.Strides()[a]
		if len(b) < 2 {
			return nil, fmt.Errorf("experts: axis %s has %d borders; want the two ends at least", axis.Name, len(b))
		}
		part, from := make([]int32, axis.Points), 0
		for j := 1; j < len(b); j++ {
			to := axis.Points
			if j < len(b)-1 {
				// First index whose coordinate is at or above the border, with a
				// tolerance so that rounding does not move a border by a point.
				first := (b[j] - axis.Coordinate(0)) / axis.Step()
				to = min(max(int(math.Ceil(first-1e-9)), 0), axis.Points)
			}
			if to <= from {
				return nil, fmt.Errorf("experts: axis %s has %d points, too few for %d experts: expert %d would have none", axis.Name, axis.Points, len(b)-1, j-1)
			}
			for ; from < to; from++ {
				part[from] = int32(j - 1)
			}
		}
		for p := range d.Owner {
			d.Owner[p] = d.Owner[p]*int32(len(b)-1) + part[p/stride%axis.Points]
		}
	}
	return d, nil
}

// samplePositions writes a uniform sample without replacement of m of the numbers below n to dst[:m], ascending, so
// that later gathers stream through memory; all n where m is larger. It returns how many.
func samplePositions(dst []int32, n, m int, rng *rand.PCG) int {
	// A number below left, at most left/2^64 from uniform.
	below := func(left int) uint64 {
		hi, _ := bits.Mul64(rng.Uint64(), uint64(left))
		return hi
	}
	switch {
	case m >= n:
		m = n
		for i := range m {
			dst[i] = int32(i)
		}
	case n > 64*m: // few of many: distinct ones of independent draws
		for have := 0; have < m; have = len(slices.Compact(dst[:m])) {
			for i := have; i < m; i++ {
				dst[i] = int32(below(n))
			}
			slices.Sort(dst[:m])
		}
	default: // Knuth, The Art of Computer Programming 2, algorithm 3.4.2S
		at := 0
		for p := 0; at < m; p++ {
			// The next place is written whether p is taken or not: a branch would be mispredicted.
			draw := below(n - p)
			dst[at] = int32(p)
			take := 0
			if draw < uint64(m-at) {
				take = 1
			}
			at += take
		}
	}
	return m
}
