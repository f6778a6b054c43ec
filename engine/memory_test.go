package engine

import (
	"runtime"
	"testing"

	"pihc/constraint"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
)

// The estimate is between half and twice of what an engine has after a step, for
// each method and problem; sizes that no machine has are estimated as well.
func TestEstimate(t *testing.T) {
	for _, name := range []string{"diffusion-sorption-demo", "navier-stokes-demo"} {
		for i := range 3 * len(model.Methods) {
			method, more := model.Methods[i/3], [][]string{
				nil,
				{"rollout=4", "grid.t=101", "constraint.points=500"},
				{"constraint.experts={t: 16, x: 16}", "constraint.points=40", "grid.t=257", "network.width=8", "network.layers=1", "network.basis=8"},
			}[i%3]
			set := []string{"method=" + method, "training.micro_batch=2", "training.batch=2", "network.passes=1", "data.train.count=1", "data.validation.count=1"}
			spec, err := model.OpenSpec(name, append(set, more...)...)
			if err != nil {
				t.Fatal(err)
			}
			p, err := pde.Open(spec.Problem)
			if err != nil {
				t.Fatal(err)
			}
			g, err := p.Grid(spec.Grid)
			if err != nil {
				t.Fatal(err)
			}
			needs, err := Estimate(spec, p, g, 1, 1, true)
			if err != nil {
				t.Fatal(err)
			}
			before := heap()
			e, err := New[float32](spec, p, Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			params := InitialParams[float32](e.Info())
			grad := make([]float32, len(params))
			u0 := make([]float64, g.Size()/g.Axes[0].Points)
			if _, err := e.LossAndGrad(grad, params, Batch{Inputs: [][]float64{u0, u0}, Seeds: make([]constraint.Seed, 2)}); err != nil {
				t.Fatal(err)
			}
			got := float64(heap()-before) + 5*4*float64(len(params)) // both moments, the average, the first draw
			if want := needs.Bytes(); got < want/2 || got > 2*want {
				t.Errorf("%s, %s, %v: estimated %s (%+v), used %s", name, method, more, words.Size(want), needs, words.Size(got))
			}
			runtime.KeepAlive(grad)
			e.Close()
		}
	}
	for _, huge := range []string{
		"network.width=1000000000", "network.layers=1000000000", "network.projection=1000000000", "network.basis=1000000000", "training.micro_batch=1000000000",
		"training.batch=1000000000000", "grid.x=20000000", "constraint.experts.x=1000000000", "data.train.count=1000000000000",
	} {
		spec, err := model.OpenSpec("diffusion-sorption-demo", huge)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pde.Open(spec.Problem)
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Grid(spec.Grid)
		if err != nil {
			t.Fatal(err)
		}
		if needs, err := Estimate(spec, p, g, 1, 1, true); err != nil || !(needs.Bytes() > 1e11) {
			t.Errorf("%s: %v, %v", huge, needs, err)
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
