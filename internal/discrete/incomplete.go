package discrete

import (
	"slices"

	"pihc/internal/kernel"
)

// incomplete is a factorisation of the matrix of a step without fill, in blocks of all values at a point (ILU(0); Y. Saad, Iterative Methods for
// Sparse Linear Systems, sections 10.3 and 10.5): the preconditioner of GMRES where all rows are differences.
type incomplete struct {
	size   int       // of a block: fields times slices
	order  []int     // place of each point
	column []int     // likewise, by its place among the columns of the system
	start  []int     // per place: of its blocks
	places []int     // per block: its column, ascending
	middle []int     // per place: its block on the diagonal
	blocks []float64 // (blocks, size, size); on the diagonal their inverses
	at     []int     // per place: its block in the row that is worked on, or -1
	x      []float64 // (places, size)
}

// mostIncomplete bounds the numbers of an incomplete factorisation.
const mostIncomplete = 1 << 25

// newIncomplete returns nil where rows are not differences all of them, or it is too large.
func (s *system) newIncomplete() *incomplete {
	if s.order == nil {
		return nil
	}
	near := s.graph()
	v := &incomplete{size: s.fields * s.slices, order: cuthillMcKee(near), column: make([]int, s.points), x: make([]float64, s.values())}
	points := make([]int, s.points)
	for p, place := range v.order {
		points[place] = p
	}
	for p, at := range s.order {
		v.column[at] = v.order[p]
	}
	for place, p := range points {
		v.start = append(v.start, len(v.places))
		row := []int{place}
		for _, q := range near[p] {
			row = append(row, v.order[q])
		}
		slices.Sort(row)
		v.middle = append(v.middle, len(v.places)+slices.Index(row, place))
		v.places = append(v.places, row...)
		v.at = append(v.at, -1)
	}
	v.start = append(v.start, len(v.places))
	if len(v.places)*v.size*v.size > mostIncomplete {
		return nil
	}
	v.blocks = make([]float64, len(v.places)*v.size*v.size)
	return v
}

// block is one of the matrix.
func (v *incomplete) block(i int) []float64 {
	n := v.size * v.size
	return v.blocks[i*n:][:n:n]
}

// factor factors the matrix of the last evaluation of a state; false where a block on the diagonal has no inverse.
func (v *incomplete) factor(st *state) bool {
	clear(v.blocks)
	n := v.size
	st.eachRow(func(k, i, _ int) {
		point := int(st.sys.Sets[k].Points[i])
		place, row := v.order[point%st.points], st.owner[k]*st.slices+point/st.points
		own := v.places[v.start[place]:v.start[place+1]]
		st.jacobian(k, i, func(q int, value float64) {
			b, _ := slices.BinarySearch(own, v.column[q/n])
			v.block(v.start[place] + b)[row*n+q%n] += value
		})
	})
	product := make([]float64, n*n)
	for place := range v.middle {
		for b := v.start[place]; b < v.start[place+1]; b++ {
			v.at[v.places[b]] = b
		}
		for b := v.start[place]; b < v.middle[place]; b++ {
			above, own := v.places[b], v.block(b)
			multiply(product, own, v.block(v.middle[above]), n)
			copy(own, product)
			for c := v.middle[above] + 1; c < v.start[above+1]; c++ {
				if to := v.at[v.places[c]]; to >= 0 {
					multiply(product, own, v.block(c), n)
					kernel.Axpy64(v.block(to), -1, product)
				}
			}
		}
		for b := v.start[place]; b < v.start[place+1]; b++ {
			v.at[v.places[b]] = -1
		}
		if own := v.block(v.middle[place]); !invertBlock(own, n) {
			return false
		}
	}
	return true
}

// multiply sets dst to a times b, all (n, n).
func multiply(dst, a, b []float64, n int) {
	clear(dst)
	for i := range n {
		for k := range n {
			if f := a[i*n+k]; f != 0 {
				for j, v := range b[k*n:][:n] {
					dst[i*n+j] += f * v
				}
			}
		}
	}
}

// invertBlock replaces a (n, n) by its inverse, by elimination with pivots of columns; false where it has none.
func invertBlock(a []float64, n int) bool {
	rows := make([]int, n)
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if abs(a[i*n+k]) > abs(a[p*n+k]) {
				p = i
			}
		}
		rows[k] = p
		if !(abs(a[p*n+k]) > 0) {
			return false
		}
		for j := range n {
			a[k*n+j], a[p*n+j] = a[p*n+j], a[k*n+j]
		}
		by := 1 / a[k*n+k]
		a[k*n+k] = 1
		for j := range n {
			a[k*n+j] *= by
		}
		for i := range n {
			if f := a[i*n+k]; i != k && f != 0 {
				a[i*n+k] = 0
				for j := range n {
					a[i*n+j] -= f * a[k*n+j]
				}
			}
		}
	}
	for k := n - 1; k >= 0; k-- {
		for i := range n {
			a[i*n+k], a[i*n+rows[k]] = a[i*n+rows[k]], a[i*n+k]
		}
	}
	return finite(a)
}

func abs(x float64) float64 { return max(x, -x) }

// apply sets dst (fields, slices, points) to the inverse of the product of the factors times src; they may be the same.
func (v *incomplete) apply(dst, src []float64) {
	n, points := v.size, len(v.middle)
	for p, place := range v.order {
		for i := range n {
			v.x[place*n+i] = src[i*points+p]
		}
	}
	subtract := func(to []float64, b int) {
		from, block := v.x[v.places[b]*n:][:n], v.block(b)
		for i := range to {
			sum := 0.0
			for j, w := range block[i*n:][:n] {
				sum += w * from[j]
			}
			to[i] -= sum
		}
	}
	for place := range points {
		for b := v.start[place]; b < v.middle[place]; b++ {
			subtract(v.x[place*n:][:n], b)
		}
	}
	own := make([]float64, n)
	for place := points - 1; place >= 0; place-- {
		to := v.x[place*n:][:n]
		for b := v.middle[place] + 1; b < v.start[place+1]; b++ {
			subtract(to, b)
		}
		copy(own, to)
		block := v.block(v.middle[place])
		for i := range to {
			to[i] = 0
			for j, w := range block[i*n:][:n] {
				to[i] += w * own[j]
			}
		}
	}
	for p, place := range v.order {
		for i := range n {
			dst[i*points+p] = v.x[place*n+i]
		}
	}
}
