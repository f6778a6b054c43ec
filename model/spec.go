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

// What the defaults of a spec are, those of the keys that its file leaves out.
const (
	paperDefaults  = "paper"  // constants, the paper's
	fittedDefaults = "fitted" // what follows from the problem ([Spec.Fit]); those of a file that does not say
)

// The three ways of training (paper, section 4).
const (
	Soft = "soft" // PI-SC: a penalty in the loss, the network outputs u itself
	Hard = "hard" // PI-HC: one least-squares solve over the whole domain
	MoE  = "moe"  // PI-HC-MoE: one solve per subdomain
)

// Methods lists the methods in the paper's order.
var Methods = []string{Soft, Hard, MoE}

// MethodLabel returns the paper's name of a method, or the name it is given.
func MethodLabel(method string) string {
	return cmp.Or(map[string]string{Soft: "PI-SC", Hard: "PI-HC", MoE: "PI-HC-MoE"}[method], method)
}

// A Spec is one experiment: every constant as data. Axis names are keys where
// a value belongs to an axis. A tag `want` says which values a file may have.
type Spec struct {
	Defaults string `yaml:"defaults" want:"paper, fitted"`
	Problem  string `yaml:"problem"`
	// Constants override those of the PDE file.
	Constants  map[string]float64 `yaml:"constants,flow,omitempty"`
	Method     string             `yaml:"method" want:"soft, hard, moe"`
	Seed       uint64             `yaml:"seed"`
	Grid       map[string]int     `yaml:"grid,flow"`
	Rollout    int                `yaml:"rollout,omitempty" want:"at least 0"` // segments of the time, each begun with the end of the one before; 0: one
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
	Experts          map[string]int     `yaml:"experts,flow" want:"at least 1"`                // moe; hard has one
	Points           int                `yaml:"points" want:"at least 0"`                      // residual rows sampled per expert; 0: all
	Overlap          Ramp               `yaml:"overlap,flow"`                                  // fraction of an expert's rows sampled outside its subdomain
	Weights          map[string]float64 `yaml:"weights,flow" want:"zero or a positive number"` // row weights by name, times those of the PDE file
	Normalization    string             `yaml:"normalization" want:"mean, none"`               // mean: squares of a set divided by its rows
	ConditionRows    string             `yaml:"condition_rows" want:"global, local"`
	RepeatInitial    int                `yaml:"repeat_initial" want:"at least 0"` // initial rows counted so often (docs/reference/constraint.md, Q1)
	Start            float64            `yaml:"start"`
	SoftWeight       float64            `yaml:"soft_weight" want:"a positive number"` // ω of soft
	Ridge            float64            `yaml:"ridge" want:"zero or a positive number"`
	Tolerance        float64            `yaml:"tolerance" want:"a positive number"` // gtol
	MaxIterations    int                `yaml:"max_iterations" want:"at least 1"`
	Damping          string             `yaml:"damping" want:"nielsen, classical"`
	Scaling          string             `yaml:"scaling" want:"more, current, identity"`
	NewtonCorrection bool               `yaml:"newton_correction"`
	Adjoint          string             `yaml:"adjoint" want:"exact, gauss-newton, paper"`
	CostTolerance    float64            `yaml:"cost_tolerance" want:"zero or a positive number"` // ftol, 0: no such test
	Directions       int                `yaml:"directions" want:"at least 0"`                    // corrections of earlier passes among the functions of a solve over the whole domain
	Components       string             `yaml:"components" want:"separate, tied"`                // of several unknowns
	Router           string             `yaml:"router"`                                          // moe: what divides the domain, a name of constraint.Routers
}

// Tied reports whether the components of a basis function are weighed by one weight, not each by its own.
func (c *ConstraintSpec) Tied() bool { return c.Components == "tied" }

// LossSpec describes the loss of the assembled prediction.
type LossSpec struct {
	Form        string             `yaml:"form" want:"mean-square, norm"`
	Relative    bool               `yaml:"relative"`                                      // each sample's loss divided by that of the field which keeps its initial values
	Weights     map[string]float64 `yaml:"weights,flow" want:"zero or a positive number"` // by name of the rows; default 1
	BorderJump  float64            `yaml:"border_jump" want:"zero or a positive number"`  // weight of the mean-square jump across expert borders
	BorderSlope float64            `yaml:"border_slope" want:"zero or a positive number"` // weight of the mean-square jump of the slope there, per length of the axis
	BorderRows  Ramp               `yaml:"border_rows,flow"`                              // factor on residual rows whose stencil crosses an expert border
	Data        float64            `yaml:"data,omitempty"`                                // weight of the relative mean-square distance to the solution of a training sample: a control, in none of the methods
}

