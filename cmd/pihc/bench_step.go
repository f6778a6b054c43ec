package main

import (
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"pihc/compute"
	"pihc/dist"
	"pihc/engine"
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
	Network    float64 `json:"network_s,omitempty"` // forward and backward of moe's network for the batch; of one process
	OverNet    float64 `json:"moe_over_network,omitempty"`
	Iterations float64 `json:"moe_iterations"` // mean solver iterations per expert
	Speedup    float64 `json:"speedup_2_cores,omitempty"`
	RSS        float64 `json:"max_rss_mib,omitempty"`
	Share      float64 `json:"processor_share,omitempty"` // of the threads' processors that they had
	Peak       float64 `json:"fma_peak_gflops"`
}

func (r stepBench) fields() []field {
	out := append(r.machine.fields(), field{"batch", strconv.Itoa(r.Batch)}, seconds("soft_s", r.Soft), seconds("hard_s", r.Hard), seconds("moe_s", r.MoE),
		ratio("moe_over_soft", r.Ratio))
	if r.Network > 0 {
		out = append(out, seconds("network_s", r.Network), ratio("moe_over_network", r.OverNet))
	}
	out = append(out, decimal("moe_iterations", r.Iterations))
	if r.Speedup > 0 {
		out = append(out, ratio("speedup_2_cores", r.Speedup))
	}
	if r.RSS > 0 {
		out = append(out, decimal("max_rss_mib", r.RSS))
	}
	if r.Share > 0 {
		out = append(out, ratio("processor_share", r.Share))
	}
	return append(out, decimal("fma_peak_gflops", r.Peak))
}

// timed is something whose time a round of bench step takes.
type timed struct {
	workers int
	prepare func(workers int) (run func() error, done func(), err error)
	seconds []float64 // a round
}

func (b *bench) step() (fielder, error) {
	if b.wide() {
		return benchStep[float64](b)
	}
	return benchStep[float32](b)
}

// benchStep takes the times of all in turn, round after round, so that what else the
// machine does meets them all alike, and ratios of times of the same round. Each is
// prepared anew for every round: together they might not fit into memory.
func benchStep[T compute.Float](b *bench) (fielder, error) {
	r := stepBench{machine: b.machine(b.workers), Batch: b.spec.Training.Batch}
	var moe engine.Stats
	soft := &timed{workers: b.workers, prepare: prepareStep[T](b, model.Soft, &engine.Stats{})}
	hard := &timed{workers: b.workers, prepare: prepareStep[T](b, model.Hard, &engine.Stats{})}
	experts := &timed{workers: b.workers, prepare: prepareStep[T](b, model.MoE, &moe)}
	network := &timed{workers: b.workers, prepare: prepareNetwork[T](b)}
	all := []*timed{soft, hard, experts}
	alone := b.app.comm.Size() == 1
	if alone {
		all = append(all, network)
	}
	one, two := &timed{workers: 1, prepare: experts.prepare}, experts
	if alone && b.workers >= 2 {
		all = append(all, one)
	}
	if alone && b.workers > 2 {
		two = &timed{workers: 2, prepare: experts.prepare}
		all = append(all, two)
	}
	var used, offered float64 // seconds of processors
	for range b.options.repeat {
		for _, x := range all {
			if err := b.command.Context().Err(); err != nil {
				return nil, err
			}
			cpu, wall, err := x.round()
			if err != nil {
				return nil, err
			}
			used += cpu
			offered += wall * float64(x.workers)
			if x == experts && r.RSS == 0 {
				r.RSS = maxRSS()
			}
		}
	}
	r.Soft, r.Hard, r.MoE = median(soft.seconds), median(hard.seconds), median(experts.seconds)
	r.Ratio, r.Iterations = medianRatio(experts.seconds, soft.seconds), moe.Iterations
	if alone {
		r.Network, r.OverNet = median(network.seconds), medianRatio(experts.seconds, network.seconds)
	}
	if alone && b.workers >= 2 {
		r.Speedup = medianRatio(one.seconds, two.seconds)
	}
	r.Share = used / offered
	if busy := b.app.warnBusy(r.Share); busy != "" && b.app.writes() {
		fmt.Fprintln(b.app.Err, busy)
	}
	r.Peak = b.peak()
	return r, nil
}

// leastShare is the share of the processors' time below which the figures are those
// of a busy machine; alone on one a step gets more than 0.9.
const leastShare = 0.8

// warnBusy is what to say where the threads had only a share of the processors' time,
// 0 where the system does not tell.
func (a *app) warnBusy(share float64) string {
	if share == 0 || share >= leastShare {
		return ""
	}
	return fmt.Sprintf("pihc: warning: the threads had %.0f %% of the time of their processors: the machine is busy, and times and ratios are not its own", 100*share)
}

// round prepares x, runs it once unmeasured and once measured, and adds the seconds.
// It also returns the processor time of the measured run.
func (x *timed) round() (cpu, wall float64, err error) {
	defer debug.FreeOSMemory()
	run, done, err := x.prepare(x.workers)
	if err != nil {
		return 0, 0, err
	}
	defer done()
	if err := run(); err != nil {
		return 0, 0, err
	}
	begin, before := time.Now(), cpuSeconds()
	err = run()
	wall = time.Since(begin).Seconds()
	x.seconds = append(x.seconds, wall)
	return cpuSeconds() - before, wall, err
}

// medianRatio is the median of a over b, round by round.
func medianRatio(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return median(ratios)
}

// prepareNetwork makes the network alone for one batch, all passes of a step but the
// one it trains left out.
func prepareNetwork[T compute.Float](b *bench) func(workers int) (run func() error, done func(), err error) {
	return func(workers int) (func() error, func(), error) {
		pool := compute.NewPool(workers)
		micro := b.spec.Training.MicroBatch
		n, err := newInference[T](b, pool, micro)
		if err != nil {
			pool.Close()
			return nil, nil, err
		}
		backward := n.backward()
		return func() error {
			for range (b.spec.Training.Batch + micro - 1) / micro {
				n.forward()
				backward()
			}
			return nil
		}, pool.Close, nil
	}
}

// prepareStep makes loss and gradient of one batch: with untrained parameters, or
// with those of the method's run in the folder --runs names.
func prepareStep[T compute.Float](b *bench, method string, st *engine.Stats) func(workers int) (run func() error, done func(), err error) {
	return func(workers int) (func() error, func(), error) {
		spec, err := b.specOf(method)
		if err != nil {
			return nil, nil, err
		}
		e, err := dist.NewEngine[T](spec, b.problem, engine.EngineOptions{Workers: workers}, b.app.comm, b.app.slabs)
		if err != nil {
			return nil, nil, err
		}
		info := e.Info()
		fractions := make([]float64, spec.Training.Batch)
		for i := range fractions {
			fractions[i] = (float64(i) + 0.5) / float64(len(fractions))
		}
		initial, _, err := statedInitial(spec, b.problem, info.Grid, fractions)
		batch := engine.Batch{Initial: initial, Seeds: evaluationSeeds(len(initial))} // trains the last pass
		params := engine.InitialParams[T](info)
		if dir := b.options.runs; dir != "" && err == nil {
			if run := filepath.Join(dir, method); !train.IsRun(run) {
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
		return func() (err error) {
			*st, err = e.LossAndGrad(grad, params, batch)
			return err
		}, e.Close, nil
	}
}
