package train

import (
	"strings"
	"testing"
)

// Parameters are read for the run's own problem, constants and network alone; how they are used may
// differ.
func TestOtherRun(t *testing.T) {
	e := newExperiment(t)
	dir, _ := e.train(t, Options{})
	load := func(e experiment) error {
		_, _, err := LoadParams[float32](dir, e.spec, e.problem, LoadOptions{})
		return err
	}
	for _, override := range []string{"method=hard", "constraint.points=7", "constraint.experts={}", "evaluation.points=9", "training.steps=3", "training.micro_batch=1"} {
		if err := load(e.with(t, override)); err != nil {
			t.Errorf("%s: %v", override, err)
		}
	}
	for override, want := range map[string]string{
		"network.initial_scale=2":                "network",
		"network.features={residual: 0.1}":       "network",
		"network.output_activation=true":         "network",
		"constants.D=0.3":                        "set of constants",
		"network.omit_coordinates=[x]":           "network",
		"network.modes={t: 2, x: 2}":             "network",
		"network={kind: ffno, basis: 3}":         "network",
		"network={initial_scale: 3, scales: {}}": "network",
	} {
		err := load(e.with(t, override))
		if err == nil || !strings.Contains(err.Error(), "trained with another "+want) {
			t.Errorf("%s: %v", override, err)
		}
	}
	again := e
	again.problem = renamed(t, "", "low: 0, high: 0.2", "low: 0, high: 0.3")
	err := load(again)
	oneLine(t, "another problem", err, "run "+dir+" was trained with another problem than the one given")
	again.spec = e.with(t, "constants.D=0.3").spec
	oneLine(t, "another problem and set of constants", load(again), "another problem and set of constants than")
}
