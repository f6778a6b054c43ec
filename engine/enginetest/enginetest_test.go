package enginetest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pihc/engine"
	"pihc/internal/check"
	"pihc/model"
	"pihc/pde"
)

func TestCPU(t *testing.T) {
	if check.Regenerating() {
		all := map[string]golden{}
		for i := range cases {
			s, err := cases[i].open(cpu)
			if err != nil {
				t.Fatal(err)
			}
			if all[s.name], err = s.measure(); err != nil {
				t.Fatal(err)
			}
		}
		text, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		stored = append(text, '\n')
		if err := os.WriteFile("testdata/golden.json", stored, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	Run(t, cpu)
}

// wrong is an engine with a fault in the gradient.
type wrong struct {
	running
	wrong lossAndGrad
}

func (w wrong) LossAndGrad(grad, params []float64, b engine.Batch) (engine.Stats, error) {
	return w.wrong(grad, params, b)
}

type (
	running     = engine.Engine[float64]
	lossAndGrad = func(grad, params []float64, b engine.Batch) (engine.Stats, error)
)

// fault makes the loss and gradient of an engine wrong. more makes engines of the
// same case with overrides of their spec.
type fault func(e running, more func(override string) running, o engine.Options) lossAndGrad

// The suite finds what is wrong with an engine that is wrong in one way.
func TestFaultsAreFound(t *testing.T) {
	for _, f := range []struct {
		name, in, by string // the case and the check that must fail
		fault        fault
	}{
		{"no gradient", "soft", "gradient", func(e running, _ func(string) running, _ engine.Options) lossAndGrad {
			return func(grad, params []float64, b engine.Batch) (engine.Stats, error) {
				return e.LossAndGrad(make([]float64, len(grad)), params, b)
			}
		}},
		{"border factor once in the gradient", "borders", "gradient", another("loss.border_rows={start: SQRT0.05, end: SQRT0.4, from: 0.1, to: 0.9}")},
		{"border factor not in the gradient", "borders", "gradient", another("loss.border_rows={start: 1, end: 1}")},
		{"overlap not in the gradient", "borders", "gradient", another("constraint.overlap={start: 0, end: 0}")},
		{"absolute gradient of a relative loss", "features hard", "gradient", another("loss.relative=false")},
		{"jump not in the gradient", "moe", "gradient", another("loss.border_jump=0")},
		{"slope not in the gradient", "features moe", "gradient", another("loss.border_slope=0")},
		{"gradient of the mean square for the norm", "norm soft", "gradient", another("loss.form=mean-square")},
		{"gradient that leaves the solve out", "hard", "gradient", another("constraint.adjoint=paper")},
		{"gradient of tied components", "separate pair hard", "gradient", another("constraint.components=tied")},
		{"gradient of unknowns of one size", "pair soft", "gradient", another("network.scales={v: 1}")},
		{"unknowns about zero", "centred pair soft", "golden", another("network.centers={}")},
		{"always the last pass", "passes soft", "passes", before(func(b *engine.Batch) { b.Pass = 0 })},
		{"given fields ignored", "passes soft", "gradient", before(func(b *engine.Batch) { b.Previous = nil })},
		{"means over the part alone", "hard", "sums", before(func(b *engine.Batch) { b.Total = 0 })},
		{"progress ignored", "borders", "ramps", before(func(b *engine.Batch) { b.Progress = 0 })},
		{"samples in another order", "soft", "sums", before(func(b *engine.Batch) {
			b.Inputs, b.Seeds = slices.Clone(b.Inputs), slices.Clone(b.Seeds)
			slices.Reverse(b.Inputs)
			slices.Reverse(b.Seeds)
		})},
		{"gradient set, not added", "soft", "repetition", func(e running, _ func(string) running, _ engine.Options) lossAndGrad {
			return func(grad, params []float64, b engine.Batch) (engine.Stats, error) {
				clear(grad)
				return e.LossAndGrad(grad, params, b)
			}
		}},
		{"mean squares without their weight", "borders", "loss", after(func(s *engine.Stats, _ []float64, _ engine.Options) { s.MeanSquares[0] *= 0.16 })},
		{"root of the jump", "moe", "loss", after(func(s *engine.Stats, _ []float64, _ engine.Options) { s.JumpSquare = math.Sqrt(s.JumpSquare) })},
		{"bits that depend on the workers", "hard", "workers", after(func(_ *engine.Stats, grad []float64, o engine.Options) {
			grad[0] *= 1 + 0x1p-52*float64(o.Workers-1)
		})},
		{"everything a little off", "hard", "golden", after(func(_ *engine.Stats, grad []float64, _ engine.Options) {
			for i := range grad {
				grad[i] *= 1 + 5e-7
			}
		})},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			k := &cases[slices.IndexFunc(cases, func(k testCase) bool { return k.name == f.in })]
			c := cpu
			c.Float64 = func(s *model.Spec, p *pde.Problem, o engine.Options) (engine.Engine[float64], error) {
				e, err := cpu.Float64(s, p, o)
				if err != nil {
					return nil, err
				}
				more := func(override string) running {
					spec, err := (&setup{testCase: k}).load(64, override)
					if err != nil {
						t.Fatal(err)
					}
					other, err := cpu.Float64(spec, p, o)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(other.Close)
					return other
				}
				return wrong{e, f.fault(e, more, o)}, nil
			}
			s, err := k.open(c)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range checks {
				if x.name == f.by && x.run(s) == nil {
					t.Errorf("%s passes", x.name)
				}
			}
		})
	}
}

// another takes the gradient from an engine with another spec.
func another(override string) fault {
	for _, v := range []float64{0.05, 0.4} {
		override = strings.ReplaceAll(override, fmt.Sprint("SQRT", v), fmt.Sprint(math.Sqrt(v)))
	}
	return func(e running, more func(string) running, _ engine.Options) lossAndGrad {
		other := more(override)
		return func(grad, params []float64, b engine.Batch) (engine.Stats, error) {
			if _, err := other.LossAndGrad(grad, params, b); err != nil {
				return engine.Stats{}, err
			}
			return e.LossAndGrad(make([]float64, len(grad)), params, b)
		}
	}
}

// before changes the batch.
func before(change func(b *engine.Batch)) fault {
	return func(e running, _ func(string) running, _ engine.Options) lossAndGrad {
		return func(grad, params []float64, b engine.Batch) (engine.Stats, error) {
			change(&b)
			return e.LossAndGrad(grad, params, b)
		}
	}
}

// after changes statistics and gradient.
func after(change func(s *engine.Stats, grad []float64, o engine.Options)) fault {
	return func(e running, _ func(string) running, o engine.Options) lossAndGrad {
		return func(grad, params []float64, b engine.Batch) (engine.Stats, error) {
			s, err := e.LossAndGrad(grad, params, b)
			change(&s, grad, o)
			return s, err
		}
	}
}
