package engine

// forward runs the network from the pass that load prepared to the one asked for,
// and leaves the basis of the last. Between two passes one solve over the whole
// domain (soft: the network's own field) turns the basis into the field that the
// next pass sees by its features and corrects: it takes the place of the ansatz's
// offset, so that initial conditions and mean stay as they are. keep says that
// Backward follows. Once the batch is cancelled the basis is not that of the last
// pass: callers look before they use it.
func (e *cpu[T]) forward(params []T, batch Batch, lo, count, last int, keep bool) {
	m := &e.micro
	basis, input := m.basis[:len(m.basis)/m.size*count], m.input[:len(m.input)/m.size*count]
	pass := 1
	if batch.Previous != nil {
		pass = last
	}
	for ; batch.Canceled() == nil; pass++ {
		if pass == last && keep {
			e.net.Forward(basis, params, input)
		} else {
			e.net.ForwardOnly(basis, params, input)
		}
		e.amplify(basis)
		if pass == last {
			return
		}
		for b := range count {
			initial := batch.Initial[lo+b]
			field := e.solve(pass, b, initial, batch.Seeds[lo+b]).Field()
			if pass == 1 && len(m.spare[b]) > 0 {
				e.System.Offset(m.previous[b], initial) // what it corrects, whatever the features are of
			}
			m.directions[b] = PushDirection(e.Spec.Constraint.SoftWeight, m.spare[b], m.directions[b], field, m.previous[b])
			copy(m.previous[b], field)
			e.loadFeatures(b, e.loss.Evaluate(m.previous[b], initial, RowFactor{}))
		}
	}
}

// PushDirection puts field - before, over the unit of weights, at the head
// of the directions, the first of spare, which is their memory, drops the last where there is no
// room, and returns what they are now.
func PushDirection(unit float64, spare, directions [][]float64, field, before []float64) [][]float64 {
	if len(spare) == 0 {
		return nil
	}
	directions = spare[:min(len(directions)+1, len(spare))]
	last := len(directions) - 1
	newest := directions[last]
	copy(directions[1:], directions[:last])
	directions[0] = newest
	for p, v := range field {
		newest[p] = (v - before[p]) / unit
	}
	return directions
}

// amplify multiplies each sample's basis, or its gradient, by its amplitude and the
// scale of each unknown.
func (e *cpu[T]) amplify(basis []T) {
	if !e.Corrects && len(e.Spec.Network.Scales) == 0 {
		return
	}
	size, unknowns := e.points, len(e.Problem.Unknowns)
	outputs := e.Spec.Outputs() * unknowns
	e.pool.Run(len(basis)/size, func(_, i int) {
		factor := T(e.micro.amplitude[i/outputs] * e.OutputScales[i%unknowns])
		for p := i * size; p < (i+1)*size; p++ {
			basis[p] *= factor
		}
	})
}
