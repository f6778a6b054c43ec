// Package enginetest is the suite that every engine.Engine passes: what it says of
// itself, predictions, loss against rows evaluated plainly, gradient against central
// differences, passes, sums over samples, independence of workers and micro-batch,
// single precision against double, and stored results.
//
//	func TestEngine(t *testing.T) { enginetest.Run(t, constructors) }
//
// Only tests import it.
package enginetest

import (
	"embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pihc/compute"
	"pihc/constraint"
	"pihc/engine"
	"pihc/model"
	"pihc/pde"
)

// A Refusal is something that an engine does not run: it refuses it by an error that has
// these words.
type Refusal struct {
	Words string
	Of    func(s *model.Spec, p *pde.Problem) bool
}

// Factorised refuses factorised networks.
var Factorised = Refusal{"network.kind", func(s *model.Spec, _ *pde.Problem) bool { return s.Network.Kind == "ffno" }}

// Steady refuses steady problems.
var Steady = Refusal{"steady", func(_ *model.Spec, p *pde.Problem) bool { return p.Steady }}

// Propagated refuses fields by Duhamel's formula.
var Propagated = Refusal{"ansatz: duhamel", func(_ *model.Spec, p *pde.Problem) bool { return p.Unknowns[0].Ansatz.Duhamel }}

// Stepped refuses fields by Duhamel's formula with the linear part of rows.
var Stepped = Refusal{"ansatz: duhamel: rows", func(_ *model.Spec, p *pde.Problem) bool { return p.Unknowns[0].Ansatz.ByRows }}

// Integrated refuses bases that are integrated along time.
var Integrated = Refusal{"smooth along", func(_ *model.Spec, p *pde.Problem) bool {
	return !p.Steady && slices.ContainsFunc(p.Unknowns, func(u pde.Unknown) bool { return u.Ansatz.Smooth[p.Axes[0].Name] > 0 })
}}

// Run runs the suite, a subtest for each case and what is checked. With -short some
// cases are left out.
func Run(t *testing.T, c engine.Constructors, refusals ...Refusal) {
	for i := range cases {
		cases[i].run(t, c, checks, refusals, nil)
	}
}

// cpu is the engine of package engine.
var cpu = engine.Constructors{Float32: engine.New[float32], Float64: engine.New[float64]}

// RunCPU runs some cases on the engine "cpu" with a network or a decomposition that another module registers: by
// overrides of their specs, as --set has them, such as `network={kind: conv, width: 4}` or `constraint.router=mine`.
// Results are not compared with stored ones.
func RunCPU(t *testing.T, overrides ...string) {
	for _, k := range cases {
		if slices.Contains([]string{"soft", "moe", "borders", "passes moe"}, k.name) {
			k.run(t, cpu, checks[:len(checks)-2], nil, overrides)
		}
	}
}

