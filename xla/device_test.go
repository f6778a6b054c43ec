package xla

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pihc/constraint"
	"pihc/engine"
	"pihc/internal/dataset"
	"pihc/internal/pjrt"
	"pihc/model"
	"pihc/pde"
)

// What BenchmarkDevice measures; tools/device gives it the rest.
var (
	specName  = flag.String("spec", "diffusion-sorption-paper", "spec of BenchmarkDevice")
	overrides = flag.String("set", "", "overrides of it, separated by semicolons")
	batches   = flag.String("batches", "1", "sizes of batches, separated by commas")
	matmuls   = flag.String("matmuls", "float32", "values of network.matmul")
	together  = flag.Int("together", 0, "samples of a program; 0: those of the batch")
	methods   = flag.String("methods", "soft,moe", "methods")
	peakSize  = flag.Int("peak", 2048, "rows and columns of the product whose speed is the peak")
	dumped    = flag.String("dump", "", "folder that XLA_FLAGS names in --xla_dump_to: kernels are counted in it")
)

// Forward pass, forward and backward pass, and step of training of a spec, with the share that
// the network's operations are of the peak of a large product of the same digits.
func BenchmarkDevice(b *testing.B) {
	c := client(b)
	for _, matmul := range strings.Split(*matmuls, ",") {
		w, n := newBuilder(), *peakSize
		net := &network{builder: w, dtype: f32, matmul: strings.TrimPrefix(matmul, "float32")}
		x := w.input(f32, n, n)
		large := compileSum(b, c, w, net.dot("ab,bc->ac", x, x))
		peak := 0.0
		b.Run("matmul="+matmul+"/peak", func(b *testing.B) {
			for b.Loop() {
				large.run(b, 1)
			}
			peak = 2 * math.Pow(float64(n), 3) * float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(peak/1e9, "GFLOP/s")
		})
		free(large.arguments...)
		for _, method := range strings.Split(*methods, ",") {
			benchmarkMethod(b, matmul, method, peak)
		}
	}
}

// benchmarkMethod measures a method with batches of all sizes.
func benchmarkMethod(b *testing.B, matmul, method string, peak float64) {
	for _, size := range strings.Split(*batches, ",") {
		batch, err := strconv.Atoi(size)
		if err != nil || batch < 1 {
			b.Fatalf("-batches %s: want sizes, as in 1,4,16", *batches)
		}
		together := *together
		if together == 0 {
			together = batch
		}
		e := deviceOf(b, matmul, method, together)
		made := map[string]*ready{} // by what is run
		flop := float64(batch) * e.config.FLOP(e.Grid.Shape())
		measure := func(what string, flop float64, prepare func() (*ready, func())) {
			b.Run(fmt.Sprintf("matmul=%s/method=%s/batch=%d/%s", matmul, method, batch, what), func(b *testing.B) {
				program, run := prepare()
				for b.Loop() {
					run()
				}
				if peak > 0 { // measured, unless -bench leaves it out
					b.ReportMetric(flop*float64(b.N)/b.Elapsed().Seconds()/peak, "of_peak")
				}
				program.report(b)
			})
		}
		for i, what := range []string{"forward", "backward"} {
			measure(what, flop*float64(1+2*i), func() (*ready, func()) {
				if made[what] == nil {
					made[what] = networkOf(b, e, i == 1)
				}
				return made[what], func() { made[what].run(b, (batch+together-1)/together) }
			})
		}
		measure("step", 3*flop, func() (*ready, func()) {
			run := stepOf(b, e, batch)
			if made["step"] == nil {
				made["step"] = &ready{Program: e.loaded[loadedKey{constraint: e.Last, training: true}].program, kernels: countKernels(b)}
			}
			return made["step"], run
		})
		for _, r := range made {
			free(r.arguments...) // of a step, none: its programs belong to the engine
		}
		e.Close()
	}
}

// deviceOf is the engine of a method.
func deviceOf(b *testing.B, matmul, method string, together int) *device[float32] {
	set := []string{"method=" + method, "network.matmul=" + matmul, fmt.Sprint("training.micro_batch=", together)}
	set = append(set, strings.FieldsFunc(*overrides, func(r rune) bool { return r == ';' })...)
	s, err := model.OpenSpec(*specName, set...)
	if err != nil {
		b.Fatal(err)
	}
	p, err := pde.Open(s.Problem)
	if err != nil {
		b.Fatal(err)
	}
	made, err := engine.Make[float32](Constructors(), s, p, engine.Options{Plugin: os.Getenv("PIHC_PJRT")})
	if err != nil {
		b.Fatal(err)
	}
	e, ok := made.(*device[float32])
	if !ok {
		b.Fatalf("%s: a network that runs once a segment is measured without `rollout`", *specName)
	}
	return e
}

