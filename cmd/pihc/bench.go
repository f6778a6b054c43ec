package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pihc/internal/kernel"
	"pihc/model"
	"pihc/pde"
	"pihc/report"
	"pihc/score"
)

type benchOptions struct {
	specFlags
	problem string
	scale   string
	runs    string
	repeat  int
	json    bool
}

// benchmarks are what bench can measure, in the order of its help.
var benchmarks = []struct {
	name string
	run  func(b *bench) (fielder, error)
}{
	{"network", (*bench).network},
	{"constraint", (*bench).constraint},
	{"step", (*bench).step},
	{"exchange", (*bench).exchange},
	{"terms", (*bench).terms},
	{"solver", (*bench).solver},
}

func newBench(a *app) *cobra.Command {
	o := &benchOptions{}
	c := &cobra.Command{
		Use:   "bench network|constraint|step|exchange|terms|solver",
		Short: "Measure speed on this machine, beside its own peak",
		Long: `bench measures one part on this machine: medians of several repetitions, beside
the peak rate of fused multiply-adds (fma_peak_gflops) measured in the same run
with the same number of threads.

  network     forward and backward pass of the network for one sample, in the spec's
              network.precision, as the peak; so are those of step.
              fraction_of_peak is 3 x the forward pass's operations over time and
              peak, whatever the code really executes.
  constraint  the least-squares solve of one expert on one thread, rows gathered,
              stopped after 15 iterations; float64. Then solves and single passes
              of made-up rows over sizes, beside the float64 peak and the rate of
              reading memory
  step        loss and gradient of one batch for soft, hard and moe in turn, where the
              network runs in several passes training the last;
              with untrained parameters, whose solves need more iterations, or
              with those --runs names; network_s is forward and backward of moe's
              network alone for the batch; speedup_2_cores is moe's time with one
              thread over that with two; ratios are medians over the repetitions;
              max_rss_mib is the process's largest memory; processor_share below
              0.8, with a warning, means that the machine was busy with other things.
              Under mpirun or srun all ranks share the batch, as in training
  exchange    what ranks exchange of gradients in a step, under mpirun or srun alone
  terms       drawing the points of all experts and forming the rows of all terms of
              all basis functions there, over the network's forward pass for one sample
  solver      one trajectory of the classical solver on one thread; self_error is
              its relative L2 distance from its own solution at tolerance 1e-10, and
              grid_error, where solutions are computed on more points than the
              spec's, that of a run on the spec's own

Sizes are those of the built-in spec PROBLEM-SCALE.`,
		Example: `  pihc bench network
  pihc bench network --problem navier-stokes
  pihc bench step --scale demo --json`,
		Args:      positional("network|constraint|step|exchange|terms|solver", 1, 1),
		ValidArgs: benchNames(),
		RunE:      func(c *cobra.Command, args []string) error { return a.bench(c, args[0], o) },
	}
	o.add(c, "seed")
	first := strings.TrimSuffix(model.BuiltinSpecs()[0], "-demo") // of the built-in experiments
	c.Flags().StringVar(&o.problem, "problem", first, "the problem of the built-in specs")
	c.Flags().StringVar(&o.scale, "scale", "paper", "demo, small, paper or published")
	c.Flags().StringVar(&o.runs, "runs", "", "step: take the trained parameters of the runs soft, hard and moe in this folder (of reproduce)")
	c.Flags().IntVar(&o.repeat, "repeat", 5, "repetitions of each measurement")
	jsonFlag(c, &o.json)
	return c
}

func benchNames() []string {
	var names []string
	for _, b := range benchmarks {
		names = append(names, b.name)
	}
	return names
}

// bench is one measurement in progress.
type bench struct {
	name    string // of the spec
	app     *app
	command *cobra.Command
	spec    *model.Spec
	problem *pde.Problem
	options *benchOptions
	workers int
}

// specOf is the spec for a method.
func (b *bench) specOf(method string) (*model.Spec, error) {
	spec, _, err := b.options.open(b.name, "method="+method)
	if err != nil {
		return nil, err
	}
	spec.Data.Test.Grids = nil // initial conditions are drawn for the spec's own grid
	return spec, nil
}

func (a *app) bench(c *cobra.Command, name string, o *benchOptions) error {
	i := slices.Index(benchNames(), name)
	if i < 0 {
		return usagef("unknown benchmark %q: want %s", name, strings.Join(benchNames(), ", "))
	}
	if o.runs != "" && name != "step" {
		return usagef("--runs %s: for step alone", o.runs)
	}
	if o.repeat < 1 {
		return usagef("--repeat %d: want a positive number", o.repeat)
	}
	specName := o.problem + "-" + o.scale
	if !slices.Contains(model.BuiltinSpecs(), specName) {
		return usagef("--problem %s --scale %s: there is no such spec: want PROBLEM-SCALE of %s", o.problem, o.scale, strings.Join(model.BuiltinSpecs(), ", "))
	}
	spec, p, err := o.open(specName)
	if err != nil {
		return err
	}
	spec.Data.Test.Grids = nil // initial conditions are drawn for the spec's own grid
	b := &bench{name: specName, app: a, command: c, spec: spec, problem: p, options: o, workers: a.workers(o.workers)}
	if b.workers == 0 {
		b.workers = runtime.GOMAXPROCS(0)
	}
	if err := a.agree(spec, p); err != nil {
		return err
	}
	result, err := benchmarks[i].run(b)
	if err != nil {
		return err
	}
	if o.json {
		return a.printJSON(result)
	}
	return a.printFields(result)
}

// median runs f once to warm up, then repeat times, and returns the median
// seconds. It stops early when the command is interrupted.
func (b *bench) median(f func()) (float64, error) {
	ctx := b.command.Context()
	f()
	times := make([]float64, 0, b.options.repeat)
	for range b.options.repeat {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		begin := time.Now()
		f()
		times = append(times, time.Since(begin).Seconds())
	}
	return median(times), nil
}

// median of numbers, of which there is at least one.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// machine is in every result.
type machine struct {
	Spec    string `json:"spec"`
	Ranks   int    `json:"ranks,omitempty"` // where there are several
	Workers int    `json:"workers"`
	Kernels string `json:"kernels"`
}

func (b *bench) machine(workers int) machine {
	m := machine{Spec: b.options.problem + "-" + b.options.scale, Workers: workers, Kernels: kernel.Description()}
	if size := b.app.comm.Size(); size > 1 {
		m.Ranks = size
	}
	return m
}

// field is a line of a result for people.
type field struct {
	name, text string
}

// fielder is a result that can list itself.
type fielder interface{ fields() []field }

func (a *app) printFields(f fielder) error {
	t := &report.Table{Columns: []report.Column{{Title: "measured"}, {Title: "value", Right: true}}}
	for _, x := range f.fields() {
		t.Add(x.name, x.text)
	}
	_, err := t.WriteTo(a.Out)
	return err
}

func (m machine) fields() []field {
	out := []field{{"spec", m.Spec}, {"workers", fmt.Sprint(m.Workers)}, {"kernels", m.Kernels}}
	if m.Ranks > 0 {
		out = slices.Insert(out, 1, field{"ranks", fmt.Sprint(m.Ranks)})
	}
	return out
}

func seconds(name string, v float64) field { return field{name, score.Duration(v)} }

func decimal(name string, v float64) field { return field{name, fmt.Sprintf("%.1f", v)} }

func ratio(name string, v float64) field { return field{name, fmt.Sprintf("%.3f", v)} }