// run runs checks of a case, unless it is refused as it should be.
func (k *testCase) run(t *testing.T, c engine.Constructors, checks []checked, refusals []Refusal, overrides []string) {
	t.Run(k.name, func(t *testing.T) {
		if testing.Short() && slices.Contains(repeats, k.name) {
			t.Skip("-short: other cases run the same")
		}
		s, err := k.open(c, overrides...)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := s.load(64)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range refusals {
			if !r.Of(spec, s.problem) {
				continue
			}
			if _, err := c.Float64(spec, s.problem, engine.Options{}); err == nil || !strings.Contains(err.Error(), r.Words) {
				t.Errorf("%v, want an error that says %q", err, r.Words)
			}
			return
		}
		for _, x := range checks {
			if spec.Rollout > 1 && slices.Contains(chained, x.name) {
				continue
			}
			t.Run(x.name, func(t *testing.T) {
				if err := x.run(s); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// A checked thing of a case.
type checked struct {
	name string
	run  func(s *setup) error
}

// checks is all that is checked of a case. Those of the engine alone, whatever network and decomposition, are last.
var checks = []checked{
	{"info", on(checkInfo)},
	{"prediction", on(checkPrediction)},
	{"blend", checkBlend},
	{"loss", on(checkLoss)},
	{"gradient", on(checkGradient)},
	{"ramps", checkRamps},
	{"passes", on(checkPasses)},
	{"sums", both(on(checkSums[float64]), on(checkSums[float32]))},
	{"repetition", both(on(checkRepetition[float64]), on(checkRepetition[float32]))},
	{"workers", both(checkWorkers[float64], checkWorkers[float32])},
	{"seeds", on(checkSeeds)},
	{"single precision", checkSingle},
	{"golden", checkGolden},
	{"steps", checkSteps},
}

// on is a check of the case's engine.
func on[T compute.Float](check func(s *setup, e engine.Engine[T], spec *model.Spec) error) func(s *setup) error {
	return func(s *setup) error {
		return with(s, engine.Options{}, func(e engine.Engine[T], spec *model.Spec) error { return check(s, e, spec) })
	}
}

func both(checks ...func(s *setup) error) func(s *setup) error {
	return func(s *setup) error {
		var all []error
		for i, f := range checks {
			if err := f(s); err != nil {
				all = append(all, fmt.Errorf("float%d: %w", 64>>i, err))
			}
		}
		return errors.Join(all...)
	}
}

//go:embed testdata/*.yaml
var problems embed.FS

// A testCase is an experiment at toy size.
type testCase struct {
	name, spec string
}

// Solves end only where they can get no better, so that differences see none of
// their tolerance.
const (
	adsorption = `
defaults: paper
problem: diffusion-sorption
grid: {t: 9, x: 24}
network: {width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4}
constraint: {experts: {x: 3}, points: 30, tolerance: 1e-13, cost_tolerance: 0, max_iterations: 300, start: 0.1}
loss: {form: FORM, border_jump: 0.5, border_slope: 0.3, weights: {initial: 2}}
training: {batch: 3, micro_batch: 2}
method: `
	borders = `
defaults: paper
problem: diffusion-sorption
grid: {t: 9, x: 24}
network: {width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4, last_activation: false, output_activation: true, initial_scale: 0.5}
constraint: {experts: {t: 2, x: 2}, points: 30, tolerance: 1e-13, cost_tolerance: 0, max_iterations: 300, start: 0.1, condition_rows: local, normalization: none, weights: {residual: 0.3},
  overlap: {start: 0.6, end: 0.2, from: 0.1, to: 0.8}}
loss: {border_rows: {start: 0.05, end: 0.4, from: 0.1, to: 0.9}, border_jump: 0.2, weights: {initial: 2, left: 3}}
training: {batch: 3, micro_batch: 2}
method: moe`
	features = `
defaults: paper
problem: burgers
grid: {t: 9, x: 24}
network: {width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4, omit_coordinates: [x], features: {u: 0.7, u_x: 3, residual: 0.5, mean_residual: 2}}
constraint: {experts: {x: 3}, points: 30, tolerance: 1e-13, cost_tolerance: 0, max_iterations: 300, repeat_initial: 2}
loss: {relative: true, border_rows: {start: 0.3, end: 0.3}, border_slope: 0.1}
training: {batch: 3, micro_batch: 2}
method: `
	flow = `
defaults: paper
problem: navier-stokes
grid: {t: 5, x: 6, y: 8}
network: {width: 5, layers: 2, modes: {t: 2, x: 2, y: 3}, projection: 6, basis: 3, omit_coordinates: [x, y], passes: 3,
  features: {w: 1.5, vel_x: 0.07, w_y: 4, residual: 0.2, mean_residual: 0.5}}
constraint: {experts: {x: 2}, points: 40, tolerance: 1e-13, cost_tolerance: 0, max_iterations: 300}
loss: {relative: true, border_jump: 0.3}
training: {batch: 3, micro_batch: 2}
method: `
)

const (
	inputs = `
defaults: paper
problem: inputs
grid: {t: 9, x: 24}
network: {width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4, initial_scale: 0.7, passes: 2, features: {u: 0.7, residual: 0.5, mean_residual: 2}}
constraint: {experts: {x: 2}, points: 30, tolerance: 1e-13, cost_tolerance: 0, max_iterations: 300, start: 0.1}
loss: {relative: true, border_jump: 0.2}
training: {batch: 3, micro_batch: 2}
method: `
	steady = `
defaults: paper
problem: steady
grid: {y: 9, x: 24}
network: {width: 6, layers: 2, modes: {y: 3, x: 3}, projection: 8, basis: 4}
constraint: {experts: {y: 2, x: 2}, points: 20, tolerance: 1e-13, cost_tolerance: 0, max_iterations: 300, start: 0.1}
loss: {relative: true, border_jump: 0.2, border_slope: 0.1}
training: {batch: 3, micro_batch: 2}
method: `
)

const (
	pair = `
defaults: paper
problem: pair
grid: {t: 9, x: 24}
network: {width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4, initial_scale: 0.7, scales: {v: 0.2}, passes: 2,
  features: {u: 0.7, v: 0.3, v_t: 2, activator: 0.5, inhibitor: 0.3, mean_inhibitor: 2}}
constraint: {experts: {x: 2}, points: 30, tolerance: 1e-13, cost_tolerance: 0, max_iterations: 300, start: 0.1, components: COMPONENTS, weights: {activator: 0.4},
  overlap: {start: 0.6, end: 0.2, from: 0.1, to: 0.8}}
loss: {relative: true, border_jump: 0.2, border_slope: 0.1, border_rows: {start: 0.3, end: 0.3}, weights: {inhibitor: 2}}
training: {batch: 3, micro_batch: 2}
method: `
	waves = `
defaults: paper
problem: waves
rollout: 3
grid: {t: 25, x: 16}
network: {width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4, initial_scale: 0.7}
constraint: {points: 30, tolerance: 1e-13, cost_tolerance: 0, max_iterations: 300}
loss: {relative: true}
training: {batch: 3, micro_batch: 2}
method: `
	propagated = `
defaults: paper
problem: propagated
grid: {t: 9, x: 8, y: 5}
network: {width: 5, layers: 2, modes: {t: 2, x: 2, y: 2}, projection: 6, basis: 3, initial_scale: 0.7, passes: 2, features: {u: 0.7, wave: 5, driven: 2}}
constraint: {experts: {x: 2}, points: 40, directions: 1, components: separate, tolerance: 1e-13, cost_tolerance: 0, max_iterations: 300}
loss: {relative: true, border_jump: 0.3}
training: {batch: 3, micro_batch: 2}
method: `
	convection = `
defaults: paper
problem: convection
grid: {t: 5, x: 6, y: 8}
network: {width: 5, layers: 2, modes: {t: 2, x: 2, y: 3}, projection: 6, basis: 3, omit_coordinates: [x, y], passes: 2,
  features: {w: 1.5, vel_x: 0.07, h_y: 4, flow: 0.2, mean_heat: 0.5}}
constraint: {experts: {x: 2}, points: 40, tolerance: 1e-13, cost_tolerance: 0, max_iterations: 300, components: COMPONENTS}
loss: {relative: true, border_jump: 0.3}
training: {batch: 3, micro_batch: 2}
method: `
)

const film = `
defaults: paper
problem: film
grid: {t: 9, x: 24}
network: {width: 6, layers: 2, modes: {t: 3, x: 3}, projection: 8, basis: 4, initial_scale: 0.7, scales: {v: 0.5}, passes: 2, features: {u: 0.7, film: 5, heat: 2}}
constraint: {experts: {t: 2}, points: 30, directions: 1, tolerance: 1e-13, cost_tolerance: 0, max_iterations: 300, start: 0.1, components: separate, weights: {film: 0.1, slope: 0.1, moment: 0.01, shear: 0.01}}
loss: {relative: true, border_jump: 0.2, weights: {value: 0.1, slope: 0.1, moment: 1e-3, shear: 1e-3}}
training: {batch: 3, micro_batch: 2}
method: `

var cases = []testCase{
	{"soft", replace(adsorption, "FORM", "mean-square") + "soft"},
	{"hard", replace(adsorption, "FORM", "mean-square") + "hard"},
	{"moe", replace(adsorption, "FORM", "mean-square") + "moe"},
	{"window moe", replace(replace(replace(adsorption, "FORM", "mean-square"), "t: 9", "t: 17"), "{batch", "{window: {t: [0, 250]}, batch") + "moe"},
	{"norm soft", replace(adsorption, "FORM", "norm") + "soft"},
	{"norm moe", replace(adsorption, "FORM", "norm") + "moe"},
	{"published", replace(replace(adsorption, "FORM", "norm"), "diffusion-sorption", "diffusion-sorption-published") + "moe"},
	{"borders", borders},
	{"all rows", replace(borders, "points: 30", "points: 0")},
	{"diagonal", replace(borders, "{t: 2, x: 2}, points: 30", "{x: 3}, router: enginetest-diagonal, points: 15")},
	{"overlapping pair moe", replace(replace(pair, "COMPONENTS", "separate"), "constraint: {", "constraint: {router: enginetest-overlapping, ") + "moe"},
	{"features hard", features + "hard"},
	{"features moe", features + "moe"},
	{"passes soft", flow + "soft"},
	{"passes hard", flow + "hard"},
	{"passes moe", flow + "moe"},
	{"directions hard", replace(flow, "constraint: {", "constraint: {directions: 1, ") + "hard"},
	{"directions moe", replace(flow, "constraint: {", "constraint: {directions: 2, ") + "moe"},
	{"directions separate pair moe", replace(replace(replace(pair, "COMPONENTS", "separate"), "constraint: {", "constraint: {directions: 2, "), "passes: 2", "passes: 3") + "moe"},
	{"inputs soft", inputs + "soft"},
	{"inputs hard", inputs + "hard"},
	{"inputs moe", inputs + "moe"},
	{"layered hard", replace(replace(inputs, "problem: inputs", "problem: layered"), ", passes: 2, features: {u: 0.7, residual: 0.5, mean_residual: 2}", "") + "hard"},
	{"resting moe", replace(replace(inputs, "problem: inputs", "problem: resting"), "relative: true, ", "") + "moe"},
	{"steady rows moe", replace(replace(steady, "problem: steady", "problem: steady-rows"), "basis: 4}", "basis: 4, initial_scale: 0.7, scales: {v: 0.5}, passes: 2, features: {u: 0.7, heat: 2}}") + "moe"},
	{"steady soft", steady + "soft"},
	{"steady hard", steady + "hard"},
	{"steady moe", steady + "moe"},
	{"film soft", replace(film, "directions: 1, ", "") + "soft"},
	{"film moe", film + "moe"},
	{"plate hard", replace(replace(steady, "problem: steady", "problem: plate"), "{y: 2, x: 2}", "{}") + "hard"},
	{"pair soft", replace(pair, "COMPONENTS", "tied") + "soft"},
	{"pair hard", replace(pair, "COMPONENTS", "tied") + "hard"},
	{"pair moe", replace(pair, "COMPONENTS", "tied") + "moe"},
	{"separate pair hard", replace(pair, "COMPONENTS", "separate") + "hard"},
	{"separate pair moe", replace(pair, "COMPONENTS", "separate") + "moe"},
	{"centred pair soft", replace(replace(pair, "COMPONENTS", "tied"), "scales: {v: 0.2}", "scales: {v: 0.2}, centers: {u: 0.4, v: -0.3}") + "soft"},
	{"supervised pair moe", replace(replace(pair, "COMPONENTS", "tied"), "loss: {", "loss: {data: 0.7, ") + "moe"},
	{"convection moe", replace(convection, "COMPONENTS", "tied") + "moe"},
	{"separate convection moe", replace(convection, "COMPONENTS", "separate") + "moe"},
	{"factorised hard", replace(replace(adsorption, "FORM", "mean-square"), "{width", "{kind: ffno, expansion: 2, width") + "hard"},
	{"factorised passes moe", replace(flow, "{width", "{kind: ffno, expansion: 2, shared_weights: true, width") + "moe"},
	{"rollout moe", replace(features, "grid: {t: 9", "rollout: 3\ngrid: {t: 25") + "moe"},
	{"rollout borders", replace(borders, "grid: {t: 9", "rollout: 3\ngrid: {t: 25")}, // ends of segments with the overlap of training
	{"rollout waves hard", waves + "hard"},
	{"integrated moe", replace(replace(waves, "problem: waves\nrollout: 3\ngrid: {t: 25", "problem: integrated\ngrid: {t: 9"), "{points: 30", "{experts: {x: 2}, points: 30") + "moe"},
	{"propagated moe", propagated + "moe"},
	{"mirrored moe", replace(replace(propagated, "problem: propagated\ngrid: {t: 9, x: 8", "problem: mirrored\ngrid: {t: 9, x: 7"), "features: {u: 0.7, wave: 5, driven: 2}", "features: {u: 0.7, wave: 5}") + "moe"},
	{"stepped moe", replace(replace(propagated, "problem: propagated\ngrid: {t: 9, x: 8", "problem: stepped\ngrid: {t: 9, x: 9"), "features: {u: 0.7, wave: 5, driven: 2}", "features: {u: 0.7, wave: 5}") + "moe"},
}

// chained are the checks that are not of segments one after another: the loss of training is the mean of theirs, not that of the whole
// field, and a field that is given says what they begin with.
var chained = []string{"loss", "passes"}

// repeats are cases that -short leaves out: what they run, others run too.
var repeats = []string{
	"norm moe", "borders", "features hard", "passes hard", "directions hard", "inputs soft", "inputs hard", "steady soft", "steady hard", "pair soft", "pair hard", "pair moe", "separate pair hard", "separate pair moe", "convection moe", "mirrored moe",
}

// setup is a case ready for its checks.
type setup struct {
	*testCase
	overrides []string
	make      engine.Constructors
	problem   *pde.Problem
	system    *pde.System
	batch     engine.Batch
}

// samples is the number of samples of a case: one micro-batch and a part of one.
const samples = 3

func (k *testCase) open(c engine.Constructors, overrides ...string) (*setup, error) {
	s := &setup{testCase: k, make: c, overrides: overrides}
	spec, err := s.load(64)
	if err != nil {
		return nil, err
	}
	if text, missing := problems.ReadFile("testdata/" + spec.Problem + ".yaml"); missing == nil {
		s.problem, err = pde.Load(spec.Problem+".yaml", text)
	} else {
		s.problem, err = pde.Open(spec.Problem)
	}
	if err != nil {
		return nil, err
	}
	stages, err := spec.Stages(s.problem)
	if err != nil {
		return nil, err
	}
	g := stages[len(stages)-1].Grid
	if s.system, err = s.problem.Discretize(g); err != nil {
		return nil, err
	}
	// Smooth initial conditions away from u = 0, where the sorption has no
	// derivative; of a vorticity without a mean.
	mean := 0.4
	if s.problem.NeedsZeroMean(0) {
		mean = 0
	}
	s.batch.Progress = 0.3
	strides := g.Strides()
	for i := range samples {
		u0 := make([]float64, s.system.InputSize())
		for p := range u0 {
			u0[p] = mean * (1 + 0.25*float64(i))
			for a, axis := range g.Axes[1:] {
				x := float64(p/strides[1+a]%axis.Points) / float64(axis.Points)
				u0[p] += 0.05 * float64(1+a) * math.Sin(2*math.Pi*float64(1+(i+a)%2)*x+float64(i))
			}
		}
		if !s.problem.OnlyInitial() {
			s.drawInputs(u0, i)
		}
		s.batch.Inputs = append(s.batch.Inputs, u0)
		if spec.Loss.Data != 0 {
			truth := make([]float64, s.system.FieldSize())
			for p := range truth {
				truth[p] = 0.5 + 0.3*math.Sin(float64(p+7*i))
			}
			s.batch.Truth = append(s.batch.Truth, truth)
		}
		s.batch.Seeds = append(s.batch.Seeds, constraint.Seed{Run: 1, Step: 2, Sample: uint64(i)})
	}
	return s, nil
}

// drawInputs writes inputs of a sample in the units of their distributions: fields of one
// wave, so that their neighbours differ.
func (s *setup) drawInputs(sample []float64, seed int) {
	for k, in := range s.system.Inputs {
		v := in.Of(sample)
		for p := range v {
			v[p] = 0.6 + 0.1*float64(k) + 0.3*math.Sin(float64(1+k+seed)+7*float64(p)/float64(len(v)))
		}
		in.Sampler.Positive = ""
		in.Sampler.Transform(v)
	}
	for c, u := range s.problem.Unknowns {
		if u.Initial >= 0 && s.problem.NeedsZeroMean(c) {
			removeMean(s.system.Inputs[u.Initial].Of(sample))
		}
	}
}

func removeMean(v []float64) {
	mean := 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for i := range v {
		v[i] -= mean
	}
}

// load reads the spec for a precision of so many bits, with the overrides of the setup before others.
func (s *setup) load(bits int, overrides ...string) (*model.Spec, error) {
	return model.LoadSpec(s.name, []byte(s.spec), slices.Concat(s.overrides, overrides, []string{fmt.Sprintf("network.precision=float%d", bits)})...)
}

// with calls f with an engine of the case's spec, overridden.
func with[T compute.Float](s *setup, o engine.Options, f func(e engine.Engine[T], spec *model.Spec) error, overrides ...string) error {
	spec, err := s.load(bits[T](), overrides...)
	if err != nil {
		return err
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	if o.Grid == nil && len(spec.Training.Window) > 0 {
		o.Grid = s.system.Grid
	}
	e, err := engine.Make[T](s.make, spec, s.problem, o)
	if err != nil {
		return err
	}
	defer e.Close()
	return f(e, spec)
}
