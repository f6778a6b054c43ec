package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"time"

	"pihc/compute"
	"pihc/dist"
	"pihc/engine"
	"pihc/internal/machine"
	"pihc/model"
	"pihc/score"
	"pihc/train"
)

// stepBench is the JSON of bench step.
type stepBench struct {
	benchMachine
	Batch      int     `json:"batch"`
	Soft       float64 `json:"soft_s"`
	Hard       float64 `json:"hard_s"`
	MoE        float64 `json:"moe_s"`
	Ratio      float64 `json:"moe_over_soft" format:"%.3f"`
	Network    float64 `json:"network_s,omitempty"` // forward and backward of moe's network for the batch; of one process
	OverNet    float64 `json:"moe_over_network,omitempty" format:"%.3f"`
	Iterations float64 `json:"moe_iterations" format:"%.1f"` // mean solver iterations per expert
	Speedup    float64 `json:"speedup_2_cores,omitempty" format:"%.3f"`
	RSS        float64 `json:"max_rss_mib,omitempty" format:"%.1f"`
	Share      float64 `json:"processor_share,omitempty" format:"%.3f"` // of the threads' processors that they had
	Peak       float64 `json:"fma_peak_gflops" format:"%.1f"`
}

// timed is what a round of bench step takes the time of: a step of a method, or the
// network alone.
type timed struct {
	method  string // "" for the network
	workers int
}

func (b *bench) step() (any, error) {
	if b.wide() {
		return benchStep[float64](b)
	}
	return benchStep[float32](b)
}

// benchStep takes the times of all in turn, round after round, so that what else the
// machine does meets them all alike, and ratios of times of the same round. Each is
// prepared anew for every round: together they might not fit into memory.
func benchStep[T compute.Float](b *bench) (any, error) {
	r := stepBench{benchMachine: b.machine(b.workers), Batch: b.spec.Training.Batch}
	soft, hard, moe, network := timed{model.Soft, b.workers}, timed{model.Hard, b.workers}, timed{model.MoE, b.workers}, timed{"", b.workers}
	one, two := timed{model.MoE, 1}, timed{model.MoE, 2}
	all := []timed{soft, hard, moe}
	alone := b.app.comm.Size() == 1
	if alone {
		all = append(all, network)
	}
	if alone && b.workers >= 2 {
		all = append(all, one)
	}
	if alone && b.workers > 2 {
		all = append(all, two)
	}
	seconds := map[timed][]float64{} // a round
	var used, offered float64        // seconds of processors
	for range b.options.repeat {
		for _, x := range all {
			if err := b.command.Context().Err(); err != nil {
				return nil, err
			}
			wall, cpu, stats, err := measure[T](b, x)
			if err != nil {
				return nil, err
			}
			seconds[x] = append(seconds[x], wall)
			used += cpu
			offered += wall * float64(x.workers)
			if x == moe {
				r.Iterations, r.RSS = stats.Iterations, cmp.Or(r.RSS, machine.MaxRSS())
			}
		}
	}
	r.Soft, r.Hard, r.MoE = score.Summarize(seconds[soft]).Median, score.Summarize(seconds[hard]).Median, score.Summarize(seconds[moe]).Median
	r.Ratio = medianRatio(seconds[moe], seconds[soft])
	if alone {
		r.Network, r.OverNet = score.Summarize(seconds[network]).Median, medianRatio(seconds[moe], seconds[network])
	}
	if alone && b.workers >= 2 {
		r.Speedup = medianRatio(seconds[one], seconds[two])
	}
	r.Share = used / offered
	if busy := machine.Busy(r.Share); busy != "" && b.app.writes() {
		fmt.Fprintln(b.app.Err, "pihc: warning:", busy)
	}
	r.Peak = b.peak()
	return r, nil
}

// measure prepares x, runs it once unmeasured and once measured, and returns the seconds of
// that, and those of processors.
func measure[T compute.Float](b *bench, x timed) (wall, cpu float64, stats engine.Stats, err error) {
	defer debug.FreeOSMemory()
	prepare := prepareStep[T]
	if x.method == "" {
		prepare = prepareNetwork[T]
	}
	run, done, err := prepare(b, x)
	if err != nil {
		return 0, 0, stats, err
	}
	defer done()
	if _, err := run(); err != nil {
		return 0, 0, stats, err
	}
	begin, before := time.Now(), machine.CPUSeconds()
	stats, err = run()
	return time.Since(begin).Seconds(), machine.CPUSeconds() - before, stats, err
}

// medianRatio is the median of a over b, round by round.
func medianRatio(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return score.Summarize(ratios).Median
}

// prepareNetwork makes the network alone for one batch, all passes of a step but the
// one it trains left out.
func prepareNetwork[T compute.Float](b *bench, x timed) (run func() (engine.Stats, error), done func(), err error) {
	pool := compute.NewPool(x.workers)
	micro := b.spec.Training.MicroBatch
	n, err := newInference[T](b, pool, micro)
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	return func() (stats engine.Stats, err error) {
		for range (b.spec.Training.Batch + micro - 1) / micro {
			n.forward()
			n.backward()
		}
		return stats, nil
	}, pool.Close, nil
}

// prepareStep makes loss and gradient of one batch: with untrained parameters, or
// with those of the method's run in the folder --runs names.
func prepareStep[T compute.Float](b *bench, x timed) (run func() (engine.Stats, error), done func(), err error) {
	spec, err := b.specOf(x.method)
	if err != nil {
		return nil, nil, err
	}
	e, err := dist.NewEngine[T](spec, b.problem, engine.Options{Workers: x.workers, Samples: spec.Training.Batch}, b.app.comm, b.app.slabs)
	if err != nil {
		return nil, nil, err
	}
	info := e.Info()
	fractions := make([]float64, spec.Training.Batch)
	for i := range fractions {
		fractions[i] = (float64(i) + 0.5) / float64(len(fractions))
	}
	initial, err := b.inputs(spec, info.Grid, fractions...)
	batch := engine.Batch{Inputs: initial, Seeds: train.EvaluationSeeds(len(initial))} // trains the last pass
	params := engine.InitialParams[T](info)
	if dir := b.options.runs; dir != "" && err == nil {
		if run := filepath.Join(dir, x.method); !train.Folder(run).IsRun() {
			err = usagef("--runs %s: %s is no run folder", dir, run)
		} else {
			params, _, err = train.LoadParams[T](run, spec, b.problem, train.LoadOptions{})
		}
		batch.Progress = 1
	}
	if err != nil {
		e.Close()
		return nil, nil, err
	}
	grad := make([]T, len(params))
	return func() (engine.Stats, error) { return e.LossAndGrad(grad, params, batch) }, e.Close, nil
}
