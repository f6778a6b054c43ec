// Package trial trains an experiment at toy size, for the tests of the packages beside it.
package trial

import (
	"context"
	"testing"

	"pihc/experiment"
)

// Train generates the data of a spec and trains on it for a few steps. It returns the run, and the residual of
// validation samples before and after.
func Train(t *testing.T, spec string, overrides ...string) (run *experiment.Run, first, last float64) {
	t.Helper()
	x, err := experiment.Open(spec, append([]string{
		"grid={t: 21, x: 32}", "constraint.points=100", "training.validate=10", "training.validate_count=2",
		"data.train.count=16", "data.validation.count=2", "data.test.count=1",
	}, overrides...)...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, data, dir := context.Background(), t.TempDir(), t.TempDir()
	if _, err := x.Generate(ctx, data, experiment.Options{}); err != nil {
		t.Fatal(err)
	}
	if run, err = x.Train(ctx, dir, data, experiment.Options{}); err != nil {
		t.Fatal(err)
	}
	log, err := run.Log()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range log {
		if v := r.ValidationResidual; v != nil {
			t.Logf("step %d: residual %.3g", r.Step, *v)
			if last = float64(*v); first == 0 {
				first = last
			}
		}
	}
	return run, first, last
}
