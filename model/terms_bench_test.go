package model

import (
	"slices"
	"testing"
	"time"

	"pihc/compute"
	"pihc/constraint"
	"pihc/data"
	"pihc/internal/check"
	"pihc/internal/kernel"
	"pihc/network"
	"pihc/pde"
)

// BenchmarkTerms measures how long it takes to apply the ansatz, to draw the points of all experts and to form the
// rows of every term of all basis functions there (terms_s, the median), beside the network's
// forward pass for the sample (forward_s), on all threads.
func BenchmarkTerms(b *testing.B) {
	for _, x := range []struct {
		name, spec string
		overrides  []string
	}{
		{"diffusion-sorption-demo", "diffusion-sorption-demo", nil},
		{"diffusion-sorption-paper", "diffusion-sorption-paper", nil},
		{"navier-stokes-demo", "navier-stokes-demo", nil},
		{"navier-stokes-paper", "navier-stokes-paper", nil},
		// With the paper's network: 64 functions.
		{"navier-stokes-64", "navier-stokes-paper", []string{"network.width=64", "network.layers=8", "network.basis=64", "network.projection=256"}},
	} {
		b.Run(x.name, func(b *testing.B) { benchmarkTerms(b, x.spec, append(x.overrides, "method=moe")) })
	}
}

func benchmarkTerms(b *testing.B, name string, overrides []string) {
	ok := func(err error) {
		if err != nil {
			b.Helper()
			b.Fatal(err)
		}
	}
	spec, err := OpenSpec(name, overrides...)
	ok(err)
	p, err := pde.Open(spec.Problem)
	ok(err)
	ok(spec.Fit(p))
	spec.Data.Test.Grids = nil // the initial condition is drawn for the spec's own grid
	net, err := spec.NewNetwork(p)
	ok(err)
	g, err := p.Grid(spec.Grid)
	ok(err)
	sys, err := p.Discretize(g)
	ok(err)
	options, err := spec.Options(p)
	ok(err)
	pool := compute.NewPool(0)
	defer pool.Close()
	c, err := constraint.New(sys, spec.Outputs(), options, nil, pool)
	ok(err)

	rng := check.Rand(1)
	wide := make([]float64, net.Layout().Size())
	net.Init(wide, rng)
	params := make([]float32, len(wide))
	for i, v := range wide {
		params[i] = float32(v)
	}
	inputs, outputs := net.Fields()
	input, dst := check.Normal(rng, make([]float32, inputs*g.Size())), make([]float32, outputs*g.Size())
	evaluator := network.NewEvaluator[float32](net, g.Shape(), 1, pool, nil)
	evaluator.Forward(dst, params, input)

	plan, err := spec.DatasetPlan(p, 1)
	ok(err)
	split := plan.Splits[slices.IndexFunc(plan.Splits, func(s data.Split) bool { return s.Name == "test" })]
	draw, err := plan.Sampler(split)
	ok(err)
	initial := make([]float64, p.InputSize(g))
	ok(draw(data.SampleRand(split.Seed, 0), initial))
	memory, in := c.NewWorkspace(), constraint.Input[float32]{Basis: dst, Sample: initial}
	memory.Assemble(in)

	var terms, forward []float64
	for b.Loop() {
		begin := time.Now()
		memory.Assemble(in)
		middle := time.Now()
		evaluator.Forward(dst, params, input)
		terms, forward = append(terms, middle.Sub(begin).Seconds()), append(forward, time.Since(middle).Seconds())
	}
	slices.Sort(terms)
	slices.Sort(forward)
	half := len(terms) / 2
	rows := options.Points * c.Router.Experts()
	if rows == 0 {
		rows = len(sys.Residuals()[0].Points)
	}
	b.ReportMetric(float64(rows), "rows") // of all experts
	b.ReportMetric(float64(len(sys.Residuals()[0].Terms)), "terms")
	b.ReportMetric(float64(spec.Outputs()), "basis")
	b.ReportMetric(terms[half], "terms_s")
	b.ReportMetric(forward[half], "forward_s")
	b.ReportMetric(terms[half]/forward[half], "terms_over_forward")
	b.ReportMetric(kernel.PeakGFLOPS32(pool.Workers()), "fma_peak_gflops")
}
