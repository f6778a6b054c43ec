package model

import (
	"pihc/constraint"
)

// forward runs the network and leaves the basis of the last of the given number
// of passes. Between two passes one solve over the whole domain (soft: the
// network's own field) turns the basis into the field that the next pass sees by
// its features and corrects: it takes the place of the ansatz's offset, so that
// initial conditions and mean stay as they are. Nothing is differentiated through
// earlier passes.
func (e *CPU[T]) forward(params []T, batch Batch, lo, count, passes int, keep bool) {
	e.pass = 1
	if e.hold {
		e.pass = passes
	}
	for ; ; e.pass++ {
		if e.pass == passes && keep {
			e.net.Forward(e.basis, params, e.input)
		} else {
			e.net.ForwardOnly(e.basis, params, e.input)
		}
		e.amplify(e.basis)
		if e.pass == passes {
			return
		}
		for b := range e.micro {
			if b >= count {
				e.amplitude[b] = 0
				continue
			}
			initial := batch.Initial[lo+b]
			copy(e.previous[b], e.solve(b, initial, batch.Seeds[lo+b]))
			e.loss.Evaluate(e.squares, e.previous[b], initial, nil, 0)
			e.loadFeatures(b)
		}
	}
}

// solver is the solve of the current pass: over the whole domain, or in the last
// pass the method's own. A pass is trained by the solve that it is used with.
func (e *CPU[T]) solver() *constraint.Sample {
	if e.pass < e.Spec.Network.Passes {
		return e.between
	}
	return e.constrained
}

// trainedPass chooses the pass a step trains: each in turn.
func (e *CPU[T]) trainedPass(step uint64) int { return 1 + int(step%uint64(e.Spec.Network.Passes)) }

// amplify multiplies each sample's basis, or its gradient, by its amplitude.
func (e *CPU[T]) amplify(basis []T) {
	if e.previous == nil {
		return
	}
	e.amplified = basis
	e.pool.Run(e.micro*e.Network.Outputs, e.amplifyTask)
	e.amplified = nil
}

// amplifyField does so for one basis function.
func (e *CPU[T]) amplifyField(_, i int) {
	size, a := e.System.Grid.Size(), T(e.amplitude[i/e.Network.Outputs])
	f := e.amplified[i*size : (i+1)*size]
	for p := range f {
		f[p] *= a
	}
}

// newBetween makes what passes before the last need.
func (e *CPU[T]) newBetween(options constraint.Options) error {
	e.between = e.constrained
	if len(e.Constraint.Windows) == 1 || options.Fixed {
		return nil
	}
	options.Experts, options.Overlap = nil, false
	c, err := constraint.New(e.System, e.Network.Outputs, options, nil, e.pool)
	if err == nil {
		e.between = c.NewSample()
	}
	return err
}
