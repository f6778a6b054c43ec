// Hardness measures where the residual of trained runs is (docs/evidence/experts.md): at rows that the solve saw, at rows that it
// did not, and at rows whose stencils cross borders of experts; and what is left of it, and of the error, where the fields of
// neighbouring experts are blended over a width around their borders: go run ./docs/runs/hardness SAMPLES RUN...
//
// Runs of all methods are of one system with one unknown, one residual, one pass, and experts along its last axis. PI-SC and PI-HC have
// their rows told apart by the borders that the spec gives experts. A line is CSV: run, method, seed, what, width (cells on either side
// of a border, 0: as it is), the parts of the rows, and root mean squares of the residual over the rate of the solution, in percent; and the relative L2
// error, in percent.
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"pihc/compute"
	"pihc/constraint"
	"pihc/engine"
	"pihc/experiment"
	"pihc/grid"
	"pihc/model"
	"pihc/pde"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// parts of the rows, in the order of the columns.
const (
	all = iota
	seen
	unseen
	crossing
	kinds
)

// sum is of one width over samples: per part the rows, and the sums of squares of the residual over its rate; and the errors.
type sum struct {
	rows    [kinds]int
	squares [kinds]float64
	errors  float64
}

func main() {
	log.SetFlags(0)
	samples := must(strconv.Atoi(os.Args[1]))
	fmt.Println("run,method,seed,width,seen_rows,unseen_rows,crossing_rows,residual,residual_seen,residual_unseen,residual_crossing,error")
	for _, dir := range os.Args[2:] {
		measure(dir, samples)
	}
}

func measure(dir string, samples int) {
	run := must(experiment.OpenRun(dir))
	spec, p := run.Spec, run.Problem
	g := must(p.Grid(spec.Grid))
	if spec.Network.Passes > 1 || len(p.Unknowns) > 1 || len(p.Residuals) > 1 {
		log.Fatalf("%s: want one pass, one unknown and one residual", dir)
	}
	predictor := must(run.Open(experiment.Evaluation{Options: experiment.Options{Workers: 1}}))
	defer predictor.Close()
	set := must(run.Dataset(""))
	data := must(experiment.LoadSamples(set, "test", p, g, samples))
	sys := must(p.Discretize(g))
	plain := must(sys.NewPlainResidual())
	pool := compute.NewPool(1)
	options := must(spec.Options(p))
	c := must(constraint.New(sys, spec.Network.Basis, options, nil, pool))
	if spec.Method == model.Soft {
		c = must(constraint.New(sys, 1, options, nil, pool))
	}
	divided := *spec
	divided.Method = model.MoE
	experts := must(divided.Options(p))
	experts.Fixed = true
	borders := must(constraint.New(sys, 1, experts, nil, pool))
	crosses, rows := borders.Crossing()[0], sys.NewRowValues(sys.Residuals()[0], sys.Residuals()[0].Points)

	widths := []int{0}
	if spec.Method == model.MoE {
		widths = []int{0, 1, 2, 4, 8, 16}
	}
	sums := make([]sum, len(widths))
	memory := c.NewWorkspace()
	for i, inputs := range data.Inputs {
		truth := slices.Clone(must(data.Truth(i)))
		batch := engine.Batch{Inputs: data.Inputs[i : i+1], Seeds: data.Seeds[i : i+1]}
		var field []float64
		if err := predictor.Predict(batch, func(_ int, x *engine.Prediction) error { field = slices.Clone(x.Field); return nil }); err != nil {
			log.Fatal(err)
		}
		overlap := 0.0
		if options.Overlap {
			overlap = spec.Constraint.Overlap.At(1)
		}
		basis := memoryOf(predictor, c.Functions*g.Size())
		x := memory.Assemble(constraint.Input[float64]{Basis: basis, Sample: inputs, Seed: data.Seeds[i], Overlap: overlap}).Solve()
		if d := grid.RelativeL2(x.Field(), field, 1); d > 1e-6 {
			log.Fatalf("%s: solved again, the field of sample %d differs by %g", dir, i, d)
		}
		drawn := make([]bool, g.Size())
		if spec.Method != model.Soft {
			for k := range x.Experts() {
				points := c.Points(sys.Residuals()[0], k)
				if options.Points > 0 {
					c.SamplePoints(points, make([]int32, len(points)), 0, k, overlap, data.Seeds[i])
				}
				for _, q := range points {
					drawn[q] = true
				}
			}
		}
		_, rate := plain.RMS(truth, inputs)
		for w, width := range widths {
			u := field
			if width > 0 {
				u = blended(c, sys, x, basis, inputs, g, width)
			}
			sums[w].errors += grid.RelativeL2(u, truth, 1)
			own, _ := plain.RMS(u, inputs)
			r := rows.Eval(0, u, inputs)[0]
			total := 0.0
			for _, v := range r {
				total += v * v
			}
			scale := own[0] / rate[0] / math.Sqrt(total/float64(len(r))) // rows without weights, over the rate
			for j, v := range r {
				kind := unseen
				if crosses[j] {
					kind = crossing
				} else if drawn[rows.Points[j]] {
					kind = seen
				}
				for _, k := range []int{all, kind} {
					sums[w].rows[k]++
					sums[w].squares[k] += scale * scale * v * v
				}
			}
		}
	}
	for w, s := range sums {
		fmt.Printf("%s,%s,%d,%d", filepath.Base(dir), spec.Method, spec.Seed, widths[w])
		for k := seen; k < kinds; k++ {
			fmt.Printf(",%.4g", float64(s.rows[k])/float64(s.rows[all]))
		}
		for k := range kinds {
			if s.rows[k] == 0 {
				fmt.Print(",")
				continue
			}
			fmt.Printf(",%.4g", 100*math.Sqrt(s.squares[k]/float64(s.rows[k])))
		}
		fmt.Printf(",%.4g\n", 100*s.errors/float64(len(data.Inputs)))
	}
}

