package engine

import (
	"math"

	"pihc/compute"
	"pihc/internal/kernel"
	"pihc/internal/slab"
)

// inputField returns input i of a sample.
func (e *cpu[T]) inputField(at *slot[T], i int) []T { return at.input[i*e.points:][:e.points] }

// fillCoordinates writes the coordinate inputs of every sample of a micro-batch.
func (e *cpu[T]) fillCoordinates() {
	strides := e.Grid.Strides()
	for i, a := range e.Inputs.Axes {
		x := e.Coordinates(a)
		for b := range e.slots {
			for p, dst := 0, e.inputField(&e.slots[b], i); p < len(dst); p++ {
				dst[p] = T(x[(e.begin+p)/strides[a]%len(x)])
			}
		}
	}
}

// load takes the samples of a batch from lo on and fills their inputs for the first pass, or
// for the one that corrects Batch.Previous.
func (e *cpu[T]) load(batch Batch, lo int) []slot[T] {
	slots := e.slots[:min(len(e.slots), len(batch.Inputs)-lo)]
	for b := range slots {
		at, i := &slots[b], lo+b
		at.inputs, at.seed, at.truth = batch.Inputs[i], batch.Seeds[i], nil
		if batch.Truth != nil {
			at.truth = batch.Truth[i]
		}
		e.loadInputs(at)
		at.amplitude, at.base, at.corrected.Directions = 1, 1, nil
		if !e.Corrects {
			continue
		}
		h := &at.corrected
		e.Problem.Persist(h.Field, at.inputs, e.System.Grid)
		loss, _ := e.loss.Evaluate(h.Field, at.inputs)
		if e.Spec.Loss.Relative && loss > 0 {
			at.base = loss
		}
		if batch.Previous != nil {
			e.store(h.Field, batch.Previous[i])
			if batch.Directions != nil {
				h.Directions = h.memory[:min(len(h.memory), len(batch.Directions[i]))]
				for k, field := range h.Directions {
					e.store(field, batch.Directions[i][k])
				}
			}
			e.loss.Evaluate(h.Field, at.inputs)
		}
		e.loadFeatures(at)
	}
	return slots
}

// loadInputs fills the inputs of the problem.
func (e *cpu[T]) loadInputs(at *slot[T]) {
	if len(at.inputs) != e.System.InputSize() {
		panic("engine: inputs of the wrong length")
	}
	n := e.SliceSize()
	for i := range e.System.Inputs {
		dst, in := e.inputField(at, len(e.Inputs.Axes)+i), &e.System.Inputs[i]
		if i >= len(e.InputScales) {
			for p := range dst {
				dst[p] = T(in.Sampler.Unit(at.inputs[in.At(int32(e.first+p), 0, 0)]))
			}
			continue
		}
		center, factor := e.InputCenters[i], T(1/e.InputScales[i])
		for p, v := range in.Of(at.inputs) {
			dst[p] = T(v-center) * factor
		}
		for p := n; p < len(dst); p += n {
			copy(dst[p:p+n], dst[:n])
		}
	}
}

// store sets dst to the stored slices of a field on the whole grid.
func (e *cpu[T]) store(dst, field []float64) {
	lo, size, stored := e.System.FirstPoint(), e.Grid.Size(), e.System.Grid.Size()
	for c := range e.Problem.Unknowns {
		copy(dst[c*stored:(c+1)*stored], field[c*size+lo:])
	}
}

// loadFeatures fills the features of a sample from the field to correct, whose loss was evaluated last,
// and its rows: terms divided by the scale the spec gives, residuals by their root
// mean square. The basis is then multiplied by that root mean square over its
// scale, of several residuals the root mean square of these, since what corrects a field
// is as large as what is wrong with it. Where all residuals are [Zero], by the size of the first unknown.
func (e *cpu[T]) loadFeatures(at *slot[T]) {
	amplitude, residuals := 0.0, 0
	for i, f := range e.Features {
		dst, scale := e.inputField(at, len(e.Inputs.Axes)+e.Inputs.Fields+i), f.Scale
		if f.Unknown >= 0 {
			for p, v := range e.ownPart(at.corrected.Field[f.Unknown*e.System.Grid.Size():]) {
				dst[p] = T((v - f.Center) / scale)
			}
			continue
		}
		rows := e.loss.sets[f.Rows] // residuals come first
		values := rows.value
		switch {
		case f.Term >= 0:
			values = rows.z[f.Term]
		case f.Mean:
			if rms := rows.rms(e.System.Slab); rms > Zero*f.Unit {
				scale *= rms
			} else if f.Unit > 0 {
				scale *= f.Unit
			}
		default:
			residuals++
			if rms := rows.rms(e.System.Slab); rms > Zero*f.Unit {
				amplitude = math.Hypot(amplitude, rms/scale)
				scale = rms
			} else {
				scale = f.Unit
			}
		}
		if len(rows.Points) < len(dst) {
			clear(dst)
		}
		for r, p := range rows.Points {
			dst[int(p)-e.first] = T(values[r] / scale)
		}
		if f.Mean {
			meanFromStart(dst, e.SliceSize(), e.System.Slab)
		}
	}
	switch {
	case residuals == 0:
		at.amplitude = 1
	case amplitude == 0:
		at.amplitude = e.Size
	default:
		at.amplitude = amplitude / math.Sqrt(float64(residuals))
	}
}

// rms is the root mean square of the rows.
func (r *lossRows) rms(part *compute.Slab) float64 {
	sum := []float64{kernel.SumSquares64(r.value)}
	slab.Sum(part, sum)
	return math.Sqrt(sum[0] / float64(r.Set.Count))
}

// meanFromStart replaces every slice of width values by the mean, by the
// trapezoidal rule, of the slices from the first, of all ranks, to itself.
func meanFromStart[T compute.Float](f []T, width int, part *compute.Slab) {
	sums, begin := make([]T, width), 0
	previous := make([]T, width) // the slice before f, if begin > 0
	if part != nil {
		begin = part.Lo
		sumBefore(sums, previous, f, part)
	}
	for p := range width {
		sum, last := sums[p], previous[p]
		for i, at := begin, p; at < len(f); i, at = i+1, at+width {
			v := f[at]
			if i == 0 {
				last = v
				continue
			}
			sum += (last + v) / 2
			f[at], last = sum/T(i), v
		}
	}
}

// sumBefore sets sums to the trapezoidal sums up to the last slice of the rank below, and
// last to that slice.
func sumBefore[T compute.Float](sums, last, f []T, part *compute.Slab) {
	width := len(sums)
	ends := make([]T, 3*width) // the first slice, the sum from it to the last, the last
	copy(ends, f[:width])
	copy(ends[2*width:], f[len(f)-width:])
	for at := width; at < len(f); at++ {
		ends[width+at%width] += (f[at-width] + f[at]) / 2
	}
	for r, below := range slab.Before(part, ends) {
		for p := range sums {
			if r > 0 {
				sums[p] += (last[p] + below[p]) / 2
			}
			sums[p] += below[width+p]
			last[p] = below[2*width+p]
		}
	}
}
