// Package model is what an experiment is: a [Spec], its defaults for a problem, its network and grids, and the data it
// asks for.
package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pihc/constraint"
	"pihc/internal/config"
	"pihc/pde"
)

// SpecVersion is the newest version of spec files, that of a file which states none.
// Versions have the same keys and differ in their defaults: those of version 1 are
// constants, the paper's; those of version 2 follow from the problem ([Spec.Fit]).
const SpecVersion = 2

// FolderVersion is the version of run folders. It changes when an old one can no
// longer be read.
const FolderVersion = 1

// The three ways of training (paper, section 4).
const (
	Soft = "soft" // PI-SC: a penalty in the loss, the network outputs u itself
	Hard = "hard" // PI-HC: one least-squares solve over the whole domain
	MoE  = "moe"  // PI-HC-MoE: one solve per subdomain
)

// methods are the methods in the paper's order, with its names for them.
var methods = choices[string]{{Soft, "PI-SC"}, {Hard, "PI-HC"}, {MoE, "PI-HC-MoE"}}

// Methods lists the methods in the paper's order.
var Methods = methods.names()

// MethodLabel returns the paper's name of a method, or the name it is given.
func MethodLabel(method string) string {
	if label, err := methods.get(method); err == nil {
		return label
	}
	return method
}

// A Spec is one experiment: every constant as data. Axis names are keys where
// a value belongs to an axis.
type Spec struct {
	Version int    `yaml:"version"`
	Problem string `yaml:"problem"`
	// Constants override those of the PDE file.
	Constants  map[string]float64 `yaml:"constants,flow,omitempty"`
	Method     string             `yaml:"method"`
	Seed       uint64             `yaml:"seed"`
	Grid       map[string]int     `yaml:"grid,flow"`
	Network    NetworkSpec        `yaml:"network"`
	Constraint ConstraintSpec     `yaml:"constraint"`
	Loss       LossSpec           `yaml:"loss"`
	Training   TrainingSpec       `yaml:"training"`
	Data       DataSpec           `yaml:"data"`
	Evaluation EvaluationSpec     `yaml:"evaluation,flow,omitempty"`
	Paper      map[string]Paper   `yaml:"paper,omitempty"`

	unset []string // keys whose defaults Fit has yet to find
}

// ConstraintSpec describes the least-squares solves of hard and moe.
type ConstraintSpec struct {
	Experts          map[string]int     `yaml:"experts,flow"`   // moe; hard has one
	Points           int                `yaml:"points"`         // residual rows sampled per expert; 0: all
	Overlap          Ramp               `yaml:"overlap,flow"`   // fraction of an expert's rows sampled outside its subdomain
	Weights          map[string]float64 `yaml:"weights,flow"`   // row weights by name, times those of the PDE file
	Normalization    string             `yaml:"normalization"`  // mean: squares of a set divided by its rows; none
	ConditionRows    string             `yaml:"condition_rows"` // global | local
	RepeatInitial    int                `yaml:"repeat_initial"` // initial rows counted so often (docs/constraint.md, Q1)
	Start            float64            `yaml:"start"`
	SoftWeight       float64            `yaml:"soft_weight"` // ω of soft
	Ridge            float64            `yaml:"ridge"`
	Tolerance        float64            `yaml:"tolerance"` // gtol
	MaxIterations    int                `yaml:"max_iterations"`
	Damping          string             `yaml:"damping"` // nielsen | classical
	Scaling          string             `yaml:"scaling"` // identity | more | current
	NewtonCorrection bool               `yaml:"newton_correction"`
	Adjoint          string             `yaml:"adjoint"` // exact | gauss-newton | paper
	InitialDamping   millionth          `yaml:"initial_damping,omitempty"`
	CostTolerance    millionth          `yaml:"cost_tolerance,omitempty"` // ftol, 0: no such test
	Restart          bool               `yaml:"restart,omitempty"`        // a second run, by other scaling, where the first fails
	Directions       int                `yaml:"directions,omitempty"`     // corrections of earlier passes among the functions of a solve over the whole domain
	Components       string             `yaml:"components,omitempty"`     // of several unknowns: ComponentsSeparate ("") or ComponentsTied
	Router           string             `yaml:"router,omitempty"`         // moe: what divides the domain, a name of constraint.Routers; "": constraint.DefaultRouter
}

