package verdict

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pihc/experiment"
	"pihc/train"
)

// shares of a training after which it is looked at, in percent.
var shares = []int{1, 3, 10, 30, 100}

// spec is the path of a problem's spec: of the gallery, of testdata, or the name of a built-in one.
func spec(t *testing.T, problem string) string {
	if path := filepath.Join("..", "..", "examples", problem, "spec.yaml"); exists(path) {
		return path
	}
	own, err := filepath.Abs(filepath.Join("testdata", problem+".yaml"))
	if err != nil || !exists(own) {
		return problem
	}
	path := filepath.Join(t.TempDir(), "spec.yaml")
	text := fmt.Sprintf("defaults: fitted\nproblem: %q\nnetwork: {width: 16, layers: 3}\ntraining: {steps: 100}\ndata: {train: {count: 400, seed: 1}, validation: {count: 2, seed: 2}, test: {count: 8, seed: 3}}\n", own)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// trained trains a small network and calls visit with the run as it is after each share of the steps.
func trained(t *testing.T, c trial, visit func(share int, run string)) error {
	dir, steps := t.TempDir(), c.steps
	x, err := experiment.Open(spec(t, c.problem),
		"method="+c.method, "network.width=16", "network.layers=3", "data.train.count=400", "data.validation.count=2", fmt.Sprintf("data.test.count=%d", c.samples),
		fmt.Sprintf("training.steps=%d", steps), "training.batch=2", "training.log=1", fmt.Sprintf("training.validate=%d", steps), fmt.Sprintf("training.checkpoint=%d", steps))
	if err != nil {
		return err
	}
	set, run := filepath.Join(dir, "data"), filepath.Join(dir, "run")
	if _, err := x.Generate(t.Context(), set, experiment.Options{}); err != nil {
		return err
	}
	for _, share := range shares {
		until := max(1, steps*share/100)
		ctx, stop := context.WithCancel(t.Context())
		o := experiment.Options{Progress: func(p experiment.Progress) {
			if p.Total == steps && p.Done >= until && until < steps {
				stop() // at the end of the step
			}
		}}
		if share == shares[0] {
			_, err = x.Train(ctx, run, set, o)
		} else {
			_, err = experiment.Resume(ctx, run, "", 0, o)
		}
		if stop(); err != nil && !errors.Is(err, train.ErrInterrupted) {
			return err
		}
		visit(share, run)
	}
	return nil
}
