// Joint measures what a joint solve for the weights of a trained basis and for constants costs against one prediction, one thread
// (docs/guide/inversion.md): go run ./docs/runs/invert RUN CONSTANT,... PASSES. The basis is that of the last pass of the network, with the
// constants as in the file. The joint solve begins with them 1.3 times off, and has 50 values of the problem's own solution with 1 % noise.
package main

import (
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"pihc/constraint"
	"pihc/engine"
	"pihc/experiment"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/kernel"
	"pihc/lm"
	"pihc/model"
	"pihc/pde"
)

// rows are one set of rows over the basis.
type rows struct {
	*pde.RowValues
	slopes func(n int, out, in [][]float64) // by the inputs that rows read
	basis  [][][]float64                    // per term and function, and last the offset
	scale  float64
	out    [][]float64
}

// joint is least squares for weights ω and logarithms of constants θ: rows of the problem, and observations.
type joint struct {
	rows      []*rows
	functions int
	constants []pde.PlacedInput
	start     []float64
	sample    []float64
	points    []int // of observations
	value     []float64
	sigma     float64
	basis     [][]float64 // and last the offset
	free      bool        // of the constants
}

func (p *joint) Dim() int {
	if p.free {
		return p.functions + len(p.constants)
	}
	return p.functions
}

// Normal implements lm.Problem.
func (p *joint) Normal(a, g, w []float64) (cost float64) {
	n := p.Dim()
	if g != nil {
		clear(a)
		clear(g)
	}
	row := make([]float64, n)
	add := func(r float64) {
		if cost += r * r / 2; g == nil {
			return
		}
		kernel.Axpy64(g, r, row)
		for j, v := range row {
			kernel.Axpy64(a[j*n:][:j+1], v, row[:j+1])
		}
	}
	if p.free {
		for j, in := range p.constants {
			p.sample[in.Offset] = p.start[j] * math.Exp(w[p.functions+j])
		}
	}
	for _, x := range p.rows {
		x.SetInputs(p.sample)
		for t, z := range x.Terms.Values {
			copy(z, x.basis[t][p.functions])
			for k := range p.functions {
				kernel.Axpy64(z, w[k], x.basis[t][k])
			}
		}
		out := x.EvalTerms(1)
		if x.slopes != nil {
			x.slopes(len(x.Points), x.out, slices.Concat(x.Terms.Values, x.Extras))
		}
		for i := range x.Points {
			clear(row)
			for t := range x.Terms.Values {
				for k := range p.functions {
					row[k] += x.scale * out[1+t][i] * x.basis[t][k][i]
				}
			}
			if p.free {
				at := 0
				for _, e := range x.Set.Extras {
					if e.Axis >= 0 {
						continue
					}
					for j, in := range p.constants {
						if x.System.Inputs[e.Input].Name == in.Name {
							row[p.functions+j] += x.scale * x.out[at][i] * p.sample[in.Offset]
						}
					}
					at++
				}
			}
			add(x.scale * out[0][i])
		}
	}
	clear(row)
	for i, at := range p.points {
		u := p.basis[p.functions][at]
		for k := range p.functions {
			u += w[k] * p.basis[k][at]
			row[k] = p.basis[k][at] / p.sigma
		}
		if p.free {
			add((u - p.value[i]) / p.sigma)
		}
	}
	for j := range n {
		for k := range j {
			if g != nil {
				a[k*n+j] = a[j*n+k]
			}
		}
	}
	return cost
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	log.SetFlags(0)
	run := must(experiment.OpenRun(os.Args[1]))
	names, p := strings.Split(os.Args[2], ","), run.Problem
	g := must(p.Grid(run.Spec.Grid))
	passes := must(strconv.Atoi(os.Args[3]))
	predictor := must(run.Open(experiment.Evaluation{Passes: model.Passes(passes), Options: experiment.Options{Workers: 1}}))
	inputs := must(dataset.Draws(p, g, 1))[0]
	batch := engine.Batch{Inputs: [][]float64{inputs}, Seeds: []constraint.Seed{{}}}
	prediction, field := math.Inf(1), []float64{}
	for range 30 {
		begin := time.Now()
		if err := predictor.Predict(batch, func(_ int, x *engine.Prediction) error { field = slices.Clone(x.Field); return nil }); err != nil {
			log.Fatal(err)
		}
		prediction = min(prediction, time.Since(begin).Seconds())
	}
	q := must(p.Free(names...))
	sys := must(q.Discretize(g))
	x := &joint{functions: run.Spec.Network.Basis, sample: slices.Clone(inputs)}
	for _, in := range q.PlaceInputs(g)[len(p.Inputs):] {
		x.sample, x.constants, x.start = append(x.sample, in.Sampler.Low), append(x.constants, in), append(x.start, 1.3*in.Sampler.Low)
	}
	truth := slices.Clone(x.sample[len(inputs):])
	// The basis is still in the memory of the engine: (functions, points) of the last sample.
	memory := reflect.ValueOf(predictor).Elem().FieldByName("engine").Elem().Elem().FieldByName("basis")
	mu := sys.Multiplier()
	for k := range x.functions {
		f := make([]float64, g.Size())
		for i := range f {
			if f[i] = memory.Index(k*len(f) + i).Float(); mu != nil {
				f[i] *= mu[i]
			}
		}
		x.basis = append(x.basis, f)
	}
	offset := make([]float64, g.Size())
	sys.Offset(offset, x.sample)
	x.basis = append(x.basis, offset)
	solver := must(discrete.New(q, g, slices.Repeat([]int{1}, len(g.Axes))))
	exact := make([]float64, g.Size())
	begin := time.Now()
	must(solver.Solve(exact, x.sample))
	solution := time.Since(begin).Seconds()
	rng := rand.New(rand.NewPCG(1, 2))
	x.sigma = 0.01 * dataset.RootMeanSquare(exact)
	for range 50 {
		i := rng.IntN(len(exact))
		x.points, x.value = append(x.points, i), append(x.value, exact[i]+x.sigma*rng.NormFloat64())
	}
	x.prepare(sys, run.Spec.Constraint.Points, field)
	for j, in := range x.constants {
		x.sample[in.Offset] = x.start[j]
	}
	w := make([]float64, x.functions)
	alone, plain := x.solve(w)
	fmt.Printf("%s: prediction error %.2g; one prediction (passes: %d) %.3g s, a solution of its own rows %.3g s\n", p.Name, grid.RelativeL2(field, exact, 1), passes, prediction, solution)
	fmt.Printf("weights alone, %d: %d evaluations, %.3g s\n", x.functions, plain.Evaluations, alone)
	x.free = true
	w = append(w, make([]float64, len(names))...)
	together, res := x.solve(w)
	fmt.Printf("with %s: %d evaluations, %.3g s, %v\n", os.Args[2], res.Evaluations, together, res.Status)
	for j, name := range names {
		fmt.Printf("%s = %.4g, truth %.4g\n", name, x.start[j]*math.Exp(w[x.functions+j]), truth[j])
	}
	fmt.Printf("with its solve for weights before it, %.1f of the latter, or %.1f predictions\n", (alone+together)/alone, (prediction+together)/prediction)
}

