package xla

import (
	"cmp"
	"fmt"
	"slices"

	"pihc/engine"
	"pihc/expr"
	"pihc/pde"
)

// along is a field (P, 1) that varies along one axis.
func (s *sample) along(axis int, x []float64, t dtype) value {
	v := s.numbers(x, t, len(x))
	return s.reshape(s.spread(v, s.Grid.Shape(), axis), s.gridSize(), 1)
}

// amplify multiplies the network's outputs (P, F C), or their gradient, by the amplitude and
// the scale of each unknown.
func (s *sample) amplify(out value) value {
	if len(s.Spec.Network.Scales) == 0 {
		if !s.amplitude.exists() {
			return out
		}
		return s.mul(out, s.convert(s.amplitude, s.dtype))
	}
	scales := slices.Repeat(s.OutputScales, out.shape[1]/len(s.OutputScales))
	factors := s.numbers(scales, f64, len(scales))
	if s.amplitude.exists() {
		factors = s.mul(factors, s.spread(s.amplitude, factors.shape))
	}
	return s.mul(out, s.spread(s.convert(factors, s.dtype), out.shape, 1))
}

// components turns the network's outputs (P, F C), C for each of its F functions, into a
// basis (C P, N): N = F, or with separate weights N = C F, where a function has values of
// one unknown alone.
func (s *sample) components(out value) value {
	c, f, size := len(s.Problem.Unknowns), s.functions(), s.gridSize()
	if c == 1 {
		return out
	}
	basis := s.transpose(s.reshape(out, size, f, c), 2, 0, 1)
	if !s.constraint.Options.Separate {
		return s.reshape(basis, c*size, f)
	}
	var all []value
	for i := range c {
		all = append(all, s.among(s.at(basis, 0, i), 1, i, c))
	}
	return s.concatenate(0, all...)
}

// functions is the number of functions that the network proposes.
func (s *sample) functions() int { return s.constraint.Functions - s.constraint.Options.Directions }

// withDirections puts the directions (D, C P), fields as they are, after the functions of the
// network in a basis (C P, N): with separate weights after those of every component.
func (s *sample) withDirections(basis, directions value) value {
	further := s.transpose(directions, 1, 0) // (C P, D)
	if c, f, size := len(s.Problem.Unknowns), s.functions(), s.gridSize(); c > 1 && s.constraint.Options.Separate {
		var all []value
		for i := range c {
			all = append(all, s.slice(basis, 1, i*f, (i+1)*f), s.among(s.slice(further, 0, i*size, (i+1)*size), 0, i, c))
		}
		return s.concatenate(1, all...)
	}
	return s.concatenate(1, basis, further)
}

// withoutDirections leaves the functions of the network of the gradient by a basis (C P, N).
func (s *sample) withoutDirections(basis value) value {
	all, f := s.constraint.Functions, s.functions()
	if f == all {
		return basis
	}
	var own []value
	for lo := 0; lo < s.constraint.N; lo += all {
		own = append(own, s.slice(basis, 1, lo, lo+f))
	}
	return s.concatenate(1, own...)
}

// outputsOf is the transpose of components.
func (s *sample) outputsOf(basis value) value {
	c, f, size := len(s.Problem.Unknowns), s.functions(), s.gridSize()
	if c == 1 {
		return basis
	}
	parts := s.reshape(basis, c, size, basis.shape[1])
	if s.constraint.Options.Separate {
		var all []value
		for i := range c {
			all = append(all, s.slice(s.at(parts, 0, i), 1, i*f, (i+1)*f))
		}
		parts = s.stack(0, all...)
	}
	return s.reshape(s.transpose(parts, 1, 2, 0), size, f*c)
}

// field is input i of those of a sample (InputSize) at every point: (P, 1).
func (s *sample) field(inputs value, i int) value {
	if slice, ok := s.terms.sliceOf(inputs, i); ok {
		return s.reshape(s.spread(slice, []int{s.gridSize() / s.width(), s.width()}, 1), s.gridSize(), 1)
	}
	return s.reshape(s.terms.inputAt(inputs, i, s.iota(i32, s.gridSize()), 0, 0), s.gridSize(), 1)
}

// networkInput is what the network sees (P, inputs): coordinates, as fractions of the
// problem's axes, the inputs of the problem, features, of which it also sets the
// amplitude of the basis.
func (s *sample) networkInput() value {
	var all []value
	for _, a := range s.Inputs.Axes {
		all = append(all, s.along(a, s.Coordinates(a), s.dtype))
	}
	for i := range s.System.Inputs {
		if i < len(s.InputScales) {
			all = append(all, s.times(s.convert(s.less(s.field(s.given, i), s.InputCenters[i]), s.dtype), 1/s.InputScales[i]))
		} else {
			all = append(all, s.convert(s.field(s.units, i), s.dtype))
		}
	}
	if len(s.Inputs.Features) > 0 {
		all = append(all, s.features()...)
	}
	return s.concatenate(1, all...)
}

