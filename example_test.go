package pihc_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"pihc/experiment"
)

const toy = `
defaults: paper
problem: diffusion-sorption
method: moe
grid: {t: 11, x: 32}
network: {width: 8, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4, initial_scale: 0.2}
constraint: {experts: {x: 2}, points: 50}
training: {steps: 20, batch: 2, validate: 10}
data: {train: {count: 16, seed: 1}, validation: {count: 2, seed: 2}, test: {count: 2, seed: 3}}
`

// A whole experiment at toy size: a spec, its dataset, a few steps of training,
// a prediction for a new initial condition, and the scores of the test samples.
func Example() {
	dir, err := os.MkdirTemp("", "pihc-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	spec, data := filepath.Join(dir, "toy.yaml"), filepath.Join(dir, "data")
	if err := os.WriteFile(spec, []byte(toy), 0o666); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	x, err := experiment.Open(spec, "seed=7")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := x.Generate(ctx, data, experiment.Options{}); err != nil {
		log.Fatal(err)
	}
	run, err := x.Train(ctx, filepath.Join(dir, "run"), data, experiment.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("trained", run.Summary.Steps, "steps")
	initial := make([]float64, 32) // u = 0.1 everywhere
	for i := range initial {
		initial[i] = 0.1
	}
	p, err := run.Predict(ctx, [][]float64{initial}, experiment.PredictOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Unknowns[0], "has", len(p.Fields[0]), "values on", p.Grid.Shape())
	m, err := run.Score(ctx, experiment.ScoreOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("scored", m.Samples, "samples; mean error below 1:", m.RelativeL2.Mean < 1)
	// Output:
	// trained 20 steps
	// u has 352 values on [11 32]
	// scored 2 samples; mean error below 1: true
}
