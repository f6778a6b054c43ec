package discrete

import (
	"fmt"
	"math"
	"slices"

	"pihc/internal/kernel"
	"pihc/pde"
)

// leastTorn is the part of a field's size by which it misses a value at a wall where the solution is said to jump.
const leastTorn = 0.05

// torn says that initial conditions miss the value that a wall prescribes of an unknown of second order in time: nothing smooths that jump, and
// solutions carry it on, so that errors fall slowly with the grid. It is empty where they do not, or nothing is prescribed.
func torn(s *system, initial [][]float64) string {
	p := s.sys.Problem
	if !Marches(p) {
		return ""
	}
	orders := TimeOrders(p)
	field := make([]float64, s.sys.FieldSize())
	for _, set := range s.sys.Sets {
		i := slices.IndexFunc(p.Conditions, func(c pde.Rows) bool { return c.Name == set.Name })
		if i < 0 || p.Conditions[i].At[p.Axes[0].Name] != "" {
			continue
		}
		for c, u := range p.Unknowns {
			slope, constant := p.Conditions[i].Expr.Diff(u.Name).Constant()
			if orders[c] != 2 || !constant || slope == 0 || len(set.Terms) != 1 {
				continue
			}
			time := int(set.Points[0]) / s.sys.SliceSize() // the first that the condition holds at
			first := slices.DeleteFunc(slices.Clone(set.Points), func(q int32) bool { return int(q)/s.sys.SliceSize() > time })
			rows, most := s.sys.NewRowValues(set, first), 0.0
			for _, sample := range initial {
				p.Persist(field, sample, s.sys.Grid)
				own := field[c*s.sys.Grid.Size():][:s.sys.Grid.Size()]
				if size := rms(own); size > 0 {
					out := rows.Eval(1, field, sample)
					most = max(most, rms(out[0])/rms(out[1])/size)
				}
			}
			if most > leastTorn {
				return fmt.Sprintf("initial conditions of %s miss %s at the first %s, by up to %.2g of their size: solutions jump there, and waves carry the jump on, which no grid holds", u.Name, set.Name, p.Axes[0].Name, most)
			}
		}
	}
	return ""
}

func rms(x []float64) float64 { return math.Sqrt(kernel.SumSquares64(x) / float64(len(x))) }
