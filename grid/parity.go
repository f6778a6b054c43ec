package grid

import "slices"

// Parity says how a field goes on beyond an end of an axis: Even as its mirror image, whose odd derivatives are zero at the end, Odd as
// the negative of it, whose even derivatives are. Unbounded is that of periodic axes.
type Parity int8

const (
	Odd       Parity = -1
	Unbounded Parity = 0
	Even      Parity = 1
)

// Parities are those of each unknown at the two ends of each axis of space, low first.
type Parities [][][2]Parity

// Mirrored returns the grid on which fields are continued by their parities: an axis of n nodes becomes a periodic one of 2(n-1) points,
// or of 4(n-1) where an unknown is even at one end and odd at the other. Other axes stay.
func (g *Grid) Mirrored(parities Parities) *Grid {
	out := &Grid{Axes: slices.Clone(g.Axes)}
	for i := range out.Axes[1:] {
		times := 0
		for _, of := range parities {
			switch ends := of[i]; {
			case ends[0] == Unbounded:
			case ends[0] != ends[1]:
				times = 4
			default:
				times = max(times, 2)
			}
		}
		if times > 0 {
			a := &out.Axes[1+i]
			a.Boundary, a.Points, a.Hi = Periodic, times*(a.Points-1), a.Lo+float64(times)*(a.Hi-a.Lo)
		}
	}
	return out
}

// images are, for each of the m points of a mirrored axis, that of the axis of n points whose value it has, and its sign: 0 at an end where fields
// are odd.
func images(n, m int, ends [2]Parity) (from []int, sign []float64) {
	for j := range m {
		at, s := j, 1.0
		if ends[0] == Unbounded {
			from, sign = append(from, j), append(sign, 1)
			continue
		}
		if at >= 2*(n-1) {
			at, s = at-2*(n-1), float64(ends[0]*ends[1])
		}
		if at > n-1 {
			at, s = 2*(n-1)-at, s*float64(ends[1])
		}
		if at == 0 && ends[0] == Odd || at == n-1 && ends[1] == Odd {
			s = 0
		}
		from, sign = append(from, at), append(sign, s)
	}
	return from, sign
}

// Continuation is the matrix (m, n) that continues the values of an axis of n nodes to a mirrored one of m points.
func Continuation(n, m int, ends [2]Parity) []float64 {
	out := make([]float64, m*n)
	from, sign := images(n, m, ends)
	for j, at := range from {
		out[j*n+at] = sign[j]
	}
	return out
}

// A mirror continues slices of an unknown on the mirrored grid.
type mirror struct {
	from []int32   // per point of the mirrored slice: that of the slice whose value it has
	sign []float64 // times this
	to   []int32   // per point of the slice: the same one of the mirrored slice
}

// mirrors are those of each unknown; nil where no axis is mirrored.
func (g *Grid) mirrors(mirrored *Grid, parities Parities) (all []mirror) {
	if slices.Equal(g.Axes, mirrored.Axes) {
		return nil
	}
	for _, of := range parities {
		m := mirror{from: []int32{0}, sign: []float64{1}}
		for i, a := range g.Axes[1:] {
			n := mirrored.Axes[1+i].Points
			from, sign := images(a.Points, n, of[i])
			next := mirror{}
			for p, at := range m.from {
				for j := range n {
					next.from, next.sign = append(next.from, at*int32(a.Points)+int32(from[j])), append(next.sign, m.sign[p]*sign[j])
				}
			}
			m = next
		}
		m.to = []int32{0}
		for i, a := range g.Axes[1:] {
			var to []int32
			for _, at := range m.to {
				for j := range a.Points {
					to = append(to, at*int32(mirrored.Axes[1+i].Points)+int32(j))
				}
			}
			m.to = to
		}
		all = append(all, m)
	}
	return all
}

// spread writes a slice (points, functions), continued, to dst.
func (m *mirror) spread(dst, slice []float64, functions int) {
	for p, at := range m.from {
		for j := range functions {
			dst[p*functions+j] = m.sign[p] * slice[int(at)*functions+j]
		}
	}
}

// cut is what a continued field has on the slice, zero at ends where it is odd.
func (m *mirror) cut(slice, field []float64, functions int) {
	for p, at := range m.to {
		s := m.sign[at] // 1, or 0 where odd
		for j := range functions {
			slice[p*functions+j] = s * field[int(at)*functions+j]
		}
	}
}

// spreadTransposed is the transpose of spread, and cutTransposed that of cut.
func (m *mirror) spreadTransposed(slice, field []float64, functions int) {
	clear(slice)
	for p, at := range m.from {
		for j := range functions {
			slice[int(at)*functions+j] += m.sign[p] * field[p*functions+j]
		}
	}
}

func (m *mirror) cutTransposed(field, slice []float64, functions int) {
	clear(field)
	for p, at := range m.to {
		s := m.sign[at] // 1, or 0 where odd
		for j := range functions {
			field[int(at)*functions+j] = s * slice[p*functions+j]
		}
	}
}
