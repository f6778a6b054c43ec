package dist

import (
	"fmt"
	"sync"
	"testing"

	"pihc/constraint"
	"pihc/engine"
	"pihc/model"
	"pihc/pde"
)

// experts is a small spec of PI-HC-MoE with four experts, which draw their rows, and a batch of it.
func experts(t *testing.T, samples int, overrides ...string) (*model.Spec, *pde.Problem, engine.Batch) {
	t.Helper()
	spec, err := model.OpenSpec("diffusion-sorption-demo", append([]string{
		"method=moe", "grid={t: 17, x: 64}",
		"network={width: 4, layers: 1, modes: {t: 2, x: 2}, projection: 4, basis: 6}", "constraint.experts={x: 4}", "constraint.points=60",
		"training.batch=2", "training.micro_batch=1", "data.test.grids=[]",
	}, overrides...)...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(spec.Problem)
	if err != nil {
		t.Fatal(err)
	}
	batch := engine.Batch{}
	for i := range samples {
		u0 := make([]float64, 64)
		for j := range u0 {
			u0[j] = 0.1 + 0.02*float64(i)
		}
		batch.Inputs, batch.Seeds = append(batch.Inputs, u0), append(batch.Seeds, constraint.Seed{Run: 1, Sample: uint64(i)})
	}
	return spec, p, batch
}

// TestExpertsOnRanks: ranks of which there are more than samples share the experts of each, and give the bits of one
// process, of predictions, losses and gradients.
func TestExpertsOnRanks(t *testing.T) {
	for _, samples := range []int{1, 2, 5} {
		spec, p, batch := experts(t, samples)
		one, err := NewEngine[float32](spec, p, engine.Options{Workers: 1}, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		params := engine.InitialParams[float32](one.Info())
		say := func(e engine.Engine[float32]) (out string) {
			grad := make([]float32, len(params))
			st, err := e.LossAndGrad(grad, params, batch)
			if err != nil {
				t.Fatal(err)
			}
			out = fmt.Sprint(st, grad)
			if err := e.Predict(params, batch, func(i int, p *engine.Prediction) error {
				out += fmt.Sprint(i, *p)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return out
		}
		want := say(one)
		one.Close()
		for _, size := range []int{2, 3, 4, 7} { // 7: more than experts of one sample
			e, err := newRanks[float32](size, 1)(spec, p, engine.Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			if say(e) != want {
				t.Errorf("%d samples on %d ranks: not the bits of one process", samples, size)
			}
			e.Close()
		}
	}
}

// TestExpertsTraffic: what sharing the experts of a sample costs, as docs/evidence/scaling.md has it.
func TestExpertsTraffic(t *testing.T) {
	spec, p, batch := experts(t, 1)
	g, err := p.Grid(spec.Grid)
	if err != nil {
		t.Fatal(err)
	}
	system, err := p.Discretize(g)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for _, c := range Local(2) {
		wait.Go(func() {
			split := &splitting{Comm: c}
			e, err := NewEngine[float64](spec, p, engine.Options{Workers: 1}, split, 1)
			if err != nil {
				t.Error(err)
				return
			}
			defer e.Close()
			info := e.Info()
			if _, err := e.LossAndGrad(make([]float64, info.Parameters()), engine.InitialParams[float64](info), batch); err != nil {
				t.Error(err)
				return
			}
			n, rows := spec.Network.Basis, 0 // numbers of one expert: adjoint rows of each term
			for _, set := range system.Sets {
				points := len(set.Points)
				if set.Kind == pde.ResidualRows {
					points = spec.Constraint.Points
				}
				rows += 2 * len(set.Terms) * points
			}
			want := 8 * 2 * ((n + 11) + (n + 1 + rows)) // of two experts of this rank
			if split.group == nil || split.group.bytes != want {
				t.Errorf("%+v, by formula %d bytes", split.group, want)
			}
		})
	}
	wait.Wait()
}

// splitting counts what goes through the first group that is split off.
type splitting struct {
	Comm
	group *counting
}

func (s *splitting) Split(color int) (Comm, error) {
	c, err := s.Comm.Split(color)
	s.group = &counting{Comm: c}
	return s.group, err
}
