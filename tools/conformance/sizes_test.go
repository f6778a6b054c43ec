//go:build unix

package conformance

import (
	"fmt"
	"slices"
	"strings"

	"pihc/experiment"
	"pihc/model"
)

// sizes are overrides that make a run of a spec take a fraction of a second: those of its dataset, and the others. What else
// the spec says stays, so that every problem has its own rows, loss, features, passes and evaluation.
func sizes(spec string) (ofData, further []string, err error) {
	x, err := experiment.Open(spec)
	if err != nil {
		return nil, nil, err
	}
	axes := x.Problem.Axes
	var points, modes, finer, coarser []string
	for i, a := range axes {
		n := 48
		switch {
		case len(axes) > 2 && i == 0:
			n = 9
		case len(axes) > 2:
			n = 10
		case i == 0, axes[0].Name != "t":
			n = 17
		case nameOf(spec) == "burgers":
			n = 128 // its fronts have no solution on fewer
		}
		points = append(points, fmt.Sprintf("%s: %d", a.Name, n))
		modes = append(modes, fmt.Sprintf("%s: 3", a.Name))
		if i > 0 {
			finer, coarser = append(finer, fmt.Sprintf("%s: %d", a.Name, 2*n)), append(coarser, fmt.Sprintf("%s: %d", a.Name, 3*n/5))
		}
	}
	braces := func(list []string) string { return "{" + strings.Join(list, ", ") + "}" }
	ofData = []string{
		"grid=" + braces(points), "data.train.count=4", "data.validation.count=2", "data.test.count=2",
	}
	if len(x.Spec.Data.Test.Grids) > 0 {
		finer = append(finer, "samples: 1")
		ofData = append(ofData, "data.test.grids=["+braces(finer)+"]", "network.modes="+braces(modes))
	} else {
		further = append(further, "network.modes="+braces(modes))
	}
	further = append(further,
		"network.width=6", "network.layers=2", "network.projection=6", "network.basis=4",
		"training.steps=6", "training.batch=2", "training.validate=3", "training.validate_count=2", "training.checkpoint=3", "training.log=1",
		// Solves are taken to where rounding ends them: less would end by other iterations on other engines.
		"constraint.tolerance=1e-12", "constraint.cost_tolerance=0",
	)
	if slices.Contains([]string{"burgers", "wave"}, nameOf(spec)) { // one of each order in time
		further = append(further, "rollout=2")
	}
	if x.Spec.Constraint.Points > 0 {
		further = append(further, "constraint.points=40")
	}
	if len(x.Spec.Training.Stages) > 0 {
		further = append(further, "training.stages=[{steps: 2, grid: "+braces(coarser)+", points: 20}]")
	}
	e := x.Spec.Evaluation
	if e.Points != nil && *e.Points > 0 {
		further = append(further, "evaluation.points=50")
	}
	if e.Passes == model.AutoPasses {
		further = append(further, "evaluation.limit=5")
	}
	return ofData, further, nil
}

// flags are overrides as flags.
func flags(overrides ...[]string) (out []string) {
	for _, o := range slices.Concat(overrides...) {
		out = append(out, "--set", o)
	}
	return out
}
