package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "example.com/pihc-go/conv"
	_ "example.com/pihc-go/router"
	_ "example.com/pihc-go/solver"
	"pihc/experiment"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: go run . SPEC DIR [KEY=VALUE...]")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, spec, dir string, overrides []string) error {
	x, err := experiment.Open(spec, overrides...)
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	if _, err := x.Generate(ctx, data, experiment.Options{}); err != nil {
		return err
	}
	r, err := x.Train(ctx, filepath.Join(dir, "run"), data, experiment.Options{})
	if err != nil {
		return err
	}
	set, err := r.Dataset("")
	if err != nil {
		return err
	}
	grid, err := r.Grid(experiment.Evaluation{})
	if err != nil {
		return err
	}
	first, err := experiment.LoadSamples(set, "test", r.Problem, grid, 1)
	if err != nil {
		return err
	}
	u, err := r.Predict(ctx, first.Inputs, experiment.PredictOptions{})
	if err != nil {
		return err
	}
	for _, w := range u.Warnings {
		log.Print("warning: ", w)
	}
	return u.Write(filepath.Join(dir, "u.npz"))
}