// features are those of the field to correct (P, 1): terms divided by the scale the spec
// gives, residuals by their root mean square; where all of those are engine.Zero, the amplitude is the size of the first unknown.
func (s *sample) features() []value {
	residuals := s.loss.evaluate(s.previous, value{}).sets[:len(s.System.Residuals())]
	var all, amplitudes []value
	for _, f := range s.Features {
		divisor := s.scalar(f.Scale, f64)
		if f.Unknown >= 0 {
			all = append(all, s.convert(s.div(s.less(s.terms.unknown(f.Unknown, s.previous), f.Center), divisor), s.dtype))
			continue
		}
		rows := residuals[f.Rows]
		values := rows.out[0]
		switch {
		case f.Term >= 0:
			values = rows.z[f.Term]
		case f.Mean:
			divisor = s.mul(divisor, s.unlessZero(s.rms(rows), f.Unit, cmp.Or(f.Unit, 1)))
		default:
			rms := s.rms(rows)
			amplitudes = append(amplitudes, s.div(s.unlessZero(rms, f.Unit, 0), divisor))
			divisor = s.unlessZero(rms, f.Unit, f.Unit)
		}
		v := s.put(s.full(0, s.dtype, s.gridSize(), 1), rows.points, s.convert(s.div(values, divisor), s.dtype), false)
		if f.Mean {
			v = s.meanFromStart(v)
		}
		all = append(all, v)
	}
	if n := len(amplitudes); n > 0 {
		amplitude := amplitudes[0]
		if n > 1 { // the root mean square of all
			v := s.stack(0, amplitudes...)
			amplitude = s.sqrt(s.times(s.sum(s.mul(v, v), 0), 1/float64(n)))
		}
		s.amplitude = s.unlessZero(amplitude, 0, s.Size)
	}
	return all
}

// less is v less a number.
func (s *sample) less(v value, number float64) value {
	if number == 0 {
		return v
	}
	return s.sub(v, s.scalar(number, f64))
}

// rms is the root mean square of rows.
func (s *sample) rms(rows lossRows) value {
	return s.sqrt(s.times(s.sum(s.mul(rows.out[0], rows.out[0]), 0), 1/float64(len(rows.set.Points))))
}

// unlessZero is rms, or another number where that is engine.Zero of a residual of this unit.
func (s *sample) unlessZero(rms value, unit, otherwise float64) value {
	return s.where(s.than("GT", rms, engine.Zero*unit), rms, s.scalar(otherwise, f64))
}

// meanFromStart replaces every slice of f (P, 1) by the mean, by the trapezoidal rule, of
// the slices from the first to itself.
func (s *sample) meanFromStart(f value) value {
	n := s.Grid.Axes[0].Points
	m := make([]float64, n*n)
	m[0] = 1
	for i := 1; i < n; i++ {
		for j := range i + 1 {
			m[i*n+j] = 1 / float64(i)
			if j == 0 || j == i {
				m[i*n+j] /= 2
			}
		}
	}
	return s.reshape(s.dot("ij,jw->iw", s.numbers(m, f.dtype, n, n), s.reshape(f, n, s.width())), s.gridSize(), 1)
}

// ansatz sets basis, multiplier and offset from what the network proposes (C P, N).
func (s *sample) ansatz(functions value) error {
	n, size := functions.shape[1], s.size()
	s.basis = s.removeMeans(functions)
	if mu := s.System.Multiplier(); mu != nil {
		s.multiplier = s.numbers(mu, f64, size)
		s.basis = s.mul(s.basis, s.spread(s.multiplier, []int{size, n}, 0))
	}
	s.basis = s.smooth("ij,ojw->oiw", s.basis)
	if s.constraint.Propagator != nil {
		s.propagator = s.newPropagator()
		s.basis = s.propagator.propagate(s.basis)
	}
	s.basis = s.removeWeightedMeans(s.basis, false)
	if !s.Problem.HasOffset() {
		return nil
	}
	offset, err := s.offsetOf()
	if err != nil {
		return fmt.Errorf("ansatz offset: %w", err)
	}
	s.offset = offset
	if s.Corrects {
		s.offset = s.where(s.spread(s.than("NE", s.number(numberLater), 0), []int{size, 1}), s.previous, s.offset)
	}
	return nil
}

// offsetOf is the offset of the ansatz.
func (s *sample) offsetOf() (value, error) {
	var all []value
	if s.propagator != nil {
		for _, e := range s.Problem.Begins() {
			begin, err := s.pointwise(e)
			if err != nil {
				return value{}, err
			}
			all = append(all, s.slice(begin, 0, 0, s.width()))
		}
		return s.keepMeans(s.propagator.begin(s.concatenate(0, all...)), all), nil
	}
	for _, u := range s.Problem.Unknowns {
		offset, err := s.pointwise(u.Ansatz.Offset)
		if err != nil {
			return value{}, err
		}
		all = append(all, offset)
	}
	return s.concatenate(0, all...), nil
}

