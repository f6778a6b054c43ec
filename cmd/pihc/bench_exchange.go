package main

import (
	"strconv"

	"pihc/dist"
	"pihc/model"
)

// exchangeBench is the JSON of bench exchange.
type exchangeBench struct {
	machine
	Batch      int     `json:"batch"`
	Parameters int     `json:"parameters"`
	Latency    float64 `json:"latency_s"`   // one gather of 8 bytes a rank
	Bandwidth  float64 `json:"bandwidth"`   // bytes that a rank sends in a second, of long messages
	Bytes      float64 `json:"bytes"`       // that a rank sends in a step, by the formulas of docs/scaling.md
	Messages   int     `json:"messages"`    // likewise
	Exchange   float64 `json:"exchange_s"`  // of a step's gradients, as long as no rank waits for a sample
	Predicted  float64 `json:"predicted_s"` // by latency and bandwidth
}

func (r exchangeBench) fields() []field {
	return append(r.machine.fields(), field{"batch", strconv.Itoa(r.Batch)}, field{"parameters", strconv.Itoa(r.Parameters)}, seconds("latency_s", r.Latency),
		decimal("bandwidth (1e9 bytes/s)", r.Bandwidth/1e9), decimal("bytes (1e6)", r.Bytes/1e6), field{"messages", strconv.Itoa(r.Messages)},
		seconds("exchange_s", r.Exchange), seconds("predicted_s", r.Predicted))
}

// exchange measures what several ranks exchange in a step: gradients of one sample
// a rank, round after round, in float32.
func (b *bench) exchange() (fielder, error) {
	comm := b.app.comm
	size := comm.Size()
	if size == 1 {
		return nil, withHint(usagef("bench exchange needs several processes"), "start it as `mpirun -np 2 pihc bench exchange`")
	}
	spec, err := b.specOf(model.MoE)
	if err != nil {
		return nil, err
	}
	net, err := model.NewNetwork(spec, b.problem)
	if err != nil {
		return nil, err
	}
	n, rounds := net.Size(), (spec.Training.Batch+size-1)/size
	r := exchangeBench{machine: b.machine(b.workers), Batch: spec.Training.Batch, Parameters: n}
	timed := func(f func() error) (float64, error) {
		var failed error
		t, err := b.median(func() {
			if err := f(); err != nil {
				failed = err
			}
		})
		if err == nil {
			err = failed
		}
		return t, err
	}
	few, all := make([]byte, 8), make([]byte, 8*size)
	const calls = 100 // of a gather, since one is too short to be timed
	if r.Latency, err = timed(func() error {
		for range calls {
			if err := comm.AllGather(all, few); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	r.Latency /= calls
	slice := (n + size - 1) / size
	src, dst := make([]float32, slice*size), make([]float32, slice*size)
	t, err := timed(func() error { return comm.AllToAll(dist.Bytes(dst), dist.Bytes(src)) })
	if err != nil {
		return nil, err
	}
	sent := 4 * float64(slice*(size-1)) // of one exchange
	r.Bandwidth = sent / t
	sum, grad := dist.NewSum[float32](comm, n), make([]float32, n)
	if r.Exchange, err = timed(func() error {
		sum.Begin(grad)
		for i := range rounds {
			if err := sum.Round(grad, min(size, spec.Training.Batch-i*size)); err != nil {
				return err
			}
		}
		return sum.Finish(grad)
	}); err != nil {
		return nil, err
	}
	r.Bytes, r.Messages = float64(rounds+1)*sent, (rounds+1)*(size-1)
	r.Predicted = float64(rounds+1) * (r.Latency + sent/r.Bandwidth)
	return r, nil
}
