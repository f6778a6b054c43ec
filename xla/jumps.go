package xla

// jumps are how neighbouring experts differ along their borders: of every pair of
// points, below a border and above, what the upper expert predicts less what the lower
// one does.
type jumps struct {
	value, slope value // means of squares, as constraint.Jumps
	below, above value // (pairs)
	steps        value // (pairs): of the axis, as a fraction of its length
	pairs        int
	borders      []int      // pairs of each
	index        [4][]int32 // (pairs) among predictions (C P, K): below and above, of the upper and of the lower expert
}

// jumps measures the borders of what every expert predicts everywhere, (C P, K).
func (s *sample) jumps(everywhere value) jumps {
	j := jumps{value: s.scalar(0, f64), slope: s.scalar(0, f64)}
	k := s.constraint.Router.Experts()
	var steps []float64
	for _, b := range s.constraint.Borders {
		for c := range s.Problem.Unknowns {
			for _, p := range b.Below {
				at := (c*s.gridSize() + int(p)) * k
				for i, place := range []int{at + b.Upper, at + b.Lower, at + int(b.Stride)*k + b.Upper, at + int(b.Stride)*k + b.Lower} {
					j.index[i] = append(j.index[i], int32(place))
				}
				steps = append(steps, b.Step)
			}
		}
		j.borders = append(j.borders, len(b.Below)*len(s.Problem.Unknowns))
	}
	if j.pairs = len(steps); j.pairs == 0 {
		return j
	}
	flat := s.reshape(everywhere, everywhere.size())
	read := func(i int) value { return s.rows(flat, s.integers(j.index[i], j.pairs)) }
	j.below, j.above = s.sub(read(0), read(1)), s.sub(read(2), read(3))
	j.steps = s.numbers(steps, f64, j.pairs)
	j.value = s.times(s.sum(s.add(s.mul(j.below, j.below), s.mul(j.above, j.above)), 0), 1/float64(2*j.pairs))
	slope := s.div(s.sub(j.above, j.below), j.steps)
	j.slope = s.times(s.sum(s.mul(slope, slope), 0), 1/float64(j.pairs))
	return j
}

// addJumps adds to α (C P, K) the gradient of the jumps, weighted as in the loss, times
// scale.
func (s *sample) addJumps(alpha value, j jumps, scale value) value {
	spec := s.Spec.Loss
	if j.pairs == 0 || spec.BorderJump == 0 && spec.BorderSlope == 0 {
		return alpha
	}
	weight := s.times(scale, spec.BorderJump/float64(j.pairs))
	change := s.div(s.mul(s.sub(j.above, j.below), s.times(scale, 2*spec.BorderSlope/float64(j.pairs))), s.mul(j.steps, j.steps))
	lower, upper := s.sub(s.mul(j.below, weight), change), s.add(s.mul(j.above, weight), change)
	flat, first := s.reshape(alpha, alpha.size()), 0
	for _, n := range j.borders { // a point may lie at several, but at each once
		var to []int32
		for i := first; i < first+n; i++ {
			to = append(to, j.index[0][i], j.index[1][i], j.index[2][i], j.index[3][i])
		}
		lo, hi := s.slice(lower, 0, first, first+n), s.slice(upper, 0, first, first+n)
		bars := s.reshape(s.stack(1, lo, s.neg(lo), hi, s.neg(hi)), 4*n)
		flat = s.put(flat, s.integers(to, 4*n), bars, true)
		first += n
	}
	return s.reshape(flat, alpha.shape...)
}
