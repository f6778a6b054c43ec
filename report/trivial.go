package report

import (
	"fmt"
	"math"
	"slices"

	"pihc/grid"
	"pihc/pde"
)

// A Trivial prediction needs no training: "zero", "persistence" (the initial condition
// at all times) or "mean" (of the solutions scored on, the same for every sample).
type Trivial struct {
	Name       string   `json:"name"`
	RelativeL2 *Summary `json:"relative_l2,omitempty"` // nil without solutions
	Loss       Summary  `json:"loss"`                  // whole: conditions included, border terms not; NaN where it means nothing
}

// Trivials scores the trivial predictions of a problem on a grid; loss is that of a field
// for the inputs of a sample. Without solutions there is no mean, without time no
// persistence.
func Trivials(s Samples, p *pde.Problem, g *grid.Grid, loss func(field, initial []float64) float64) ([]Trivial, error) {
	size := len(p.Unknowns) * g.Size()
	zero, held, mean := make([]float64, size), make([]float64, size), make([]float64, size)
	losses, errors := map[string][]float64{}, map[string][]float64{}
	score := func(name string, field []float64, i int, truth []float64) {
		losses[name] = append(losses[name], loss(field, s.Initial[i]))
		if truth != nil {
			e, _ := s.relativeL2(field, truth)
			errors[name] = append(errors[name], e)
		}
	}
	truthOf := func(i int) ([]float64, error) {
		if s.Truth == nil {
			return nil, nil
		}
		return s.Truth(i)
	}
	for i, u0 := range s.Initial {
		truth, err := truthOf(i)
		if err != nil {
			return nil, err
		}
		score("zero", zero, i, truth)
		if !p.Steady {
			p.Hold(held, u0, g.Size()/g.Axes[0].Points)
			score("persistence", held, i, truth)
		}
		for p, v := range truth {
			mean[p] += v / float64(len(s.Initial))
		}
	}
	names := []string{"zero"}
	if !p.Steady {
		names = append(names, "persistence")
	}
	if s.Truth != nil {
		names = append(names, "mean")
		for i := range s.Initial {
			truth, err := truthOf(i)
			if err != nil {
				return nil, err
			}
			score("mean", mean, i, truth)
		}
	}
	var out []Trivial
	for _, name := range names {
		t := Trivial{Name: name, Loss: Summarize(losses[name])}
		if s.Truth != nil {
			e := Summarize(errors[name])
			t.RelativeL2 = &e
		}
		out = append(out, t)
	}
	return out, nil
}

// Unbeaten says in one line which trivial prediction a method is not better than, by
// the mean error against solutions or, without them or besides, the mean loss; "" if
// it is better than all.
func (e *Evaluation) Unbeaten() string {
	better := func(a, b float64) bool { return a < b || math.IsNaN(b) }
	byError := func(a, b Trivial) int { return cmpNumber(a.RelativeL2.Mean, b.RelativeL2.Mean) }
	byLoss := func(a, b Trivial) int { return cmpNumber(a.Loss.Mean, b.Loss.Mean) }
	if len(e.Trivial) == 0 || e.Loss == nil {
		return ""
	}
	if e.RelativeL2 != nil && e.Trivial[0].RelativeL2 != nil {
		if best := slices.MinFunc(e.Trivial, byError); !better(e.RelativeL2.Mean, best.RelativeL2.Mean) {
			return fmt.Sprintf("this run does not beat %s: relative_l2 %s against %s", best.Name, Percent(e.RelativeL2.Mean), Percent(best.RelativeL2.Mean))
		}
	}
	if best := slices.MinFunc(e.Trivial, byLoss); !better(e.Loss.Mean, best.Loss.Mean) {
		return fmt.Sprintf("this run does not beat %s: loss %s against %s", best.Name, Number(e.Loss.Mean), Number(best.Loss.Mean))
	}
	return ""
}

// cmpNumber orders numbers with NaN last.
func cmpNumber(a, b float64) int {
	switch {
	case a < b || math.IsNaN(b) && !math.IsNaN(a):
		return -1
	case a > b || math.IsNaN(a) && !math.IsNaN(b):
		return 1
	}
	return 0
}
