package xla

import (
	"testing"

	"pihc/internal/check"
	"pihc/pde"
)

// Every term and its transpose, and every set of rows with its derivatives, are those of
// packages grid and pde.
func TestTerms(t *testing.T) {
	for _, x := range []struct {
		problem string
		points  map[string]int
	}{
		{"diffusion-sorption", map[string]int{"t": 9, "x": 24}},
		{"diffusion-sorption-published", map[string]int{"t": 9, "x": 24}},
		{"navier-stokes", map[string]int{"t": 5, "x": 6, "y": 7}},
	} {
		t.Run(x.problem, func(t *testing.T) {
			p, err := pde.Open(x.problem)
			if err != nil {
				t.Fatal(err)
			}
			g, err := p.Grid(x.points)
			if err != nil {
				t.Fatal(err)
			}
			s, err := p.Discretize(g)
			if err != nil {
				t.Fatal(err)
			}
			rng := check.Rand(1)
			size := g.Size()
			u, u0 := check.Normal(rng, make([]float64, size)), check.Normal(rng, make([]float64, s.InputSize()))
			for i := range u {
				u[i] = 1 + 0.1*u[i]
			}
			var want [][]float64
			out := computed(t, [][]float64{u, u0}, [][]int{{size, 1}, {len(u0)}}, func(b *builder, in []value) []value {
				terms := newTerms(b, s)
				var out []value
				for j, op := range s.Terms {
					back := make([]float64, size)
					op.ApplyTranspose(back, u)
					want, out = append(want, back), append(out, terms.pullBack(j, in[0]))
				}
				for _, set := range s.Sets {
					rows, e := s.NewPointRows(set, set.Points), s.NewRowEvaluator(len(set.Points))
					rows.Prepare()
					rows.SetInputs(u0)
					points := b.integers(set.Points, len(set.Points))
					whole := terms.wholes(in[0])
					var z [][]float64
					var zs, constants []value
					for _, j := range set.Terms {
						all, some := make([]float64, size), make([]float64, len(set.Points))
						s.Terms[j].Apply(all, u)
						for r, p := range set.Points {
							some[r] = all[p]
						}
						z = append(z, some)
						zs = append(zs, b.reshape(terms.rowsOf(j, in[0], whole[j], points), len(set.Points)))
						constants = append(constants, terms.offset(j, points))
					}
					for _, v := range e.Eval(rows, 2, z, 0, len(set.Points)) {
						want = append(want, append([]float64(nil), v...))
					}
					out = append(out, terms.evaluate(set, zs, constants, terms.extras(set, points, in[1]))...)
				}
				return out
			})
			for i := range out {
				check.Close(t, out[i], want[i], 1e-11, 1e-10)
			}
		})
	}
}
