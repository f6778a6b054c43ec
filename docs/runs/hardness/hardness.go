// Hardness measures where the residual of trained runs is (docs/evidence/controls.md): at rows that the solve saw, at rows that it
// did not, and at rows whose stencils cross borders of experts, for several widths of evaluation.blend: go run ./docs/runs/hardness SAMPLES RUN...
//
// Runs of all methods are of one system with one unknown, one residual and one pass. PI-SC and PI-HC have their rows told apart by the
// borders that the spec gives experts. A line is CSV: run, method, seed, blend, the parts of the rows, and root mean squares of the
// residual over the rate of the solution, in percent; and the relative L2 error, in percent.
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"pihc/compute"
	"pihc/constraint"
	"pihc/engine"
	"pihc/experiment"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/model"
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

// sum is over samples: per part the rows, and the sums of squares of the residual over its rate; and the errors.
type sum struct {
	rows    [kinds]int
	squares [kinds]float64
	errors  float64
}

func main() {
	log.SetFlags(0)
	samples := must(strconv.Atoi(os.Args[1]))
	fmt.Println("run,method,seed,blend,seen_rows,unseen_rows,crossing_rows,residual,residual_seen,residual_unseen,residual_crossing,error")
	for _, dir := range os.Args[2:] {
		measure(dir, samples)
	}
}

// measure prints the lines of a run.
func measure(dir string, samples int) {
	run := must(experiment.OpenRun(dir))
	blends := []float64{0}
	if run.Spec.Method == model.MoE {
		blends = []float64{0, 0.03125, 0.0625, 0.125, 0.25, 0.5}
	}
	for _, blend := range blends {
		run.Spec.Evaluation.Blend = &blend
		s := score(run, samples)
		fmt.Printf("%s,%s,%d,%g", filepath.Base(dir), run.Spec.Method, run.Spec.Seed, blend)
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
		fmt.Printf(",%.4g\n", 100*s.errors/float64(samples))
	}
}

// score sums up the first samples of the test split.
func score(run *experiment.Run, samples int) (s sum) {
	spec, p := run.Spec, run.Problem
	g := must(p.Grid(spec.Grid))
	if spec.Network.Passes > 1 || len(p.Unknowns) > 1 || len(p.Residuals) > 1 {
		log.Fatalf("%s: want one pass, one unknown and one residual", run.Dir)
	}
	predictor := must(run.Open(experiment.Evaluation{Options: experiment.Options{Workers: 1}}))
	defer predictor.Close()
	data := must(experiment.LoadSamples(must(run.Dataset("")), "test", p, g, samples))
	sys := must(p.Discretize(g))
	plain := must(sys.NewPlainResidual())
	options := must(spec.Options(p))
	c := must(constraint.New(sys, spec.Outputs(), options, nil, compute.NewPool(1)))
	divided := *spec
	divided.Method = model.MoE
	borders := must(constraint.New(sys, spec.Outputs(), must(divided.Options(p)), nil, compute.NewPool(1)))
	set := sys.Residuals()[0]
	crosses, rows, overlap := borders.Crossing()[0], sys.NewRowValues(set, set.Points), 0.0
	if options.Overlap {
		overlap = spec.Constraint.Overlap.At(1)
	}
	err := predictor.Predict(engine.Batch{Inputs: data.Inputs, Seeds: data.Seeds}, func(i int, x *engine.Prediction) error {
		inputs, drawn := data.Inputs[i], make([]bool, g.Size())
		for k := range len(x.Experts) { // none of PI-SC
			points := c.Points(set, k)
			if options.Points > 0 {
				c.SamplePoints(points, make([]int32, len(points)), 0, k, overlap, data.Seeds[i])
			}
			for _, q := range points {
				drawn[q] = true
			}
		}
		truth, err := data.Truth(i)
		if err != nil {
			return err
		}
		s.errors += grid.RelativeL2(x.Field, truth, 1)
		_, rate := plain.RMS(truth, inputs)
		own, _ := plain.RMS(x.Field, inputs)
		r := rows.Eval(0, x.Field, inputs)[0]
		scale := own[0] / rate[0] / dataset.RootMeanSquare(r) // rows without weights, over the rate
		for j, v := range r {
			kind := unseen
			if crosses[j] {
				kind = crossing
			} else if drawn[set.Points[j]] {
				kind = seen
			}
			for _, k := range []int{all, kind} {
				s.rows[k]++
				s.squares[k] += scale * scale * v * v
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	return s
}