// How the components of basis functions are weighed.
const (
	ComponentsSeparate = "separate" // each by its own
	ComponentsTied     = "tied"     // those of a function by one
)

// millionth is a number that is left out of an encoded spec where it is 1e-6: keys
// that specs did not have at first do not change their hash.
type millionth float64

// IsZero tells the encoder what to leave out.
func (m millionth) IsZero() bool { return m == 1e-6 }

// tenth is a number that is left out of an encoded spec where it is 0.1.
type tenth float64

// IsZero tells the encoder what to leave out.
func (t tenth) IsZero() bool { return t == 0.1 }

// LossSpec describes the loss of the assembled prediction.
type LossSpec struct {
	Form        string             `yaml:"form"`             // mean-square | norm
	Relative    bool               `yaml:"relative"`         // each sample's loss divided by that of the field which keeps its initial values
	Weights     map[string]float64 `yaml:"weights,flow"`     // by name of the rows; default 1
	BorderJump  float64            `yaml:"border_jump"`      // weight of the mean-square jump across expert borders
	BorderSlope float64            `yaml:"border_slope"`     // weight of the mean-square jump of the slope there, per length of the axis
	BorderRows  Ramp               `yaml:"border_rows,flow"` // factor on residual rows whose stencil crosses an expert border
	Data        float64            `yaml:"data,omitempty"`   // weight of the relative mean-square distance to the solution of a training sample: a control, in none of the methods
}

// Ramp is a value that changes during training: Start up to the fraction From
// of the steps, End after the fraction To, geometric in between, or linear where
// one of them is zero. Evaluation uses End.
type Ramp struct {
	Start float64 `yaml:"start"`
	End   float64 `yaml:"end"`
	From  float64 `yaml:"from"`
	To    float64 `yaml:"to"`
}

// At returns the value at a fraction of training.
func (r Ramp) At(progress float64) float64 {
	switch {
	case progress >= r.To || r.Start == r.End:
		return r.End
	case progress <= r.From:
		return r.Start
	}
	f := (progress - r.From) / (r.To - r.From)
	if r.Start == 0 || r.End == 0 {
		return r.Start + f*(r.End-r.Start)
	}
	return r.Start * math.Pow(r.End/r.Start, f)
}

// TrainingSpec describes the optimisation.
type TrainingSpec struct {
	Steps        int          `yaml:"steps"`
	Restarts     []int        `yaml:"restarts,flow,omitempty"` // steps from which a finished run was extended: the learning rate began anew
	Batch        int          `yaml:"batch"`
	MicroBatch   int          `yaml:"micro_batch"`
	LearningRate LearningRate `yaml:"learning_rate"`
	Beta1        float64      `yaml:"beta1"`
	Beta2        float64      `yaml:"beta2"`
	Epsilon      float64      `yaml:"epsilon"`
	Clip         float64      `yaml:"clip"`    // largest global norm of the gradient; 0: off
	Average      float64      `yaml:"average"` // decay of the exponential moving average of the parameters used for evaluation; 0: off
	// Frozen names tensors that are never trained, by the part of their name before the
	// first dot.
	Frozen        []string    `yaml:"frozen,flow,omitempty"`
	Validate      int         `yaml:"validate"`
	ValidateCount int         `yaml:"validate_count"` // validation samples used; 0: all
	Log           int         `yaml:"log"`
	Checkpoint    int         `yaml:"checkpoint"`
	Stages        []StageSpec `yaml:"stages,omitempty"` // first parts on other grids
	// Window ends the grid of training, its rows and its loss at a time: by the first
	// axis, from its beginning. Evaluation has the whole axis.
	Window      map[string][2]float64 `yaml:"window,flow,omitempty"`
	MaxBadSteps int                   `yaml:"max_bad_steps"` // non-finite steps in a row, after which training goes back once, then ends
	// RecoveryFactor multiplies the learning rate once training has gone back; 0: it ends instead.
	RecoveryFactor tenth  `yaml:"recovery_factor,omitempty"`
	Best           string `yaml:"best,omitempty"` // which checkpoint is used: BestResidual (""), BestRelative or BestLast
}

