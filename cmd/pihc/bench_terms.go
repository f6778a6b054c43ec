package main

import (
	"strconv"

	"pihc/compute"
	"pihc/constraint"
	"pihc/internal/kernel"
	"pihc/model"
	"pihc/train"
)

// termsBench is the JSON of bench terms.
type termsBench struct {
	machine
	Rows     int     `json:"rows"` // of all experts
	Terms    int     `json:"terms"`
	Basis    int     `json:"basis"`
	Gather   float64 `json:"terms_s"`
	Forward  float64 `json:"forward_s"`
	Fraction float64 `json:"terms_over_forward"`
	Peak     float64 `json:"fma_peak_gflops"`
}

func (r termsBench) fields() []field {
	return append(r.machine.fields(), field{"rows", strconv.Itoa(r.Rows)}, field{"terms", strconv.Itoa(r.Terms)}, field{"basis", strconv.Itoa(r.Basis)},
		seconds("terms_s", r.Gather), seconds("forward_s", r.Forward), ratio("terms_over_forward", r.Fraction), decimal("fma_peak_gflops", r.Peak))
}

// terms measures how long it takes to draw the points of all experts and to form the
// rows of every term of all basis functions there, beside the network's forward pass
// for the sample.
func (b *bench) terms() (fielder, error) {
	spec, err := b.specOf(model.MoE)
	if err != nil {
		return nil, err
	}
	pool := compute.NewPool(b.workers)
	defer pool.Close()
	n, err := newInference[float32](b, pool, 1)
	if err != nil {
		return nil, err
	}
	n.forward()
	g, err := b.problem.Grid(spec.Grid)
	if err != nil {
		return nil, err
	}
	sys, err := b.problem.Discretize(g)
	if err != nil {
		return nil, err
	}
	options, err := spec.Options(b.problem)
	if err != nil {
		return nil, err
	}
	c, err := constraint.New(sys, spec.Outputs(), options, nil, pool)
	if err != nil {
		return nil, err
	}
	initial, _, err := statedInitial(spec, b.problem, g, []float64{0.5})
	if err != nil {
		return nil, err
	}
	s := c.NewSample()
	constraint.Load(s, n.dst, initial[0])
	rows := options.Points * len(c.Windows)
	if rows == 0 {
		rows = len(sys.Residuals()[0].Points)
	}
	r := termsBench{machine: b.machine(b.workers), Rows: rows, Terms: len(sys.Residuals()[0].Terms), Basis: spec.Outputs()}
	if r.Gather, err = b.median(func() { s.Draw(train.EvaluationSeed(0)) }); err != nil {
		return nil, err
	}
	if r.Forward, err = b.median(n.forward); err != nil {
		return nil, err
	}
	r.Fraction = r.Gather / r.Forward
	r.Peak = kernel.PeakGFLOPS32(b.workers)
	return r, nil
}