// prepare sets the rows over the basis: residuals at so many points, all for 0. Their scale is what the prediction leaves of them, but
// as little as a thousandth of their rates.
func (x *joint) prepare(sys *pde.System, count int, field []float64) {
	for k, set := range sys.Sets {
		points := set.Solved
		if k < len(sys.Problem.Residuals) && count > 0 && count < len(points) {
			points = nil
			for i := range count {
				points = append(points, set.Solved[i*len(set.Solved)/count])
			}
		}
		r := &rows{RowValues: sys.NewRowValues(set, points), basis: make([][][]float64, len(set.Terms))}
		if program := must(sys.InputSlopes(set)); program != nil {
			r.slopes, r.out = program.Evaluator(), make([][]float64, program.Outputs())
			for i := range r.out {
				r.out[i] = make([]float64, len(points))
			}
		}
		gatherer := sys.NewGatherer(nil)
		for _, f := range x.basis {
			grid.Gather(gatherer, f, 1, []grid.Rows[float64]{r.Terms})
			for t, z := range r.Terms.Values {
				r.basis[t] = append(r.basis[t], slices.Clone(z))
			}
		}
		left := dataset.RootMeanSquare(r.Eval(0, field, x.sample)[0])
		r.scale = 1 / max(left, 1e-9)
		if len(points) > 0 {
			x.rows = append(x.rows, r)
		}
	}
}

func (x *joint) solve(w []float64) (seconds float64, res lm.Result) {
	start := slices.Clone(w)
	seconds = math.Inf(1)
	for range 20 {
		copy(w, start)
		begin := time.Now()
		res = lm.NewSolver(len(w), lm.Options{}).Solve(x, w)
		seconds = min(seconds, time.Since(begin).Seconds())
	}
	return seconds, res
}