// Which checkpoint of a training is used. None sees a solution.
const (
	BestResidual = "residual" // least root of the mean validation loss
	BestRelative = "relative" // least mean, over samples, of the root of the loss over that of the field that keeps its initial values
	BestLast     = "last"
)

// LearningRate is exponential decay from Initial to Final over the steps,
// smooth or in Stairs equal stairs, after Warmup linear steps.
type LearningRate struct {
	Initial float64 `yaml:"initial"`
	Final   float64 `yaml:"final"`
	Decay   string  `yaml:"decay"` // exponential | cosine | constant
	Stairs  int     `yaml:"stairs"`
	Warmup  int     `yaml:"warmup"`
}

// DataSpec sizes the dataset; each split has its own seed.
type DataSpec struct {
	Train      SplitSpec `yaml:"train,flow"`
	Validation SplitSpec `yaml:"validation,flow"`
	Test       TestSpec  `yaml:"test,flow"`
}

// SplitSpec is one split of the dataset.
type SplitSpec struct {
	Count int    `yaml:"count"`
	Seed  uint64 `yaml:"seed"`
}

// TestSpec is the test split and the grids it is scored on.
type TestSpec struct {
	SplitSpec `yaml:",inline"`
	// Grids are scored beside the spec's own grid; axes not named have its points. The
	// key samples is the number of samples that are scored there; left out: all.
	Grids []map[string]int `yaml:"grids,flow,omitempty"`
}

// EvaluationSpec says how a trained network is scored and used where that differs from
// its training.
type EvaluationSpec struct {
	Passes Passes `yaml:"passes,omitempty"` // of a network that is trained with several; 0: as trained
	Limit  int    `yaml:"limit,omitempty"`  // most passes of AutoPasses; 0: MostPasses
	Points *int   `yaml:"points,omitempty"` // residual rows sampled per expert, 0: all; nil: as trained
	// Directions is constraint.directions; nil: as trained.
	Directions *int `yaml:"directions,omitempty"`
}

// Passes is a number of passes of the network, or AutoPasses.
type Passes int

// AutoPasses repeats the network until the residual stops falling ([Repeat]).
const AutoPasses Passes = -1

// MostPasses bounds AutoPasses where a spec has no evaluation.limit.
const MostPasses = 100

// UnmarshalText reads a positive number or "auto".
func (p *Passes) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*p = AutoPasses
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 {
		return fmt.Errorf("%s: want a positive number, or auto", text)
	}
	*p = Passes(n)
	return nil
}

// String returns what UnmarshalText reads; "" for 0.
func (p Passes) String() string {
	switch p {
	case 0:
		return ""
	case AutoPasses:
		return "auto"
	}
	return strconv.Itoa(int(p))
}

// MarshalYAML implements yaml.Marshaler.
func (p Passes) MarshalYAML() (any, error) {
	if p == AutoPasses {
		return "auto", nil
	}
	return int(p), nil
}

// gridSamples is the key of data.test.grids that is no axis.
const gridSamples = "samples"

// Paper is a figure of the paper shown beside ours: mean and standard
// deviation of the relative L2 error.
type Paper struct {
	Mean float64 `yaml:"mean"`
	Std  float64 `yaml:"std"`
}

// ExpertCount is the number of experts of moe.
func (c *ConstraintSpec) ExpertCount() int {
	k := 1
	for _, n := range c.Experts {
		k *= n
	}
	return k
}

// Encode returns the resolved spec as YAML.
func (s *Spec) Encode() ([]byte, error) { return config.Encode(s) }

// Outputs is the number of basis functions: N, or 1 for soft. The network has as many
// outputs for every unknown.
func (s *Spec) Outputs() int {
	if s.Method == Soft {
		return 1
	}
	return s.Network.Basis
}

