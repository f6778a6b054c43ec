package router

import (
	"slices"
	"testing"

	"pihc/constraint"
	"pihc/engine"
	"pihc/engine/enginetest"
	"pihc/experiment"
	"pihc/grid"
	"pihc/train"

	"example.com/pihc-go/internal/trial"
)

// The suite of engines: solves of these subdomains have the right gradient, jumps are those at their borders, and rows
// that cross them are weighed.
func TestEngine(t *testing.T) {
	enginetest.RunCPU(t, "constraint.router=parabolas", "constraint.experts={x: 2}")
}

// A spec chooses the router by its name. A short training lowers the loss, and the prediction has at every point the
// field of the expert that owns it.
func TestTraining(t *testing.T) {
	run, first, last := trial.Train(t, "diffusion-sorption-demo", "training.steps=30",
		"network={width: 8, layers: 2, basis: 6, modes: {t: 4, x: 6}, initial_scale: 0.2}",
		"constraint={router: parabolas, experts: {x: 3}, points: 100, start: 0.3}")
	if !(last < first) {
		t.Errorf("the residual of validation samples goes from %g to %g", first, last)
	}
	g, err := run.Problem.Grid(run.Spec.Grid)
	if err != nil {
		t.Fatal(err)
	}
	router, err := newParabolas(g, []int{1, 3})
	if err != nil {
		t.Fatal(err)
	}
	division, err := router.Divide(g)
	if err != nil {
		t.Fatal(err)
	}
	assembled := predict(t, run, nil) // the router of the spec
	for expert := range router.Experts() {
		field, own := predict(t, run, alone{router, int32(expert)}), division.Points(expert)
		if len(own) == 0 || slices.Equal(field, assembled) {
			t.Errorf("expert %d owns %d points, and has the field of all", expert, len(own))
		}
		for _, p := range own {
			if assembled[p] != field[p] {
				t.Fatalf("point %d of expert %d: %g, and the expert has %g", p, expert, assembled[p], field[p])
			}
		}
	}
}

// predict returns the field of a run for one sample, with another router.
func predict(t *testing.T, run *experiment.Run, router constraint.Router) (field []float64) {
	t.Helper()
	params, _, err := train.LoadParams[float32](run.Dir, run.Spec, run.Problem, train.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := run.Grid(experiment.Evaluation{})
	if err != nil {
		t.Fatal(err)
	}
	inputs, _, err := (&experiment.Experiment{Spec: run.Spec, Problem: run.Problem}).StatedInputs(g, []float64{0.5})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New[float32](run.Spec, run.Problem, engine.Options{Router: router})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Predict(params, engine.Batch{Inputs: inputs, Seeds: train.EvaluationSeeds(1)}, func(_ int, p *engine.Prediction) error {
		field = slices.Clone(p.Field)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return field
}

// alone is a router whose one expert owns all points, so that its field is predicted everywhere. Every expert has the
// rows that it has otherwise.
type alone struct {
	constraint.Router
	expert int32
}

func (r alone) Divide(g *grid.Grid) (*constraint.Division, error) {
	d, err := r.Router.Divide(g)
	if err != nil {
		return nil, err
	}
	for k := range r.Experts() {
		d.Rows = append(d.Rows, d.Points(k))
	}
	for p := range d.Owner {
		d.Owner[p] = r.expert
	}
	return d, nil
}

// A border is where it is on every grid, and experts along time are refused.
func TestDivide(t *testing.T) {
	coarse := &grid.Grid{Axes: []grid.Axis{{Name: "t", Hi: 4, Points: 5, Boundary: grid.Nodes}, {Name: "x", Hi: 1, Points: 10, Boundary: grid.Nodes}}}
	fine := &grid.Grid{Axes: slices.Clone(coarse.Axes)}
	fine.Axes[0].Points, fine.Axes[1].Points = 9, 19
	router, err := newParabolas(coarse, []int{1, 3})
	if err != nil {
		t.Fatal(err)
	}
	a, err := router.Divide(coarse)
	if err != nil {
		t.Fatal(err)
	}
	b, err := router.Divide(fine)
	if err != nil {
		t.Fatal(err)
	}
	for p, owner := range a.Owner {
		if same := b.Owner[p/10*2*19+p%10*2]; same != owner {
			t.Errorf("point %d is of expert %d, and of %d on the finer grid", p, owner, same)
		}
	}
	if _, err := newParabolas(coarse, []int{2, 3}); err == nil {
		t.Error("experts along time are accepted")
	}
}