// pointwise is an expression in axes and inputs at all points (P, 1).
func (s *sample) pointwise(e *expr.Expr) (value, error) {
	if v, ok := e.Constant(); ok {
		return s.full(v, f64, s.gridSize(), 1), nil
	}
	var names []string
	var in []value
	for i, axis := range s.Grid.Axes {
		if e.DependsOn(axis.Name) {
			names, in = append(names, axis.Name), append(in, s.along(i, axis.Coordinates(), f64))
		}
	}
	for i, input := range s.System.Inputs {
		if e.DependsOn(input.Name) {
			names, in = append(names, input.Name), append(in, s.field(s.given, i))
		}
	}
	program, err := expr.Compile([]*expr.Expr{e}, names)
	if err != nil {
		return value{}, err
	}
	return s.program(program, in, 1)[0], nil
}

// eachSlices changes the slices (T, points, F) of every unknown of fields (C P, F).
func (s *sample) eachSlices(f value, change func(unknown int, slices value) value) value {
	var all []value
	for c := range s.Problem.Unknowns {
		part := s.slice(f, 0, c*s.gridSize(), (c+1)*s.gridSize())
		all = append(all, s.reshape(change(c, s.reshape(part, s.gridSize()/s.width(), s.width(), f.shape[1])), part.shape...))
	}
	return s.concatenate(0, all...)
}

// removeMeans removes the means without weights from fields (C P, F). It is its own transpose.
func (s *sample) removeMeans(f value) value {
	return s.eachSlices(f, func(c int, x value) value {
		if !s.System.RemovesMean(c) {
			return x
		}
		return s.sub(x, s.spread(s.times(s.sum(x, 1), 1/float64(s.width())), x.shape, 0, 2))
	})
}

// removeWeightedMeans removes the means that have weights from fields (C P, F), or applies the transpose of that.
func (s *sample) removeWeightedMeans(f value, transposed bool) value {
	if !s.System.WeighsMeans() {
		return f
	}
	return s.eachSlices(f, func(c int, x value) value {
		w := s.System.MeanWeights(c)
		switch {
		case w == nil:
			return x
		case transposed:
			return s.sub(x, s.mul(s.spread(s.sum(x, 1), x.shape, 0, 2), s.spread(s.numbers(w, x.dtype, len(w)), x.shape, 1)))
		}
		return s.sub(x, s.spread(s.weightedMeans(x, w), x.shape, 0, 2))
	})
}

// weightedMeans are the means (T, F) over the slices of f (T, points, F) by weights.
func (s *sample) weightedMeans(f value, weights []float64) value {
	return s.sum(s.mul(f, s.spread(s.numbers(weights, f.dtype, len(weights)), f.shape, 1)), 1)
}

// keepMeans shifts slices of a field (C P, 1) that Duhamel's formula begins with values of begin (SliceSize, 1) as pde.System.KeepMean does.
func (s *sample) keepMeans(f value, begin []value) value {
	if !s.System.WeighsMeans() {
		return f
	}
	return s.eachSlices(f, func(c int, x value) value {
		w, time := s.System.MeanWeights(c), s.Grid.Axes[0]
		if w == nil {
			return x
		}
		shift, powers := s.neg(s.weightedMeans(x, w)), slices.Repeat([]float64{1}, time.Points)
		for _, y := range begin[s.propagator.First[c]:s.propagator.End(c)] {
			mean := s.reshape(s.weightedMeans(s.reshape(y, 1, s.width(), 1), w), 1)
			shift = s.add(shift, s.mul(s.spread(mean, shift.shape, 1), s.spread(s.numbers(slices.Clone(powers), f64, time.Points), shift.shape, 0)))
			for i := range powers {
				powers[i] *= time.Coordinate(i) - time.Lo
			}
		}
		return s.add(x, s.spread(shift, x.shape, 0, 2))
	})
}

// smooth applies S of the ansatz to fields (C P, F), or with the indices of its matrices (i, j) exchanged in spec Sᵀ.
func (s *sample) smooth(spec string, f value) value {
	if !slices.ContainsFunc(s.constraint.Smoothers, func(all []pde.Smoother) bool { return len(all) > 0 }) {
		return f
	}
	var parts []value
	for c, all := range s.constraint.Smoothers {
		part := s.slice(f, 0, c*s.gridSize(), (c+1)*s.gridSize())
		for _, m := range all {
			whole, n := part.shape, s.Grid.Axes[m.Axis].Points
			inner := s.Grid.Strides()[m.Axis] * f.shape[1]
			part = s.reshape(part, s.gridSize()*f.shape[1]/(n*inner), n, inner)
			part = s.reshape(s.dot(spec, s.numbers(m.Matrix, f.dtype, n, n), part), whole...)
		}
		parts = append(parts, part)
	}
	return s.concatenate(0, parts...)
}

// projectTransposed applies Sᵀ, μ and then Πᵀ to fields (C P, F).
func (s *sample) projectTransposed(f value) value {
	f = s.removeWeightedMeans(f, true)
	if s.propagator != nil {
		f = s.propagator.transposed(f)
	}
	f = s.smooth("ji,ojw->oiw", f)
	if s.multiplier.exists() {
		f = s.mul(f, s.spread(s.multiplier, f.shape, 0))
	}
	return s.removeMeans(f)
}