// validate reports every value that makes no sense by itself.
func (s *Spec) validate(d *config.Document) error {
	var problems []*config.Mistake
	bad := func(path, format string, args ...any) {
		problems = append(problems, d.Errorf(path, format, args...))
	}
	oneOf := func(path, value string, allowed ...string) {
		if !slices.Contains(allowed, value) {
			bad(path, "%s: %q: want %s", path, value, strings.Join(allowed, ", "))
		}
	}
	positive := func(path string, v float64) {
		if !(v > 0) {
			bad(path, "%s: %g: want a positive number", path, v)
		}
	}
	atLeast := func(path string, v, least int) {
		if v < least {
			bad(path, "%s: %d: want at least %d", path, v, least)
		}
	}
	if s.Version < 1 || s.Version > SpecVersion {
		bad("version", "version %d: this pihc reads versions 1 to %d", s.Version, SpecVersion)
	}
	if s.Problem == "" {
		bad("problem", "problem: missing; name a built-in problem (%s) or a PDE file", strings.Join(pde.Builtins(), ", "))
	}
	oneOf("method", s.Method, Methods...)
	n, c, t := s.Network, s.Constraint, s.Training
	n.Keys.Validate(func(key, reason string) { bad("network."+key, "network.%s: %s", key, reason) })
	atLeast("network.basis", n.Basis, 1)
	atLeast("network.passes", n.Passes, 1)
	oneOf("network.precision", n.Precision, "float32", "float64")
	atLeast("constraint.points", c.Points, 0)
	atLeast("constraint.max_iterations", c.MaxIterations, 1)
	atLeast("constraint.directions", c.Directions, 0)
	positive("constraint.tolerance", c.Tolerance)
	positive("constraint.soft_weight", c.SoftWeight)
	positive("constraint.initial_damping", float64(c.InitialDamping))
	if c.CostTolerance < 0 {
		bad("constraint.cost_tolerance", "constraint.cost_tolerance: %g: want a positive number, or 0 for no such test", c.CostTolerance)
	}
	if c.Ridge < 0 {
		bad("constraint.ridge", "constraint.ridge: %g: want zero or a positive number", c.Ridge)
	}
	atLeast("constraint.repeat_initial", c.RepeatInitial, 0)
	for axis, k := range c.Experts {
		atLeast("constraint.experts."+axis, k, 1)
	}
	for _, w := range []struct {
		path string
		m    map[string]float64
	}{{"constraint.weights.", c.Weights}, {"loss.weights.", s.Loss.Weights}} {
		for name, v := range w.m {
			if v < 0 {
				bad(w.path+name, "%s%s: %g: want zero or a positive number", w.path, name, v)
			}
		}
	}
	oneOf("constraint.normalization", c.Normalization, "mean", "none")
	oneOf("constraint.condition_rows", c.ConditionRows, "global", "local")
	if c.Router != "" {
		oneOf("constraint.router", c.Router, constraint.Routers()...)
	}
	if c.Components != "" {
		oneOf("constraint.components", c.Components, ComponentsSeparate, ComponentsTied)
	}
	oneOf("constraint.damping", c.Damping, dampings.names()...)
	oneOf("constraint.scaling", c.Scaling, scalings.names()...)
	oneOf("constraint.adjoint", c.Adjoint, adjoints.names()...)
	positive("network.initial_scale", n.InitialScale)
	for name, scale := range n.Scales {
		positive("network.scales."+name, scale)
	}
	for name, scale := range n.Features {
		positive("network.features."+name, scale)
	}
	ramp := func(path string, r Ramp, most float64) {
		if !(r.Start >= 0 && r.End >= 0 && r.Start <= most && r.End <= most) || !(r.From >= 0 && r.From <= r.To && r.To <= 1) {
			bad(path, "%s: want start and end from 0 to %g, and 0 <= from <= to <= 1", path, most)
		}
	}
	ramp("constraint.overlap", c.Overlap, 1)
	ramp("loss.border_rows", s.Loss.BorderRows, math.MaxFloat64)
	if s.Loss.BorderJump < 0 || s.Loss.BorderSlope < 0 {
		bad("loss", "loss.border_jump and loss.border_slope: want zero or a positive number")
	}
	if !(s.Loss.Data >= 0) || math.IsInf(s.Loss.Data, 0) {
		bad("loss", "loss.data: want zero or a positive number")
	}
	oneOf("loss.form", s.Loss.Form, "mean-square", "norm")
	atLeast("evaluation.limit", s.Evaluation.Limit, 0)
	if limit := s.Evaluation.Limit; limit > 0 && limit < 3 {
		bad("evaluation.limit", "evaluation.limit: %d: want at least 3, or 0 for %d", limit, MostPasses)
	}
	if points := s.Evaluation.Points; points != nil {
		atLeast("evaluation.points", *points, 0)
	}
	if directions := s.Evaluation.Directions; directions != nil {
		atLeast("evaluation.directions", *directions, 0)
	}
	atLeast("training.steps", t.Steps, 1)
	if t.Best != "" {
		oneOf("training.best", t.Best, BestResidual, BestRelative, BestLast)
	}
	for i, n := range t.Restarts {
		if least := append([]int{0}, t.Restarts...)[i]; n <= least || n >= t.Steps {
			bad("training.restarts", "training.restarts: want steps in ascending order, before the last, %d", t.Steps)
			break
		}
	}
	atLeast("training.batch", t.Batch, 1)
	first := 0
	for i, x := range t.Stages {
		path := fmt.Sprintf("training.stages.%d", i)
		atLeast(path+".steps", x.Steps, 1)
		atLeast(path+".points", x.Points, 0)
		for axis, n := range x.Grid {
			atLeast(path+".grid."+axis, n, 1)
		}
		if first += x.Steps; first >= t.Steps {
			bad(path+".steps", "%s.steps: %d: with the stages before it, %d of the %d steps of training; the last stage is on the spec's own grid and wants some", path, x.Steps, first, t.Steps)
		}
	}
	atLeast("training.micro_batch", t.MicroBatch, 1)
	positive("training.learning_rate.initial", t.LearningRate.Initial)
	positive("training.learning_rate.final", t.LearningRate.Final)
	oneOf("training.learning_rate.decay", t.LearningRate.Decay, decays.names()...)
	if t.Average < 0 || t.Average >= 1 {
		bad("training.average", "training.average: %g: want a decay in [0, 1), 0 for none", t.Average)
	}
	for _, b := range []struct {
		path string
		v    float64
	}{{"training.beta1", t.Beta1}, {"training.beta2", t.Beta2}} {
		if b.v < 0 || b.v >= 1 {
			bad(b.path, "%s: %g: want a number in [0, 1)", b.path, b.v)
		}
	}
	positive("training.epsilon", t.Epsilon)
	if t.Clip < 0 {
		bad("training.clip", "training.clip: %g: want a positive number, or 0 for none", t.Clip)
	}
	atLeast("training.learning_rate.stairs", t.LearningRate.Stairs, 0)
	atLeast("training.learning_rate.warmup", t.LearningRate.Warmup, 0)
	atLeast("training.validate_count", t.ValidateCount, 0)
	atLeast("training.validate", t.Validate, 1)
	atLeast("training.log", t.Log, 1)
	atLeast("training.checkpoint", t.Checkpoint, 1)
	atLeast("training.max_bad_steps", t.MaxBadSteps, 1)
	if t.RecoveryFactor < 0 || t.RecoveryFactor >= 1 {
		bad("training.recovery_factor", "training.recovery_factor: %g: want a number in [0, 1), 0 to end training instead", float64(t.RecoveryFactor))
	}
	atLeast("data.train.count", s.Data.Train.Count, 1)
	atLeast("data.validation.count", s.Data.Validation.Count, 1)
	atLeast("data.test.count", s.Data.Test.Count, 1)
	for i, grid := range s.Data.Test.Grids {
		path := fmt.Sprintf("data.test.grids.%d", i)
		if _, some := grid[gridSamples]; len(grid) == 0 || some && len(grid) == 1 {
			bad(path, "%s: names no axis; the spec's own grid is scored anyway", path)
		}
		for axis, n := range grid {
			atLeast(path+"."+axis, n, 1)
		}
	}
	slices.SortStableFunc(problems, func(a, b *config.Mistake) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column), cmp.Compare(a.Message, b.Message))
	})
	return config.Join(problems...)
}

// axisMap orders a map keyed by axis names; an unknown name is an error.
func axisMap(p *pde.Problem, what string, m map[string]int, missing int) ([]int, error) {
	out := make([]int, len(p.Axes))
	for i, a := range p.Axes {
		out[i] = missing
		if v, ok := m[a.Name]; ok {
			out[i] = v
		}
	}
	for name := range m {
		if p.Axis(name) < 0 {
			return nil, fmt.Errorf("%s: problem %s has no axis %q; its axes are %s", what, p.Name, name, strings.Join(p.AxisNames(), ", "))
		}
	}
	return out, nil
}
