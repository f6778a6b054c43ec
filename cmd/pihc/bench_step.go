package main

import (
	"errors"
	"path/filepath"
	"runtime/debug"

	"pihc/internal/kernel"
	"pihc/model"
	"pihc/train"
)

// stepBench is the JSON of bench step.
type stepBench struct {
	machine
	Batch      int     `json:"batch"`
	Soft       float64 `json:"soft_s"`
	Hard       float64 `json:"hard_s"`
	MoE        float64 `json:"moe_s"`
	Ratio      float64 `json:"moe_over_soft"`
	Network    float64 `json:"network_s"` // forward and backward of moe's network for the batch
	OverNet    float64 `json:"moe_over_network"`
	Iterations float64 `json:"moe_iterations"` // mean solver iterations per expert
	Speedup    float64 `json:"speedup_2_cores,omitempty"`
	RSS        float64 `json:"max_rss_mib,omitempty"`
	Peak       float64 `json:"fma_peak_gflops"`
}

func (r stepBench) fields() []field {
	out := append(r.machine.fields(), field{"batch", formatInt(r.Batch)}, seconds("soft_s", r.Soft), seconds("hard_s", r.Hard), seconds("moe_s", r.MoE),
		ratio("moe_over_soft", r.Ratio), seconds("network_s", r.Network), ratio("moe_over_network", r.OverNet), gflops("moe_iterations", r.Iterations))
	if r.Speedup > 0 {
		out = append(out, ratio("speedup_2_cores", r.Speedup))
	}
	if r.RSS > 0 {
		out = append(out, gflops("max_rss_mib", r.RSS))
	}
	return append(out, gflops("fma_peak_gflops", r.Peak))
}

func (b *bench) step() (any, error) {
	r := stepBench{machine: b.machine(b.workers), Batch: b.spec.Training.Batch}
	var err error
	for _, x := range []struct {
		method string
		dst    *float64
	}{{model.Soft, &r.Soft}, {model.Hard, &r.Hard}, {model.MoE, &r.MoE}} {
		if *x.dst, r.Iterations, err = b.stepSeconds(x.method, b.workers); err != nil {
			return nil, err
		}
	}
	r.Ratio, r.RSS = r.MoE/r.Soft, maxRSS()
	if r.Network, err = b.networkSeconds(); err != nil {
		return nil, err
	}
	r.OverNet = r.MoE / r.Network
	if b.workers >= 2 {
		one, _, err := b.stepSeconds(model.MoE, 1)
		if err != nil {
			return nil, err
		}
		two := r.MoE
		if b.workers > 2 {
			if two, _, err = b.stepSeconds(model.MoE, 2); err != nil {
				return nil, err
			}
		}
		r.Speedup = one / two
	}
	r.Peak = kernel.PeakGFLOPS32(b.workers)
	return r, nil
}

// networkSeconds is the time of the network alone for one batch, all passes of a
// step but the one it trains left out.
func (b *bench) networkSeconds() (float64, error) {
	defer debug.FreeOSMemory()
	pool := kernel.NewPool(b.workers)
	defer pool.Close()
	micro := b.spec.Training.MicroBatch
	n, err := b.inference(pool, micro)
	if err != nil {
		return 0, err
	}
	forward, backward, err := b.times(n)
	calls := (b.spec.Training.Batch + micro - 1) / micro
	return float64(calls) * (forward + backward), err
}

// stepSeconds is the time of loss and gradient of one batch, and the mean solver
// iterations: with untrained parameters, or with those of the method's run in
// the folder --runs names.
func (b *bench) stepSeconds(method string, workers int) (float64, float64, error) {
	spec := *b.spec
	spec.Method = method
	e, err := model.NewEngine[float32](&spec, b.problem, model.EngineOptions{Workers: workers})
	if err != nil {
		return 0, 0, err
	}
	defer debug.FreeOSMemory()
	defer e.Close()
	info := e.Info()
	fractions := make([]float64, spec.Training.Batch)
	for i := range fractions {
		fractions[i] = (float64(i) + 0.5) / float64(len(fractions))
	}
	initial, _, err := statedInitial(&spec, b.problem, info.Grid, fractions)
	if err != nil {
		return 0, 0, err
	}
	batch := model.Batch{Initial: initial, Seeds: evaluationSeeds(len(initial))} // trains the last pass
	params := model.InitialParams[float32](info)
	if dir := b.options.runs; dir != "" {
		if params, _, err = train.LoadParams[float32](filepath.Join(dir, method), &spec, b.problem, train.LoadOptions{}); err != nil {
			return 0, 0, err
		}
		batch.Progress = 1
	}
	grad := make([]float32, len(params))
	var (
		st     model.Stats
		failed error
	)
	t, err := b.median(func() { st, failed = e.LossAndGrad(grad, params, batch) })
	return t, st.Iterations, errors.Join(err, failed)
}