// TrainingSpec describes the optimisation.
type TrainingSpec struct {
	Steps        int          `yaml:"steps" want:"at least 1"`
	Restarts     []int        `yaml:"restarts,flow,omitempty"` // steps from which a finished run was extended: the learning rate began anew
	Batch        int          `yaml:"batch" want:"at least 1"`
	MicroBatch   int          `yaml:"micro_batch" want:"at least 1"`
	LearningRate LearningRate `yaml:"learning_rate"`
	Clip         float64      `yaml:"clip" want:"zero or a positive number"` // largest global norm of the gradient; 0: off
	Average      float64      `yaml:"average" want:"a number in [0, 1)"`     // decay of the exponential moving average of the parameters used for evaluation; 0: off
	// Frozen names tensors that are never trained, by the part of their name before the
	// first dot.
	Frozen        []string    `yaml:"frozen,flow,omitempty"`
	Validate      int         `yaml:"validate" want:"at least 1"`
	ValidateCount int         `yaml:"validate_count" want:"at least 0"` // validation samples used; 0: all
	Log           int         `yaml:"log" want:"at least 1"`
	Checkpoint    int         `yaml:"checkpoint" want:"at least 1"`
	Stages        []StageSpec `yaml:"stages,omitempty"` // first parts on other grids
	// Window ends the grid of training, its rows and its loss at a time: by the first
	// axis, from its beginning. Evaluation has the whole axis.
	Window      map[string][2]float64 `yaml:"window,flow,omitempty"`
	MaxBadSteps int                   `yaml:"max_bad_steps" want:"at least 1"` // non-finite steps in a row, after which training goes back once, then ends
	// RecoveryFactor multiplies the learning rate once training has gone back; 0: it ends instead.
	RecoveryFactor float64 `yaml:"recovery_factor" want:"a number in [0, 1)"`
	Best           string  `yaml:"best" want:"residual, relative, last"` // which checkpoint is used
}

// bestResidual chooses the checkpoint with the least root of the mean validation loss.
const bestResidual = "residual"

// Better says by which number training.best chooses among validations, and whether one is better than the least of those before:
// residual is the root of the mean loss, relative the mean, over samples, of the root of the loss over that of the field that
// keeps its initial values. None sees a solution.
func (t *TrainingSpec) Better(residual, relative, least float64) (by float64, better bool) {
	if by = residual; t.Best == "relative" {
		by = relative
	}
	return by, by < least || t.Best == "last"
}

// Measure names the number by which Better chooses.
func (t *TrainingSpec) Measure() string {
	if t.Best == "relative" {
		return "relative validation residual"
	}
	return "validation residual"
}

// DataSpec sizes the dataset; each split has its own seed.
type DataSpec struct {
	Train      SplitSpec `yaml:"train,flow"`
	Validation SplitSpec `yaml:"validation,flow"`
	Test       TestSpec  `yaml:"test,flow"`
}

// SplitSpec is one split of the dataset.
type SplitSpec struct {
	Count int    `yaml:"count" want:"at least 1"`
	Seed  uint64 `yaml:"seed"`
}

// TestSpec is the test split and the grids it is scored on.
type TestSpec struct {
	SplitSpec `yaml:",inline"`
	// Grids are scored beside the spec's own grid; axes not named have its points. The
	// key samples is the number of samples that are scored there; left out: all.
	Grids []map[string]int `yaml:"grids,flow,omitempty" want:"at least 1"`
}

// EvaluationSpec says how a trained network is scored and used where that differs from
// its training.
type EvaluationSpec struct {
	Passes Passes `yaml:"passes,omitempty"`                   // of a network that is trained with several; 0: as trained
	Limit  int    `yaml:"limit,omitempty" want:"at least 0"`  // most passes of AutoPasses; 0: mostPasses
	Points *int   `yaml:"points,omitempty" want:"at least 0"` // residual rows sampled per expert, 0: all; nil: as trained
	// Directions is constraint.directions; nil: as trained.
	Directions *int `yaml:"directions,omitempty" want:"at least 0"`
	// Newton adds a step of Newton's method over all grid values to the functions of passes that are repeated (AutoPasses).
	Newton bool `yaml:"newton,omitempty"`
	// Blend is the half width of the bands around borders of experts in which their fields go over into each other, as a fraction
	// of the narrower subdomain: at most 1/2. nil: none.
	Blend *float64 `yaml:"blend,omitempty" want:"zero or a positive number"`
}

