package inverse

import (
	"errors"
	"math"
	"slices"
	"sync"

	"pihc/internal/discrete"
	"pihc/internal/kernel"
)

// evaluate sets the fields, residuals and cost of unknowns x, and with slopes the derivatives, which are else left as they were.
func (s *fieldState) evaluate(x []float64, slopes bool) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	u, first, err := s.begin(x, slopes)
	if err != nil {
		return err
	}
	s.fields, s.after = make([][]float64, len(s.times)), make([][]float64, len(s.times))
	if slopes {
		s.slopes, s.afterSlopes = make([][]float64, len(s.times)), make([][]float64, len(s.times))
	}
	if s.ModelError > 0 {
		err = s.together(x, u, first)
	} else {
		err = s.along(u, first)
	}
	if err != nil {
		return err
	}
	z := x[:len(s.background.Functions)]
	s.cost = norm2(z) / 2
	s.residual = s.residual[:0]
	for i, o := range s.Observations {
		p := s.points[i]
		r := (kernel.Dot(p.w, s.fields[p.instant][p.first:][:len(p.w)]) - o.Value) / o.Sigma
		s.residual = append(s.residual, r)
		s.cost += r * r / 2
	}
	s.cost += s.modelCost() / 2
	if math.IsNaN(s.cost) {
		return discrete.ErrNotConverged
	}
	return nil
}

// along marches from the first fields, with their derivatives by z.
func (s *fieldState) along(u []float64, du [][]float64) error {
	for k := range s.times {
		if k > 0 {
			if err := s.stepper.Step(u, du, s.times[k-1], s.times[k]-s.times[k-1]); err != nil {
				return err
			}
		}
		if s.fields[k] = slices.Clone(u); len(du) > 0 {
			s.slopes[k] = slices.Concat(du...)
		}
	}
	return nil
}

