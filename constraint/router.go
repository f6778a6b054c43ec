package constraint

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"pihc/grid"
)

// A Router splits the domain into boxes, one an expert (paper, section 3,
// "Physics-Informed Hard Constraints with Mixture-of-Experts"). It keeps its
// borders as physical coordinates, so that the decomposition made for training
// holds on any other grid.
type Router struct {
	// Borders[a] are the ascending ends of the subdomains along axis a: with k
	// experts along it, k+1 values from Lo to Hi.
	Borders [][]float64
}

// NewRouter splits every axis of g uniformly into experts[a] parts (missing or
// zero: 1). Sizes may be uneven when the number of points does not divide.
func NewRouter(g *grid.Grid, experts []int) *Router {
	r := &Router{}
	for a, axis := range g.Axes {
		k := 1
		if a < len(experts) && experts[a] > 0 {
			k = experts[a]
		}
		b := make([]float64, k+1)
		for i := range b {
			b[i] = axis.Lo + (axis.Hi-axis.Lo)*float64(i)/float64(k)
		}
		r.Borders = append(r.Borders, b)
	}
	return r
}

// Count is the number of experts.
func (r *Router) Count() int {
	n := 1
	for _, b := range r.Borders {
		n *= len(b) - 1
	}
	return n
}

// Windows returns the index box of each expert on g, the last axis fastest. A
// point on a border belongs to the upper subdomain; together the boxes cover
// every point once.
func (r *Router) Windows(g *grid.Grid) ([]grid.Window, error) {
	if len(r.Borders) != len(g.Axes) {
		return nil, fmt.Errorf("experts: borders along %d axes, but the grid has %d", len(r.Borders), len(g.Axes))
	}
	cuts := make([][]int, len(g.Axes))
	for a, axis := range g.Axes {
		b := r.Borders[a]
		if len(b) < 2 {
			return nil, fmt.Errorf("experts: axis %s has %d borders; want the two ends at least", axis.Name, len(b))
		}
		cuts[a] = make([]int, len(b))
		cuts[a][len(b)-1] = axis.Points
		for j := 1; j < len(b)-1; j++ {
			// First index whose coordinate is at or above the border, with a
			// tolerance so that rounding does not move a border by a point.
			first := (b[j] - axis.Coordinate(0)) / axis.Step()
			cuts[a][j] = min(max(int(math.Ceil(first-1e-9)), 0), axis.Points)
		}
		for j := 1; j < len(b); j++ {
			if cuts[a][j] <= cuts[a][j-1] {
				return nil, fmt.Errorf("experts: axis %s has %d points, too few for %d experts: expert %d would have none", axis.Name, axis.Points, len(b)-1, j-1)
			}
		}
	}
	windows := make([]grid.Window, r.Count())
	for k := range windows {
		w := grid.Window{Lo: make([]int, len(cuts)), Hi: make([]int, len(cuts))}
		rest := k
		for a := len(cuts) - 1; a >= 0; a-- {
			n := len(cuts[a]) - 1
			j := rest % n
			rest /= n
			w.Lo[a], w.Hi[a] = cuts[a][j], cuts[a][j+1]
		}
		windows[k] = w
	}
	return windows, nil
}

// samplePoints writes a uniform sample without replacement of m of the
// candidates to dst[:m], in their order (Knuth, The Art of Computer
// Programming 2, algorithm 3.4.2S), so that later gathers stream through
// memory.
func samplePoints(dst, candidates []int32, m int, rng *rand.PCG) {
	if m >= len(candidates) {
		copy(dst, candidates)
		return
	}
	dst = dst[:m]
	left := uint64(len(candidates))
	at := 0
	for _, p := range candidates {
		if at == m {
			return
		}
		// A number below left, at most left/2^64 from uniform. The next place is
		// written whether p is taken or not: a branch would be mispredicted.
		below, _ := bits.Mul64(rng.Uint64(), left)
		dst[at] = p
		take := 0
		if below < uint64(m-at) {
			take = 1
		}
		at += take
		left--
	}
}