// BlendWidth is Blend, 0 where nothing goes over.
func (e *EvaluationSpec) BlendWidth() float64 {
	if e.Blend == nil {
		return 0
	}
	return *e.Blend
}

// Passes is a number of passes of the network, or AutoPasses.
type Passes int

// AutoPasses repeats the network until the residual stops falling ([Repeat]).
const AutoPasses Passes = -1

// mostPasses bounds AutoPasses where a spec has no evaluation.limit.
const mostPasses = 100

// MostPasses is the bound of AutoPasses.
func (e *EvaluationSpec) MostPasses() int { return cmp.Or(e.Limit, mostPasses) }

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
	Mean float64 `yaml:"mean" config:"required" want:"a positive number"`
	Std  float64 `yaml:"std" want:"zero or a positive number"`
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

// validate reports every value that makes no sense beside others.
func (s *Spec) validate(d *config.Document) error {
	var mistakes []*config.Mistake
	bad := func(path, format string, args ...any) {
		mistakes = append(mistakes, d.Errorf(path, path+": "+format, args...))
	}
	if s.Problem == "" {
		bad("problem", "missing; name a built-in problem (%s) or a PDE file", strings.Join(pde.Builtins(), ", "))
	}
	ramp := func(path string, r Ramp, most float64) {
		within := fmt.Sprintf("from 0 to %g", most)
		if most == math.MaxFloat64 {
			within = "of at least 0"
		}
		if !(r.Start >= 0 && r.End >= 0 && r.Start <= most && r.End <= most) || !(r.From >= 0 && r.From <= r.To && r.To <= 1) {
			bad(path, "want start and end %s, and 0 <= from <= to <= 1", within)
		}
	}
	ramp("constraint.overlap", s.Constraint.Overlap, 1)
	ramp("loss.border_rows", s.Loss.BorderRows, math.MaxFloat64)
	if v := s.Network.Matmul; v != "" && s.Network.Precision != "float32" {
		bad("network.matmul", "%s: of network.precision float32 alone, here %s", v, s.Network.Precision)
	}
	if v := s.Loss.Data; !(v >= 0) || math.IsInf(v, 0) {
		bad("loss.data", "want zero or a positive number")
	}
	if limit := s.Evaluation.Limit; limit > 0 && limit < 3 {
		bad("evaluation.limit", "%d: want at least 3, or 0 for %d", limit, mostPasses)
	}
	if blend := s.Evaluation.BlendWidth(); blend > 0.5 {
		bad("evaluation.blend", "%g: want at most 0.5, half of a subdomain", blend)
	}
	if r := s.Constraint.Router; !slices.Contains(constraint.Routers(), r) {
		bad("constraint.router", "%q: want %s", r, strings.Join(constraint.Routers(), ", "))
	}
	for method := range s.Paper {
		if !slices.Contains(Methods, method) {
			bad("paper."+method, "want %s", strings.Join(Methods, ", "))
		}
	}
	if t := s.Constraint.Tolerance; t >= 1 {
		bad("constraint.tolerance", "%g: want less than 1, as it bounds a cosine", t)
	}
	if n, most := s.Training.LearningRate.Stairs, s.Training.Steps; n > most {
		bad("training.learning_rate.stairs", "%d: want at most training.steps, %d", n, most)
	}
	if s.Loss.Data != 0 && len(s.Training.Stages) > 0 {
		bad("loss.data", "it does not go with training.stages: solutions are on the spec's own grid")
	}
	s.Training.validate(bad)
	for i, grid := range s.Data.Test.Grids {
		if _, some := grid[gridSamples]; len(grid) == 0 || some && len(grid) == 1 {
			bad(fmt.Sprintf("data.test.grids.%d", i), "names no axis; the spec's own grid is scored anyway")
		}
	}
	slices.SortStableFunc(mistakes, func(a, b *config.Mistake) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	return config.Join(mistakes...)
}

func (t *TrainingSpec) validate(bad func(path, format string, args ...any)) {
	last := 0
	for _, n := range append(slices.Clone(t.Restarts), t.Steps) {
		if n <= last {
			bad("training.restarts", "want steps in ascending order, before the last, %d", t.Steps)
			break
		}
		last = n
	}
	first := 0
	for i, x := range t.Stages {
		if first += x.Steps; first >= t.Steps {
			path := fmt.Sprintf("training.stages.%d.steps", i)
			bad(path, "%d: with the stages before it, %d of the %d steps of training; the last stage is on the spec's own grid and wants some", x.Steps, first, t.Steps)
		}
	}
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
