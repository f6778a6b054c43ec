package pihc_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"pihc/data"
	"pihc/engine"
	"pihc/model"
	"pihc/pde"
	"pihc/train"
)

// A whole experiment at toy size: a spec, its dataset, a few steps of training,
// and a prediction for a new initial condition.
func Example() {
	spec, err := model.LoadSpec("toy.yaml", []byte(`
version: 1
problem: diffusion-sorption
method: moe
grid: {t: 11, x: 32}
network: {width: 8, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4, initial_scale: 0.2}
constraint: {experts: {x: 2}, points: 50}
training: {steps: 20, batch: 2, validate: 10}
data: {train: {count: 16, seed: 1}, validation: {count: 2, seed: 2}, test: {count: 2, seed: 3}}
`))
	if err != nil {
		log.Fatal(err)
	}
	problem, err := pde.Open(spec.Problem)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pihc-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	// Initial conditions for training; solutions for validation and test alone.
	plan, err := model.DatasetPlan(spec, problem, 1)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := data.Generate(ctx, filepath.Join(dir, "data"), plan, nil); err != nil {
		log.Fatal(err)
	}
	set, err := data.Open(filepath.Join(dir, "data"))
	if err != nil {
		log.Fatal(err)
	}

	run := filepath.Join(dir, "run")
	summary, err := train.Run(ctx, run, spec, problem, set, train.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("trained", summary.Steps, "steps")

	// The best parameters so far, and the experts' borders they were trained with.
	params, checkpoint, err := train.LoadParams[float32](run, spec, problem, train.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	runner, err := engine.NewEngine[float32](spec, problem, engine.EngineOptions{Borders: checkpoint.Borders})
	if err != nil {
		log.Fatal(err)
	}
	defer runner.Close()
	initial := make([]float64, 32) // u = 0.1 everywhere
	for i := range initial {
		initial[i] = 0.1
	}
	batch := engine.Batch{Initial: [][]float64{initial}, Seeds: nil}
	batch.Seeds = append(batch.Seeds, train.EvaluationSeed(0))
	err = runner.Predict(params, batch, func(i int, p *engine.Prediction) error {
		fmt.Println("field of", len(p.Field), "values from", len(p.Experts), "experts")
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// trained 20 steps
	// field of 352 values from 2 experts
}
