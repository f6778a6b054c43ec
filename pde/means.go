package pde

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/kernel"
)

// KeepsMean reports whether a mean over space of an unknown is, in every solution, that of the offset of its ansatz, so
// that a basis without it (Ansatz.RemoveMean) holds all solutions: the axes of space are periodic, the ansatz begins
// with its offset, which is not the solution already (a linear equation by Duhamel's formula), and the mean of a residual
// depends on that of the unknown's derivative in time alone. Points may have weights in axes of space (nil: alike), as waves of
// varying speed keep the mean of u/c². Whether it does is tried on fields of a few waves, over which
// differences of periodic fields sum up without an error of their own.
func (p *Problem) KeepsMean(unknown int) (weight *expr.Expr, keeps bool, err error) {
	a := &p.Unknowns[unknown].Ansatz
	if p.Steady || a.RemoveMean || a.Duhamel && p.constantLinear() || a.ByRows && p.AllLinear() {
		return nil, false, nil
	}
	points := map[string]int{}
	for i, axis := range p.Axes {
		if i > 0 && (axis.Boundary != grid.Periodic || a.Multiplier.DependsOn(axis.Name)) {
			return nil, false, nil
		}
		points[axis.Name] = min(axis.Points, meanPoints)
	}
	g, err := p.Grid(points)
	if err != nil {
		return nil, false, err
	}
	s, err := p.Discretize(g)
	if err != nil {
		return nil, false, err
	}
	inputs := make([]float64, s.InputSize())
	for i := range s.Inputs {
		for q, v := 0, s.Inputs[i].Of(inputs); q < len(v); q++ {
			v[q] = 1 + 0.2*math.Sin(float64(2+i)+2*math.Pi*float64(q)/float64(len(v)))
		}
	}
	order, weight := s.meanOrder(unknown, inputs)
	keeps = order > 0 && s.offsetKeeps(unknown, order, weight, inputs)
	return weight, keeps, nil
}

// constantLinear reports whether residuals are linear in unknowns and terms, by constants.
func (p *Problem) constantLinear() bool {
	names := p.UnknownNames()
	for _, t := range p.Terms {
		names = append(names, t.Name)
	}
	for _, r := range p.Residuals {
		for _, name := range names {
			if _, constant := r.Expr.Diff(name).Constant(); !constant {
				return false
			}
		}
	}
	return true
}

const (
	// meanPoints is the number of points along an axis with which KeepsMean tries.
	meanPoints = 20
	// meanRounding is what rounding leaves of a sum, relative to its terms.
	meanRounding = 1e-8
)

// waves is a field (C, P) of a few waves in space, which change in time as its means do.
func (s *System) waves() []float64 {
	field, index := make([]float64, s.FieldSize()), make([]int, len(s.Grid.Axes))
	for c := range s.Problem.Unknowns {
		part := field[c*s.Grid.Size():][:s.Grid.Size()]
		for q := range part {
			s.Grid.Unravel(q, index)
			phase := make([]float64, len(index)) // of the circle of every axis
			for i, axis := range s.Grid.Axes {
				phase[i] = 2 * math.Pi * float64(index[i]) / float64(axis.Points)
			}
			t := phase[0] / (2 * math.Pi)
			v, shift := 1+float64(c+1)*0.1*math.Sin(2*t+float64(c))+0.05*t*t, 1+float64(c)
			for i := 1; i < len(index); i++ {
				v += 0.1 * math.Sin(phase[i]+shift+t) * (1 + 0.5*math.Cos(phase[1]*2+3*t*shift))
				v += 0.07 * math.Cos(2*phase[i]-shift*t)
			}
			part[q] = v
		}
	}
	return field
}

