package xla

import "pihc/constraint"

// jumps are how neighbouring experts differ along their borders: of every pair of
// points, below a border and above, what the upper expert predicts less what the lower
// one does.
type jumps struct {
	value, slope value // means of squares, as constraint.Jumps
	below, above value // (pairs)
	steps        value // (pairs): of the axis, as a fraction of its length
	pairs        int
}

// jumps measures the borders of what every expert predicts everywhere, (C P, K).
func (s *sample) jumps(own value) jumps {
	j := jumps{value: s.scalar(0, f64), slope: s.scalar(0, f64)}
	k := s.constraint.Router.Experts()
	var index [4][]int32 // below and above, of the upper and of the lower expert
	var steps []float64
	for _, b := range s.constraint.Borders() {
		for _, p := range s.below(b) {
			at := func(p int32, expert int) int32 { return p*int32(k) + int32(expert) }
			index[0], index[1] = append(index[0], at(p, b.Upper)), append(index[1], at(p, b.Lower))
			index[2], index[3] = append(index[2], at(p+b.Stride, b.Upper)), append(index[3], at(p+b.Stride, b.Lower))
			steps = append(steps, b.Step)
		}
	}
	if j.pairs = len(steps); j.pairs == 0 {
		return j
	}
	flat := s.reshape(own, own.size())
	read := func(i int) value { return s.rows(flat, s.integers(index[i], j.pairs)) }
	j.below, j.above = s.sub(read(0), read(1)), s.sub(read(2), read(3))
	j.steps = s.numbers(steps, f64, j.pairs)
	j.value = s.times(s.sum(s.add(s.mul(j.below, j.below), s.mul(j.above, j.above)), 0), 1/float64(2*j.pairs))
	slope := s.div(s.sub(j.above, j.below), j.steps)
	j.slope = s.times(s.sum(s.mul(slope, slope), 0), 1/float64(j.pairs))
	return j
}

// below are the places of a border's lower points in a field (C P).
func (s *sample) below(b constraint.Border) []int32 {
	var all []int32
	for c := range s.Problem.Unknowns {
		for _, p := range b.Below {
			all = append(all, int32(c*s.gridSize())+p)
		}
	}
	return all
}

// addJumps adds to α (C P, K) the gradient of the jumps, weighted as in the loss, times
// scale.
func (s *sample) addJumps(alpha value, j jumps, scale value) value {
	spec := s.Spec.Loss
	if j.pairs == 0 || spec.BorderJump == 0 && spec.BorderSlope == 0 {
		return alpha
	}
	k := s.constraint.Router.Experts()
	weight := s.times(scale, spec.BorderJump/float64(j.pairs))
	change := s.div(s.mul(s.sub(j.above, j.below), s.times(scale, 2*spec.BorderSlope/float64(j.pairs))), s.mul(j.steps, j.steps))
	lower, upper := s.sub(s.mul(j.below, weight), change), s.add(s.mul(j.above, weight), change)
	flat, first := s.reshape(alpha, alpha.size()), 0
	for _, b := range s.constraint.Borders() { // a point may lie at several, but at each once
		var to []int32
		below := s.below(b)
		for _, p := range below {
			to = append(to, p*int32(k)+int32(b.Upper), p*int32(k)+int32(b.Lower), (p+b.Stride)*int32(k)+int32(b.Upper), (p+b.Stride)*int32(k)+int32(b.Lower))
		}
		n := len(below)
		lo, hi := s.slice(lower, 0, first, first+n), s.slice(upper, 0, first, first+n)
		bars := s.reshape(s.stack(1, lo, s.neg(lo), hi, s.neg(hi)), 4*n)
		flat = s.put(flat, s.integers(to, 4*n), bars, true)
		first += n
	}
	return s.reshape(flat, alpha.shape...)
}
