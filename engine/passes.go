package engine

// forward runs the network on samples from the pass that load prepared to the one asked for,
// and leaves the basis of the last. Between two passes one solve over the whole
// domain (soft: the network's own field) turns the basis into the field that the
// next pass sees by its features and corrects: it takes the place of the ansatz's
// offset, so that initial conditions and mean stay as they are. keep says that
// Backward follows. Once the batch is cancelled the basis is not that of the last
// pass: callers look before they use it.
func (e *cpu[T]) forward(params []T, slots []slot[T], batch *Batch, last int, keep bool) {
	basis, input := e.basis[:len(slots)*len(slots[0].basis)], e.input[:len(slots)*len(slots[0].input)]
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
		for b := range slots {
			at := &slots[b]
			field := e.solve(pass, at, batch, true).Field()
			if pass == 1 && e.Spec.Directions() > 0 {
				e.System.Offset(at.corrected.Field, at.inputs) // what it corrects, whatever the features are of
			}
			at.corrected.Add(field)
			e.loss.Evaluate(at.corrected.Field, at.inputs)
			e.loadFeatures(at)
		}
	}
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
		factor := T(e.slots[i/outputs].amplitude * e.OutputScales[i%unknowns])
		for p := i * size; p < (i+1)*size; p++ {
			basis[p] *= factor
		}
	})
}
