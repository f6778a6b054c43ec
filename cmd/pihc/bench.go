package main

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pihc/experiment"
	"pihc/grid"
	"pihc/internal/kernel"
	"pihc/internal/words"
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

// benchNames are what bench can measure.
var benchNames = []string{"network", "constraint", "step", "solver"}

func newBench(a *app) *cobra.Command {
	o := &benchOptions{}
	names := strings.Join(benchNames, "|")
	c := &cobra.Command{
		Use:   "bench " + names + " [SPEC]",
		Short: "Measure speed on this machine, beside its own peak",
		Long: `bench measures one part on this machine: medians of several repetitions, beside
the peak rate of fused multiply-adds (fma_peak_gflops) measured in the same run
with the same number of threads.

  network     forward and backward pass of the network for one sample, in the spec's
              network.precision, as the peak; so are those of step.
              fraction_of_peak is 3 x the forward pass's operations over time and
              peak, whatever the code really executes.
  constraint  the least-squares solve of one expert on one thread, rows gathered,
              stopped after 15 iterations; float64
  step        loss and gradient of one batch for soft, hard and moe in turn (the last
              of several passes), with untrained parameters, whose solves need more
              iterations, or with those --runs names; network_s is moe's network
              alone; speedup_2_cores is moe's time with one thread over that with two;
              ratios are medians over the repetitions; processor_share below 0.8, with
              a warning, means that the machine was busy with other things. Under
              mpirun or srun all ranks share the batch, as in training
  solver      one trajectory of the classical solver on one thread; self_error is its
              relative L2 distance from its own solution at tolerance 1e-10, and
              grid_error that of a run on the spec's own points, where solutions are
              computed on more

Sizes are those of SPEC, a file or a built-in name, or of the built-in spec
PROBLEM-SCALE.`,
		Example: `  pihc bench network
  pihc bench network --problem navier-stokes
  pihc bench step --scale demo --json
  pihc bench step burgers/spec.yaml`,
		Args:      positional(names+" [SPEC]", 1, 2),
		ValidArgs: benchNames,
		RunE: func(c *cobra.Command, args []string) error {
			spec, err := o.specName(c, args[1:])
			if err != nil {
				return err
			}
			return a.bench(c, args[0], spec, o)
		},
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
	x, err := b.options.open(b.name, "method="+method)
	if err != nil {
		return nil, err
	}
	x.Spec.Data.Test.Grids = nil // initial conditions are drawn for the spec's own grid
	return x.Spec, nil
}

// specName is the spec that is measured: the one named, or PROBLEM-SCALE.
func (o *benchOptions) specName(c *cobra.Command, named []string) (string, error) {
	builtin := o.problem + "-" + o.scale
	switch {
	case len(named) > 0 && (c.Flags().Changed("problem") || c.Flags().Changed("scale")):
		return "", usagef("bench of %s: --problem and --scale name another spec", named[0])
	case len(named) > 0:
		return named[0], nil
	case !slices.Contains(model.BuiltinSpecs(), builtin):
		return "", usagef("--problem %s --scale %s: there is no such spec: want PROBLEM-SCALE of %s", o.problem, o.scale, strings.Join(model.BuiltinSpecs(), ", "))
	}
	return builtin, nil
}

// bench measures what name says, of a spec.
func (a *app) bench(c *cobra.Command, name, specName string, o *benchOptions) error {
	run := map[string]func(*bench) (any, error){
		"network": (*bench).network, "constraint": (*bench).constraint, "step": (*bench).step, "solver": (*bench).solver,
	}[name]
	if run == nil {
		return usagef("unknown benchmark %q: want %s", name, strings.Join(benchNames, ", "))
	}
	if o.runs != "" && name != "step" {
		return usagef("--runs %s: for step alone", o.runs)
	}
	if o.repeat < 1 {
		return usagef("--repeat %d: want a positive number", o.repeat)
	}
	x, err := o.open(specName)
	if err != nil {
		return err
	}
	if err := x.CheckRead(name); err != nil {
		return err
	}
	spec, p := x.Spec, x.Problem
	spec.Data.Test.Grids = nil // initial conditions are drawn for the spec's own grid
	b := &bench{name: specName, app: a, command: c, spec: spec, problem: p, options: o, workers: a.workers(o.workers)}
	if b.workers == 0 {
		b.workers = runtime.GOMAXPROCS(0)
	}
	if err := a.options(o.workers).Agree(spec, p); err != nil {
		return err
	}
	result, err := run(b)
	if err != nil {
		return err
	}
	if o.json {
		return a.printJSON(result)
	}
	return a.printFields(result)
}

// inputs are those of samples on a grid, at fractions of the range where the problem's distribution has one.
func (b *bench) inputs(spec *model.Spec, g *grid.Grid, fractions ...float64) ([][]float64, error) {
	initial, _, err := (&experiment.Experiment{Spec: spec, Problem: b.problem}).StatedInputs(g, fractions)
	return initial, err
}

// median runs f once to warm up, then repeat times, and returns the median
// seconds. It stops early when the command is interrupted.
func (b *bench) median(f func()) (float64, error) {
	f()
	times := make([]float64, b.options.repeat)
	for i := range times {
		if err := b.command.Context().Err(); err != nil {
			return 0, err
		}
		begin := time.Now()
		f()
		times[i] = time.Since(begin).Seconds()
	}
	return score.Summarize(times).Median, nil
}

// benchMachine is in every result.
type benchMachine struct {
	Spec    string `json:"spec"`
	Ranks   int    `json:"ranks,omitempty"` // where there are several
	Workers int    `json:"workers"`
	Kernels string `json:"kernels"`
}

func (b *bench) machine(workers int) benchMachine {
	m := benchMachine{Spec: b.name, Workers: workers, Kernels: kernel.Description()}
	if size := b.app.comm.Size(); size > 1 {
		m.Ranks = size
	}
	return m
}

// printFields writes the JSON fields of a result for people: seconds by their names, other
// numbers in the format of their tags.
func (a *app) printFields(result any) error {
	t := &report.Table{Columns: []report.Column{{Title: "measured"}, {Title: "value", Right: true}}}
	r := reflect.ValueOf(result)
	for _, f := range reflect.VisibleFields(r.Type()) {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		v := r.FieldByIndex(f.Index)
		if f.Anonymous || option == "omitempty" && v.IsZero() {
			continue
		}
		switch format := f.Tag.Get("format"); {
		case strings.HasSuffix(name, "_s"):
			t.Add(name, words.Duration(v.Float()))
		case name == "flop":
			t.Add(name+" (1e9)", fmt.Sprintf(format, v.Float()/1e9))
		case format != "":
			t.Add(name, fmt.Sprintf(format, v))
		case v.CanFloat():
			t.Add(name, words.Number(v.Float()))
		default:
			t.Add(name, fmt.Sprint(v))
		}
	}
	_, err := t.WriteTo(a.Out)
	return err
}
