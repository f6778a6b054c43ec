package discrete

import (
	"math"
	"slices"

	"pihc/internal/kernel"
)

// band is a square matrix with lower and upper bandwidths, factored in place by
// Gaussian elimination with partial pivoting.
type band struct {
	n, lower, upper int
	width           int       // of a stored row: lower + upper, and lower more for fill
	a               []float64 // row i holds columns i-lower .. i+upper+lower
	l               []float64 // column k of the factor below the diagonal, lower numbers, as it was eliminated
	pivot           []int
}

func newBand(n, lower, upper int) *band {
	lower, upper = min(lower, n-1), min(upper, n-1)
	width := 2*lower + upper + 1
	return &band{n: n, lower: lower, upper: upper, width: width, a: make([]float64, n*width), l: make([]float64, n*lower), pivot: make([]int, n)}
}

func (b *band) add(i, j int, v float64) { b.a[i*b.width+j-i+b.lower] += v }

// factor returns false if a pivot vanishes.
func (b *band) factor() bool {
	w := b.width
	for k := range b.n {
		last := min(b.n-1, k+b.lower)
		p, best := k, math.Abs(b.a[k*w+b.lower])
		for i := k + 1; i <= last; i++ {
			if v := math.Abs(b.a[i*w+k-i+b.lower]); v > best {
				p, best = i, v
			}
		}
		b.pivot[k] = p
		if !(best > 0) || math.IsInf(best, 0) {
			return false
		}
		right := min(b.n-1, k+b.upper+b.lower)
		top := b.a[k*w+b.lower : k*w+b.lower+right-k+1]
		if p != k {
			other := b.a[p*w+k-p+b.lower : p*w+k-p+b.lower+right-k+1]
			for j, v := range top {
				top[j], other[j] = other[j], v
			}
		}
		for i := k + 1; i <= last; i++ {
			row := b.a[i*w+k-i+b.lower : i*w+k-i+b.lower+right-k+1]
			if row[0] == 0 {
				continue
			}
			f := row[0] / top[0]
			b.l[k*b.lower+i-k-1] = f
			kernel.Axpy64(row[1:], -f, top[1:])
		}
	}
	return true
}

// solve replaces x by A⁻¹x.
func (b *band) solve(x []float64) {
	w := b.width
	for k := range b.n {
		p := b.pivot[k]
		x[k], x[p] = x[p], x[k]
		to, by := x[k+1:min(b.n, k+b.lower+1)], x[k]
		for i, v := range b.l[k*b.lower:][:len(to)] {
			to[i] -= v * by
		}
	}
	for k := b.n - 1; k >= 0; k-- {
		last := min(b.n-1, k+b.upper+b.lower)
		x[k] = (x[k] - kernel.Dot(b.a[k*w+1+b.lower:k*w+last-k+b.lower+1], x[k+1:last+1])) / b.a[k*w+b.lower]
	}
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
