package discrete

import (
	"math"
	"slices"

	"pihc/internal/sparse"
)

// dividedWork is how much longer a product of a dissected matrix takes than one of a band.
const dividedWork = 2

// arrange orders the columns of the matrix: of differences so that it has a narrow band, by their graph, which it returns.
func (s *system) arrange(differences bool) (near [][]int32) {
	s.order = make([]int, s.points)
	for p := range s.order {
		s.order[p] = p
	}
	if differences {
		near = s.graph()
		s.order = cuthillMcKee(near)
	}
	s.bandwidths()
	return near
}

// divide arranges a matrix of differences along several axes by a tree, where that takes less work; near is the graph of its rows.
func (s *system) divide(near [][]int32) {
	shape := s.shape()
	if len(shape) < 2 {
		return
	}
	var at []int
	if s.normal {
		near = s.normalGraph()
	} else {
		at = s.homes(near)
	}
	tree := sparse.Dissect(near, shape, s.fields*s.slices)
	if products, _ := tree.Work(s.fields * s.slices); dividedWork*products < s.products {
		s.tree, s.products, s.at = tree, dividedWork*products, at
	}
}

// shape is that of the points of a slice.
func (s *system) shape() []int {
	shape := s.sys.Grid.Shape()
	if s.slices > 1 {
		shape = shape[1:]
	}
	return shape
}

// rowPositions gives every row the place of its own point, so that a square
// matrix is near its diagonal.
func (s *system) rowPositions() []int {
	keys, at := make([]int, 0, s.count), make([]int, s.count)
	s.eachRow(func(k, i, _ int) {
		p := int(s.sys.Sets[k].Points[i])
		keys = append(keys, s.column(0, int32(p%s.points))+p/s.points)
	})
	for place, row := range sortedBy(keys) {
		at[row] = place
	}
	return at
}

// bandwidths sets those of the matrix, and its rows' places.
func (s *system) bandwidths() {
	if !s.normal {
		s.at = s.rowPositions()
	}
	s.eachRow(func(k, i, row int) {
		set, lo, hi := s.sys.Sets[k], math.MaxInt, 0
		own := set.Points[i] % int32(s.points)
		for _, t := range set.Terms {
			s.eachEntry(t, own, func(q int32, _ float64) {
				at := s.column(s.sys.Terms[t].Of, q)
				lo, hi = min(lo, at), max(hi, at+s.slices-1)
			})
		}
		if lo <= hi {
			if s.normal {
				s.lower, s.upper = max(s.lower, hi-lo), max(s.upper, hi-lo)
			} else {
				s.lower, s.upper = max(s.lower, s.at[row]-lo), max(s.upper, hi-s.at[row])
			}
		}
	})
	s.products = float64(s.values()) * float64(s.lower) * float64(s.lower+s.upper)
}

// graph connects the point of every row to those that appear in it.
func (s *system) graph() [][]int32 {
	near := make([][]int32, s.points)
	s.eachRow(func(k, i, _ int) { s.connect(near, s.sys.Sets[k].Points[i]%int32(s.points), k, i) })
	return unique(near)
}

// connect adds that a point is near those that appear in row i of set k.
func (s *system) connect(near [][]int32, p int32, k, i int) {
	s.eachPoint(k, i, func(q int32) {
		if q != p {
			near[p], near[q] = append(near[p], q), append(near[q], p)
		}
	})
}

// eachPoint visits the points that appear in row i of set k, some more than once.
func (s *system) eachPoint(k, i int, visit func(q int32)) {
	set := s.sys.Sets[k]
	for _, t := range set.Terms {
		s.eachEntry(t, set.Points[i]%int32(s.points), func(q int32, _ float64) { visit(q) })
	}
}

func unique(near [][]int32) [][]int32 {
	for p, list := range near {
		slices.Sort(list)
		near[p] = slices.Compact(list)
	}
	return near
}

// normalGraph connects all points that appear in one row.
func (s *system) normalGraph() [][]int32 {
	near := make([][]int32, s.points)
	s.eachRow(func(k, i, _ int) {
		s.eachPoint(k, i, func(p int32) { s.connect(near, p, k, i) })
	})
	return unique(near)
}

// homes gives every row a place at its own point or, where others have taken all places there, at the nearest point that has one left, which is then
// near all points in the row.
func (s *system) homes(near [][]int32) []int {
	size := s.fields * s.slices
	at, taken := make([]int, s.count), make([]int, s.points)
	var others [][3]int
	s.eachRow(func(k, i, row int) {
		p := int(s.sys.Sets[k].Points[i]) % s.points
		if taken[p] == size {
			others = append(others, [3]int{k, i, row})
			return
		}
		at[row] = p*size + taken[p]
		taken[p]++
	})
	reached := make([]int, s.points) // by which of the others, counted from 1
	homes := make([]int32, len(others))
	for o, other := range others {
		queue := []int32{s.sys.Sets[other[0]].Points[other[1]] % int32(s.points)}
		for n := 0; taken[queue[n]] == size; n++ {
			for _, q := range near[queue[n]] {
				if reached[q] <= o {
					reached[q] = o + 1
					queue = append(queue, q)
				}
			}
			if n+1 == len(queue) { // not connected: any
				queue = append(queue, int32(slices.IndexFunc(taken, func(c int) bool { return c < size })))
			}
			homes[o] = queue[n+1]
		}
		p := homes[o]
		at[other[2]] = int(p)*size + taken[p]
		taken[p]++
	}
	for o, other := range others {
		s.connect(near, homes[o], other[0], other[1])
	}
	unique(near)
	return at
}

// cuthillMcKee returns the position of every node in the reverse Cuthill-McKee
// order of a graph, which keeps neighbours near each other.
func cuthillMcKee(neighbours [][]int32) []int {
	n := len(neighbours)
	position, seen := make([]int, n), make([]bool, n)
	order := make([]int32, 0, n)
	degree := func(a, b int32) int { return len(neighbours[a]) - len(neighbours[b]) }
	// levels returns the nodes reached from start, nearest first.
	levels := func(start int32, visited []bool) []int32 {
		queue := []int32{start}
		visited[start] = true
		for at := 0; at < len(queue); at++ {
			first := len(queue)
			for _, q := range neighbours[queue[at]] {
				if !visited[q] {
					visited[q] = true
					queue = append(queue, q)
				}
			}
			slices.SortStableFunc(queue[first:], degree)
		}
		return queue
	}
	for start := range n {
		if seen[start] {
			continue
		}
		// A node far from any other is a better start.
		far := levels(int32(start), slices.Clone(seen))
		order = append(order, levels(far[len(far)-1], seen)...)
	}
	for i, p := range order {
		position[p] = n - 1 - i
	}
	return position
}