// meanOrder is the order of the derivative in time of an unknown whose mean, by a weight (nil: alike), is all that a mean of a residual depends on: 1, or 2 where
// there is none of first order beside it; 0 where there is no such residual. Residuals are tried as they are, and over what multiplies a term.
func (s *System) meanOrder(unknown int, inputs []float64) (order int, weight *expr.Expr) {
	p, u, width := s.Problem, s.waves(), s.SliceSize()
	for i, set := range s.Residuals() {
		if v, ok := p.Residuals[i].Weight.Constant(); !ok || v == 0 {
			continue
		}
		rows := s.NewRowValues(set, set.Points)
		values := rows.Eval(0, u, inputs)[0]
		first, second := -1, -1 // terms that are derivatives in time of the unknown
		divisors := []*expr.Expr{expr.Const(1)}
		for j, t := range set.Terms {
			term, ok := s.Term(t)
			if !ok {
				continue
			}
			if d := p.Residuals[i].Expr.Diff(term.Name); p.inSpace(d) {
				divisors = append(divisors, d)
			}
			if term.Of != unknown {
				continue
			}
			switch order, edge := term.inTime(p.Axes[0].Name); {
			case edge || order == 0 || term.inSpace(p.Axes[0].Name) > 0:
			case order == 1:
				first = j
			case order == 2:
				second = j
			}
		}
		if first < 0 && second < 0 || first >= 0 && second >= 0 {
			continue
		}
		order, time := 1, max(first, second)
		if second >= 0 {
			order = 2
		}
		factor := p.Residuals[i].Expr.Diff(s.Terms[set.Terms[time]].Name)
		if _, constant := factor.Constant(); !constant && !p.inSpace(factor) {
			continue
		}
		for _, divisor := range divisors {
			w := factor.Over(divisor)
			by, err := s.weights(w)
			if err != nil { // of the other sign
				w = expr.Const(-1).Times(w)
				if by, err = s.weights(w); err != nil {
					continue
				}
			}
			x, y := slices.Clone(values), slices.Clone(rows.Terms.Values[time])
			for r, q := range set.Points {
				at := s.place(int(q) % width)
				x[r] /= divisor.Value(at)
				y[r] *= by[int(q)%width]
			}
			if sameMeans(x, y, set.Points, width) {
				if _, constant := w.Constant(); constant {
					w = nil
				}
				return order, w
			}
		}
	}
	return 0, nil
}

// inSpace reports whether an expression varies, with axes of space alone.
func (p *Problem) inSpace(e *expr.Expr) bool {
	names := e.Variables()
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return p.Axis(name) < 1 })
}

// sameMeans reports whether the means of x over the slices of a grid are those of y times one number that is not zero.
func sameMeans(x, y []float64, points []int32, width int) bool {
	sums := map[int][2]float64{}
	size := 0.0
	for r, q := range points {
		at := int(q) / width
		sum := sums[at]
		sums[at] = [2]float64{sum[0] + x[r], sum[1] + y[r]}
		size += math.Abs(x[r])
	}
	xy, yy := 0.0, 0.0
	for _, sum := range sums {
		xy, yy = xy+sum[0]*sum[1], yy+sum[1]*sum[1]
	}
	factor := xy / yy
	if len(sums) < 3 || !(math.Abs(factor)*math.Sqrt(yy) > 1e-6*size/float64(len(sums))) {
		return false
	}
	for _, sum := range sums {
		if !(math.Abs(sum[0]-factor*sum[1]) <= meanRounding*size/float64(len(sums))) {
			return false
		}
	}
	return true
}

// offsetKeeps reports whether the ansatz of an unknown begins with its offset, of second order with its rate too, and the offset's mean over space has no
// derivative in time of the order.
func (s *System) offsetKeeps(unknown, order int, weight *expr.Expr, inputs []float64) bool {
	size, width := s.Grid.Size(), s.SliceSize()
	a, time := &s.Problem.Unknowns[unknown].Ansatz, s.Problem.Axes[0]
	begin := map[string]*expr.Expr{time.Name: expr.Const(s.Grid.Axes[0].Coordinate(0))}
	for m, i := a.Multiplier, 0; i < order && !a.Duhamel; m, i = m.Diff(time.Name), i+1 {
		if v, ok := m.Substitute(begin).Constant(); !ok || v != 0 {
			return false
		}
	}
	if weight != nil && a.Duhamel {
		return true // KeepMean
	}
	field := make([]float64, s.FieldSize())
	s.Offset(field, inputs)
	if weight == nil {
		weight = expr.Const(1)
	}
	by, err := s.weights(weight)
	if err != nil {
		return false
	}
	var means []float64
	for lo := unknown * size; lo < (unknown+1)*size; lo += width {
		means = append(means, kernel.Dot(by, field[lo:lo+width]))
	}
	step := 0.0
	if order == 2 {
		step = means[1] - means[0]
	}
	for i, m := range means {
		if !(math.Abs(m-means[0]-float64(i)*step) <= meanRounding*(1+math.Abs(means[0]))) {
			return false
		}
	}
	return true
}

