// Controls measures iterated predictions over their number of passes, one sample at a time on one thread (docs/evidence/paper.md): the
// relative L2 error, and the processor time of a prediction: go run ./docs/runs/controls SAMPLES FOLDER SEED [ARM...]. FOLDER has runs
// navier-stokes-demo-{soft,corrections,hard,moe,untrained}-SEED, untrained being PI-HC after one step of a rate of 1e-12, corrections that from PI-SC (--from, network.basis=1): least
// squares over what PI-SC's network proposed in a pass and what the passes before added. Arm "rows" needs no network: the same rows on the same grid are solved by
// Newton's method and GMRES to rounding (internal/discrete), and "classical" is the solver of the dataset on this grid. A line is CSV.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"pihc/engine"
	"pihc/experiment"
	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/machine"
	"pihc/model"
	"pihc/score"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

var passes = []int{1, 2, 4, 7, 12, 24, 40, 100}

const problem = "navier-stokes-demo"

func main() {
	log.SetFlags(0)
	samples, folder, seed := must(strconv.Atoi(os.Args[1])), os.Args[2], os.Args[3]
	fmt.Println("arm,seed,passes,samples,mean,worst,seconds")
	arms := []string{"soft", "corrections", "hard", "moe", "untrained"}
	if len(os.Args) > 4 {
		arms = os.Args[4:]
	}
	for _, arm := range arms {
		run := must(experiment.OpenRun(filepath.Join(folder, fmt.Sprintf("%s-%s-%s", problem, arm, seed))))
		_, data := load(run, samples)
		for _, n := range passes {
			predictor := must(run.Open(experiment.Evaluation{Passes: model.Passes(n), Options: experiment.Options{Workers: 1}}))
			report(arm, seed, n, data, func(i int) (field []float64) {
				batch := engine.Batch{Inputs: data.Inputs[i : i+1], Seeds: data.Seeds[i : i+1]}
				if err := predictor.Predict(batch, func(_ int, x *engine.Prediction) error { field = slices.Clone(x.Field); return nil }); err != nil {
					log.Fatal(err)
				}
				return field
			})
			predictor.Close()
		}
	}
	run := must(experiment.OpenRun(filepath.Join(folder, fmt.Sprintf("%s-hard-%s", problem, seed))))
	g, data := load(run, samples)
	solver := must(discrete.New(run.Problem, g, slices.Repeat([]int{1}, len(g.Axes))))
	field := make([]float64, g.Size())
	report("rows", seed, 0, data, func(i int) []float64 {
		must(solver.Solve(field, data.Inputs[i]))
		return field
	})
	reference := must(dataset.ReferenceSolver(run.Problem, g))
	report("classical", seed, 0, data, func(i int) []float64 {
		must(reference.Solve(field, data.Inputs[i]))
		return field
	})
}

func load(run *experiment.Run, samples int) (*grid.Grid, score.Samples) {
	g := must(run.Problem.Grid(run.Spec.Grid))
	return g, must(experiment.LoadSamples(must(run.Dataset("")), "test", run.Problem, g, samples))
}

// report scores one way to predict. The first prediction is made twice, and the second is timed.
func report(arm, seed string, passes int, data score.Samples, predict func(i int) []float64) {
	predict(0)
	mean, worst, seconds := 0.0, 0.0, 0.0
	for i := range data.Inputs {
		begin := machine.CPUSeconds()
		field := predict(i)
		seconds += machine.CPUSeconds() - begin
		e := grid.RelativeL2(field, must(data.Truth(i)), 1)
		mean, worst = mean+e, max(worst, e)
	}
	n := float64(len(data.Inputs))
	fmt.Printf("%s,%s,%d,%d,%.4g,%.4g,%.3g\n", arm, seed, passes, len(data.Inputs), mean/n, worst, seconds/n)
}