// memoryOf is the basis of the last sample, which is still in the memory of the engine.
func memoryOf(predictor experiment.Predictor, size int) []float64 {
	memory := reflect.ValueOf(predictor).Elem().FieldByName("engine").Elem().Elem().FieldByName("basis")
	basis := make([]float64, size)
	for i := range basis {
		basis[i] = memory.Index(i).Float()
	}
	return basis
}

// blended is the field where that of an expert goes over into its neighbour's within so many cells on either side of their border, along the
// last axis, by a cubic that begins and ends without a slope.
func blended(c *constraint.Constraint, sys *pde.System, x constraint.Solution, basis, inputs []float64, g *grid.Grid, width int) []float64 {
	size, line := g.Size(), g.Axes[len(g.Axes)-1].Points
	offset := make([]float64, size)
	sys.Offset(offset, inputs)
	mu := sys.Multiplier()
	of := func(k, q int) float64 {
		v := 0.0
		for n, w := range x.Weights(k) {
			v += w * basis[n*size+q]
		}
		if mu != nil {
			v *= mu[q]
		}
		return v + offset[q]
	}
	u := make([]float64, size)
	for q := range u {
		own := c.Expert(q)
		u[q] = of(own, q)
		for _, way := range []int{-1, 1} {
			for d := 1; d <= width; d++ { // the neighbour's first point is d cells away, their border d - 1/2
				next := q%line + way*d
				if next < 0 || next >= line {
					break
				}
				if k := c.Expert(q + way*d); k != own {
					s := (float64(d)-0.5)/float64(width)/2 + 0.5 // 1/2 at the border, 1 at the end
					s = s * s * (3 - 2*s)
					u[q] += (1 - s) * (of(k, q) - u[q])
					break
				}
			}
		}
	}
	return u
}
