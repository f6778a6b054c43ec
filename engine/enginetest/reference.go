package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pihc/constraint"
	"pihc/engine"
	"pihc/grid"
	"pihc/internal/check"
	"pihc/model"
	"pihc/pde"
)

// rows evaluates a set of rows plainly: every term on the whole grid, one row after
// the other.
func (s *setup) rows(set *pde.RowSet, u, initial []float64) []float64 {
	g := s.system.Grid
	var terms [][]float64
	for _, t := range set.Terms {
		z := make([]float64, g.Size())
		s.system.Terms[t].Apply(z, u[s.system.Terms[t].Of*g.Size():][:g.Size()])
		terms = append(terms, z)
	}
	evaluate := set.Program(0).Evaluator()
	strides := g.Strides()
	out := make([]float64, len(set.Points))
	for r, p := range set.Points {
		var in [][]float64
		for j, t := range set.Terms {
			z := []float64{terms[j][p]}
			s.system.Terms[t].AddOffset(z, []int32{p})
			in = append(in, z)
		}
		for _, x := range set.Extras {
			v := 0.0
			if x.Axis < 0 {
				v = s.input(x, int(p), initial)
			} else {
				axis := g.Axes[x.Axis]
				if v = axis.Coordinate(int(p) / strides[x.Axis] % axis.Points); x.Shift != 0 { // of a flux
					if v += float64(x.Shift) * axis.Step(); axis.Boundary == grid.Periodic && !(v >= axis.Lo && v < axis.Hi-axis.Step()/2) {
						v -= float64(x.Shift) * (axis.Hi - axis.Lo)
					}
				}
			}
			in = append(in, []float64{v})
		}
		evaluate(1, [][]float64{out[r : r+1]}, in)
	}
	return out
}

// input is what a row at a point reads of an input, found from the names of its axes.
func (s *setup) input(x pde.Extra, p int, sample []float64) float64 {
	g := s.system.Grid
	index := map[string]int{}
	for a, axis := range g.Axes {
		i := p / g.Strides()[a] % axis.Points
		if x.Shift != 0 && a == x.Along {
			i = (i + x.Shift + axis.Points) % axis.Points
		}
		index[axis.Name] = i
	}
	at := 0
	for k, in := range s.problem.Inputs {
		size, own := 1, 0
		for _, axis := range g.Axes {
			if slices.Contains(in.Axes, axis.Name) {
				own = own*axis.Points + index[axis.Name]
				size *= axis.Points
			}
		}
		if k == x.Input {
			return sample[at+own]
		}
		at += size
	}
	panic("enginetest: a row reads an input that the problem has not")
}

// loss is the loss of a field without its border terms, and the mean square of every
// set of rows. Rows of residuals that cross a border count by their factor.
func (s *setup) loss(spec *model.Spec, u, initial []float64, crossing [][]bool, factor float64) (loss float64, squares []float64) {
	for k, set := range s.system.Sets {
		weight, ok := spec.Loss.Weights[set.Name]
		if !ok {
			weight = 1
		}
		var plain, weighed float64
		for i, r := range s.rows(set, u, initial) {
			plain += r * r
			if set.Kind == pde.ResidualRows && crossing != nil && crossing[k][i] {
				r *= factor
			}
			weighed += r * r
		}
		n := float64(len(set.Points))
		squares = append(squares, plain/n)
		if spec.Loss.Form == "norm" {
			loss += weight * math.Sqrt(weighed)
		} else {
			loss += weight * weighed / n
		}
	}
	return loss, squares
}

// distance is the mean over unknowns of the square of the relative distance to a solution.
func (s *setup) distance(u, truth []float64) float64 {
	mean, unknowns := 0.0, len(s.problem.Unknowns)
	n := len(u) / unknowns
	for c := range unknowns {
		mean += math.Pow(check.RelativeL2(u[c*n:(c+1)*n], truth[c*n:(c+1)*n]), 2) / float64(unknowns)
	}
	return mean
}

// crossing tells which rows of the residuals change when a field changes in other
// subdomains than their own.
func (s *setup) crossing(router constraint.Router, initial []float64) (all [][]bool, err error) {
	g := s.system.Grid
	division, err := router.Divide(g)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(3, 4))
	base := make([]float64, s.system.FieldSize())
	for i := range base {
		base[i] = 1 + rng.Float64()
	}
	for _, set := range s.system.Sets {
		if set.Kind != pde.ResidualRows {
			continue
		}
		want := s.rows(set, base, initial)
		crossing := make([]bool, len(set.Points))
		for k := range router.Experts() {
			inside := map[int32]bool{}
			for _, p := range division.Points(k) {
				inside[p] = true
			}
			changed := make([]float64, len(base))
			for i := range changed {
				changed[i] = base[i]
				if !inside[int32(i%g.Size())] {
					changed[i] += 1 + rng.Float64()
				}
			}
			for i, r := range s.rows(set, changed, initial) {
				if inside[set.Points[i]] && r != want[i] {
					crossing[i] = true
				}
			}
		}
		all = append(all, crossing)
	}
	return all, nil
}

// checkLoss compares the loss and the mean squares of every prediction with rows
// evaluated plainly, and the loss of the batch with those of its predictions.
func checkLoss(s *setup, e engine.Engine[float64], spec *model.Spec) error {
	info, w := e.Info(), params(e)
	all, err := predict(e, w, s.batch)
	if err != nil {
		return err
	}
	var crossing [][]bool
	factor := spec.Loss.BorderRows.At(1)
	if factor != 1 && info.Experts > 1 {
		if crossing, err = s.crossing(info.Router, s.batch.Inputs[0]); err != nil {
			return err
		}
	}
	squares := make([]float64, len(info.Rows))
	var loss, jump float64
	for i, p := range all {
		initial := s.batch.Inputs[i]
		want, mean := s.loss(spec, p.Field, initial, crossing, factor)
		for j, v := range mean {
			if err := near(fmt.Sprintf("sample %d: mean square of %s", i, info.Rows[j].Name), p.MeanSquares[j], v, 1e-9); err != nil {
				return err
			}
			squares[j] += v / samples
		}
		if spec.Loss.BorderSlope == 0 || info.Experts < 2 {
			if err := near(fmt.Sprintf("sample %d: loss", i), p.Loss, want+spec.Loss.BorderJump*p.JumpRMS*p.JumpRMS, 1e-9); err != nil {
				return err
			}
		}
		base := 1.0
		if spec.Loss.Relative {
			still := make([]float64, len(p.Field))
			width := s.system.Grid.Size() / s.system.Grid.Axes[0].Points
			for j := range still {
				if !s.problem.Steady {
					still[j] = initial[j/s.system.Grid.Size()*width+j%width]
				}
			}
			base, _ = s.loss(spec, still, initial, nil, 1)
		}
		loss += p.Loss / base / samples
		if s.batch.Truth != nil {
			loss += spec.Loss.Data * s.distance(p.Field, s.batch.Truth[i]) / samples
		}
		jump += p.JumpRMS * p.JumpRMS / samples
	}
	end := s.batch
	end.Progress = 1
	got, err := evaluate(e, w, end)
	if err != nil {
		return err
	}
	for j, v := range squares {
		if err := near("mean square of "+info.Rows[j].Name, got.stats.MeanSquares[j], v, 1e-9); err != nil {
			return err
		}
	}
	if err := near("mean square jump", got.stats.JumpSquare, jump, 1e-9); err != nil {
		return err
	}
	return near("loss", got.stats.Loss, loss, 1e-9)
}