// RemovesMean reports whether the ansatz of an unknown removes the mean over slices along the first axis, without weights.
func (s *System) RemovesMean(unknown int) bool {
	return s.Problem.Unknowns[unknown].Ansatz.RemoveMean && s.meanWeights[unknown] == nil
}

// HoldMeans subtracts from every slice of a field (C, P) what changes the mean that the ansatz removes: the least change that leaves it zero.
func (s *System) HoldMeans(field []float64) {
	width := s.SliceSize()
	for lo := 0; lo < len(field); lo += width {
		slice, unknown := field[lo:lo+width], lo/s.Grid.Size()
		if w := s.MeanWeights(unknown); w != nil {
			kernel.Axpy64(slice, -kernel.Dot(w, slice)/kernel.SumSquares64(w), w)
		} else if s.RemovesMean(unknown) {
			RemoveMean(slice)
		}
	}
}

// MeanWeights are those of the mean over a slice that the ansatz of an unknown removes, of sum 1; nil where all points weigh alike.
func (s *System) MeanWeights(unknown int) []float64 { return s.meanWeights[unknown] }

// WeighsMeans reports whether a mean that the ansatz removes has weights.
func (s *System) WeighsMeans() bool {
	return slices.ContainsFunc(s.meanWeights, func(w []float64) bool { return w != nil })
}

// weights are the values of an expression on a slice, over their sum; nil of none.
func (s *System) weights(e *expr.Expr) ([]float64, error) {
	if e == nil {
		return nil, nil
	}
	w, sum := make([]float64, s.SliceSize()), 0.0
	for q := range w {
		at := s.place(q)
		if w[q] = e.Value(at); !(w[q] > 0) || math.IsInf(w[q], 0) {
			var place []string
			for _, axis := range s.Grid.Axes[1:] {
				place = append(place, fmt.Sprintf("%s = %g", axis.Name, at[axis.Name]))
			}
			return nil, fmt.Errorf("%g at %s: want a positive number", w[q], strings.Join(place, ", "))
		}
		sum += w[q]
	}
	for q := range w {
		w[q] /= sum
	}
	return w, nil
}

// place is the point of a slice by the names of the axes of space.
func (s *System) place(point int) map[string]float64 {
	at := map[string]float64{}
	for i, axis := range s.Grid.Axes[1:] {
		at[axis.Name] = s.coordinates[i][point]
	}
	return at
}

// KeepMean shifts a slice of an unknown to the weighted mean of what it begins with, begin (its values in time, SliceSize): its value, and of second order its
// rate times the time since the first. Without weights it leaves the slice, whose mean the linear part keeps.
func (s *System) KeepMean(slice, begin []float64, unknown, time int) {
	w, n := s.meanWeights[unknown], s.SliceSize()
	if w == nil {
		return
	}
	axis, shift, power := s.All().Grid.Axes[0], -kernel.Dot(w, slice), 1.0
	for i := range len(begin) / n {
		shift += power * kernel.Dot(w, begin[i*n:(i+1)*n])
		power *= axis.Coordinate(time) - axis.Lo
	}
	kernel.AddScalar64(slice, slice, shift)
}

// RemoveMean subtracts the mean of a slice from it.
func RemoveMean(slice []float64) {
	mean := 0.0
	for _, v := range slice {
		mean += v
	}
	kernel.AddScalar64(slice, slice, -mean/float64(len(slice)))
}