// ready is a program with what it works on.
type ready struct {
	*pjrt.Program
	arguments []*pjrt.Buffer
	kernels   int
}

// compileSum compiles a program that computes all of x and returns one number, and uploads numbers
// for its inputs.
func compileSum(b *testing.B, c *pjrt.Client, w *builder, x value) *ready {
	axes := make([]int, x.rank())
	for i := range axes {
		axes[i] = i
	}
	kept := w.emit(x, "stablehlo.optimization_barrier %s : %s", x.name, x.mlir())
	p, err := c.Compile(w.module(w.sum(kept, axes...)))
	if err != nil {
		b.Fatal(err)
	}
	r := &ready{Program: p, kernels: countKernels(b)}
	for _, v := range w.arguments {
		numbers := make([]float32, v.size())
		for i := range numbers {
			numbers[i] = float32(math.Sin(float64(i))) / 8
		}
		d, err := pjrt.Upload(c, numbers, v.shape...)
		if err != nil {
			b.Fatal(err)
		}
		r.arguments = append(r.arguments, d)
	}
	tables, err := w.upload(c)
	if err != nil {
		b.Fatal(err)
	}
	r.arguments = append(r.arguments, tables...)
	r.run(b, 1)
	return r
}

// run runs it a number of times and waits.
func (r *ready) run(b *testing.B, times int) {
	for i := range times {
		out, err := r.Run(r.arguments...)
		if err == nil && i == times-1 {
			err = pjrt.Download(out[0], make([]float32, 1))
		}
		if err != nil {
			b.Fatal(err)
		}
		out[0].Free()
	}
}

// report has what the compiler planned.
func (r *ready) report(b *testing.B) {
	arguments, outputs, between, err := r.Memory()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(arguments+outputs+between)/(1<<20), "MiB")
	if r.kernels > 0 {
		b.ReportMetric(float64(r.kernels), "kernels")
	}
}

// networkOf is the network's pass of the samples of a program.
func networkOf(b *testing.B, e *device[float32], backward bool) *ready {
	w := newBuilder()
	w.samples = e.together
	net := newNetwork(w, e.config, e.Grid.Shape(), e.dtype, e.Spec.Network.Matmul, w.input(f32, e.config.Size()))
	y := net.forward(w.input(f32, e.config.Inputs, e.together*product(e.Grid.Shape())))
	if backward {
		y = net.backward(y)
	}
	return compileSum(b, e.client, w, y)
}

// stepOf is a step of training, done once.
func stepOf(b *testing.B, e *device[float32], size int) (step func()) {
	inputs, err := dataset.Draws(e.Problem, e.Grid, size)
	if err != nil {
		b.Fatal(err)
	}
	n := e.config.Size()
	state := &engine.State[float32]{Params: engine.InitialParams[float32](e.Info()), First: make([]float32, n), Second: make([]float32, n)}
	if err := e.Begin(state); err != nil {
		b.Fatal(err)
	}
	batch := engine.Batch{Inputs: inputs, Seeds: make([]constraint.Seed, size)}
	step = func() {
		st, _, err := e.Step(batch, 1e-4)
		if err == nil && !st.Finite() {
			err = fmt.Errorf("the loss is %v", st.Loss)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	step()
	return step
}

var (
	instruction = regexp.MustCompile(`^ +(?:ROOT )?%?[\w.-]+ = .*? ([a-z][a-z-]*)\(`)
	called      = regexp.MustCompile(`(?:calls|to_apply)=%?([\w.-]+)`)
	computation = regexp.MustCompile(`^(?:ENTRY )?%?([\w.-]+) .*\{$`)
)

// countKernels counts, in the newest optimised program of the folder dumped, the instructions that a
// device is sent, those of a loop once: all but arguments, tuples, views and control flow, and none
// within another's fusion or sum. It is 0 where there is no folder.
func countKernels(t testing.TB) int {
	if *dumped == "" {
		return 0
	}
	files, err := filepath.Glob(filepath.Join(*dumped, "*after_optimizations.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no *after_optimizations.txt: is it what XLA_FLAGS names in --xla_dump_to?", *dumped)
	}
	text, err := os.ReadFile(slices.Max(files))
	if err != nil {
		t.Fatal(err)
	}
	counts, within := map[string]int{}, map[string]bool{}
	at := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if m := computation.FindStringSubmatch(line); m != nil {
			at = m[1]
		}
		if m := instruction.FindStringSubmatch(line); m != nil && !slices.Contains([]string{"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "while", "conditional", "after-all"}, m[1]) {
			counts[at]++
		}
		for _, m := range called.FindAllStringSubmatch(line, -1) {
			within[m[1]] = true
		}
	}
	total := 0
	for name, n := range counts {
		if !within[name] {
			total += n
		}
	}
	return total
}