// together takes the first fields, and those after every error of the model, to the next.
func (s *fieldState) together(x, u []float64, du [][]float64) error {
	const workers = 2
	failed := make([]error, workers)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			stepper := s.stepper
			if worker > 0 {
				stepper, failed[worker] = s.solver.NewStepper(s.sample, -1, s.directions)
			}
			for k := worker; k < len(s.times) && failed[worker] == nil; k += workers {
				if k == 0 {
					failed[worker] = s.segment(stepper, k, slices.Clone(u), du)
					continue
				}
				var units [][]float64
				if du != nil {
					for i := range s.size {
						units = append(units, make([]float64, s.size))
						units[i][i] = 1
					}
				}
				failed[worker] = s.segment(stepper, k, slices.Clone(s.later(x, k)), units)
			}
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

// segment takes fields u with derivatives du to instant k, and on to where the model errs next.
func (s *fieldState) segment(stepper *discrete.Stepper, k int, u []float64, du [][]float64) error {
	if k > 0 {
		if err := stepper.Step(u, du, s.errs(k), s.times[k]-s.errs(k)); err != nil {
			return err
		}
	}
	if s.fields[k] = slices.Clone(u); len(du) > 0 {
		s.slopes[k] = slices.Concat(du...)
	}
	if k < len(s.times)-1 {
		if err := stepper.Step(u, du, s.times[k], s.errs(k+1)-s.times[k]); err != nil {
			return err
		}
		if s.after[k] = u; len(du) > 0 {
			s.afterSlopes[k] = slices.Concat(du...)
		}
	}
	return nil
}

// errs is when the model errs between an instant and the one before: half way, so that no noise is seen that was not smoothed.
func (s *fieldState) errs(k int) float64 { return (s.times[k-1] + s.times[k]) / 2 }

// modelCost is the sum of squares of the model's errors.
func (s *fieldState) modelCost() (sum float64) {
	if s.ModelError == 0 {
		return 0
	}
	for k := range len(s.times) - 1 {
		weight := s.weight(k)
		for i, v := range s.later(s.x, k+1) {
			r := v - s.after[k][i]
			sum += r * r * weight
		}
	}
	return sum
}

// weight is one over the variance of a value of the model's error between instants k and k+1.
func (s *fieldState) weight(k int) float64 {
	return s.grid.Axes[1].Step() / (s.ModelError * s.ModelError * (s.times[k+1] - s.times[k]))
}

// normal sets the matrix of normal equations, scaled to a unit diagonal, and returns the scaled gradient.
func (s *fieldState) normal() (g []float64) {
	n, functions := s.count(), len(s.background.Functions)
	if s.matrix == nil {
		distance := functions - 1
		if s.ModelError > 0 {
			distance = max(functions+s.size, 2*s.size) - 1
		}
		s.matrix, s.scale = discrete.NewBanded(n, distance), make([]float64, n)
	}
	s.matrix.Clear()
	g = make([]float64, n)
	add := func(i, j int, v float64) {
		row, first := s.matrix.Row(i)
		row[j-first] += v
	}
	for k, z := range s.x[:functions] {
		add(k, k, 1)
		g[k] = z
	}
	for i, r := range s.residual {
		row, at := s.observed(i)
		for a, v := range row {
			g[at+a] += v * r
			to, first := s.matrix.Row(at + a)
			kernel.Axpy64(to[at-first:][:a+1], v, row[:a+1])
		}
	}
	if s.ModelError > 0 {
		s.addModel(g)
	}
	for i := range n {
		row, _ := s.matrix.Row(i)
		s.scale[i] = 1 / math.Sqrt(row[len(row)-1])
	}
	for i := range n {
		row, first := s.matrix.Row(i)
		for j := range row {
			row[j] *= s.scale[i] * s.scale[first+j]
		}
		g[i] *= s.scale[i]
	}
	return g
}

// observed is the derivative of observation i, in its deviations, by the unknowns from a place on.
func (s *fieldState) observed(i int) (row []float64, at int) {
	p, before := s.points[i], len(s.background.Functions)
	if s.ModelError > 0 && p.instant > 0 {
		at, before = before+(p.instant-1)*s.size, s.size
	}
	for k := range before {
		row = append(row, kernel.Dot(p.w, s.slopes[p.instant][k*s.size+p.first:][:len(p.w)])/s.Observations[i].Sigma)
	}
	return row, at
}

// addModel adds the model's errors to the matrix and the gradient.
func (s *fieldState) addModel(g []float64) {
	n, r := s.size, make([]float64, s.size)
	own, before := 0, len(s.background.Functions) // where the unknowns before an error are, and how many
	for k := range len(s.times) - 1 {
		next, weight := own+before, s.weight(k)
		for i, v := range s.later(s.x, k+1) {
			r[i] = (v - s.after[k][i]) * weight
			g[next+i] += r[i]
			row, first := s.matrix.Row(next + i)
			row[next+i-first] += weight
		}
		a := s.afterSlopes[k]
		for j := range before {
			column := a[j*n:][:n]
			g[own+j] -= kernel.Dot(column, r)
			for i, v := range column {
				row, first := s.matrix.Row(next + i)
				row[own+j-first] -= v * weight
			}
			row, first := s.matrix.Row(own + j)
			for l := range j + 1 {
				row[own+l-first] += weight * kernel.Dot(column, a[l*n:][:n])
			}
		}
		own, before = next, n
	}
}

// minimise moves the unknowns to the least sum, by the steps of Levenberg and Marquardt. The factored matrix is then that of the least, or of a
// point as near as matters.
func (s *fieldState) minimise() (steps int, ended bool, err error) {
	const enough = 1e-5 // a step in deviations, squared: what Newton's method leaves of it is far less
	damping, kept := 0.0, slices.Clone(s.x)
	for steps < mostFieldSteps {
		steps++
		g := s.normal()
		cost := s.cost
		for {
			if err := s.ctx.Err(); err != nil {
				return steps, false, err
			}
			step := slices.Clone(g)
			if !s.matrix.Factor(damping) {
				return steps, false, discrete.ErrNotConverged
			}
			s.matrix.Solve(step)
			falls := kernel.Dot(step, g)
			for i, v := range step {
				s.x[i] = kept[i] - v*s.scale[i]
			}
			err := s.evaluate(s.x, false)
			if err == nil && s.cost <= cost+1e-9*math.Abs(cost) {
				if falls <= enough && damping == 0 {
					return steps, true, nil
				}
				copy(kept, s.x)
				if damping /= 10; damping < 1e-7 {
					damping = 0
				}
				break
			}
			if falls <= enough && damping <= 1e-3 { // rounding, and not a step that damping makes short
				copy(s.x, kept)
				return steps, true, s.end()
			}
			if damping = max(10*damping, 1e-3); damping > 1e8 {
				copy(s.x, kept)
				return steps, false, s.end()
			}
			copy(s.x, kept)
			if err := s.evaluate(s.x, false); err != nil { // the derivatives are still those of here
				return steps, false, err
			}
			g = s.normal()
		}
		if err := s.evaluate(s.x, true); err != nil {
			return steps, false, err
		}
	}
	return steps, false, s.end()
}

// end leaves the factored matrix of where the unknowns and the derivatives are.
func (s *fieldState) end() error {
	if err := s.evaluate(s.x, false); err != nil {
		return err
	}
	s.normal()
	if !s.matrix.Factor(0) {
		return discrete.ErrNotConverged
	}
	return nil
}
