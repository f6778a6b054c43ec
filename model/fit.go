package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pihc/constraint"
	"pihc/fno"
	"pihc/internal/config"
	"pihc/pde"
)

// defaultSpec returns the defaults of specs: paperDefaults, the paper's values
// (sections 4.1 and B; docs/reference/constraint.md, Q23, for the rest) in their best fair form, or
// fittedDefaults, what docs/evidence/choices.md measured as better.
func defaultSpec(defaults string) Spec {
	s := Spec{
		Defaults: defaults,
		Method:   MoE,
		Network: NetworkSpec{
			NetworkShared{Kind: DefaultNetwork, Basis: 16, Precision: "float32", InitialScale: 1, Centers: map[string]float64{}, OmitCoordinates: []string{}, Features: map[string]float64{}, Passes: 1},
			networkKinds[DefaultNetwork],
		},
		Constraint: ConstraintSpec{
			Points: 20000, Overlap: Ramp{To: 1}, Weights: map[string]float64{}, Normalization: "mean", ConditionRows: "global", SoftWeight: 1, Ridge: 1e-4, Tolerance: 1e-4,
			MaxIterations: 50, Damping: "nielsen", Scaling: "more", NewtonCorrection: true, Adjoint: "exact",
			// What a reduction of 1e-6 leaves is for the Newton correction. It ends
			// the solves on an untrained basis, which wander in a flat valley; those on
			// a trained one meet the gradient test first.
			CostTolerance: 1e-6,
			Components:    "separate", Router: constraint.DefaultRouter,
		},
		Loss: LossSpec{Form: "mean-square", Weights: map[string]float64{}, BorderRows: Ramp{1, 1, 0, 1}},
		Training: TrainingSpec{
			Steps: 4000, Batch: 6, MicroBatch: 1, Clip: 1,
			LearningRate: LearningRate{Initial: 1e-3, Final: 1e-4, Decay: "exponential"},
			Validate:     100, ValidateCount: 16, Log: 10, Checkpoint: 500, MaxBadSteps: 10, RecoveryFactor: 0.1, Best: bestResidual,
		},
		Data: DataSpec{SplitSpec{8000, 1}, SplitSpec{100, 2}, TestSpec{SplitSpec: SplitSpec{1000, 3}}},
	}
	if defaults == paperDefaults {
		return s
	}
	s.Network.Keys = keysOf[fno.Keys]{fno.Keys{Width: 32, Layers: 4, Projection: 64, LastActivation: true, SpectralGain: 0}}
	s.Constraint.Overlap = Ramp{Start: 0.75, End: 0, From: 0.2, To: 0.6}
	s.Loss.Relative = true
	t := &s.Training
	t.Steps, t.Batch, t.Clip = 1500, 4, 0.1
	t.LearningRate = LearningRate{Initial: 3e-3, Final: 1e-5, Decay: "cosine", Warmup: 20}
	s.Data = DataSpec{SplitSpec{4000, 1}, SplitSpec{16, 2}, TestSpec{SplitSpec: SplitSpec{32, 3}}}
	return s
}

// fits are the keys whose fittedDefaults follow from the problem.
var fits = []struct {
	key string
	set func(s *Spec, f *fitting)
}{
	{"network.modes", func(s *Spec, f *fitting) { s.Network.Keys = s.Network.Keys.withModes(f.modes()) }},
	{"network.initial_scale", func(s *Spec, f *fitting) {
		s.Network.InitialScale = f.scales[0]
		if len(f.scales) > 1 {
			sizes := f.sizes()
			maps.Copy(sizes, s.Network.Scales)
			s.Network.Scales = sizes
		}
	}},
	{"network.centers", func(s *Spec, f *fitting) { s.Network.Centers = f.centered() }},
	{"network.omit_coordinates", func(s *Spec, f *fitting) { s.Network.OmitCoordinates = f.homogeneous() }},
	{"network.passes", func(s *Spec, f *fitting) {
		if f.problem.HasOffset() {
			s.Network.Passes = passes
		}
	}},
	{"network.features", func(s *Spec, f *fitting) {
		if f.problem.HasOffset() {
			s.Network.Features = f.sizes()
			for i, r := range f.problem.Residuals {
				s.Network.Features[r.Name] = Rounded(1 / f.units[i])
				if !f.problem.Steady {
					s.Network.Features[MeanFeature(r.Name)] = 1
				}
			}
		}
	}},
	{"evaluation.passes", func(s *Spec, f *fitting) {
		if s.Network.Passes > 1 {
			s.Evaluation.Passes = AutoPasses
		}
	}},
	{"evaluation.directions", func(s *Spec, f *fitting) {
		if s.Network.Passes > 1 {
			s.Evaluation.Directions = new(directions)
		}
	}},
	{"constraint.experts", func(s *Spec, f *fitting) { s.Constraint.Experts = f.experts() }},
	{"evaluation.blend", func(s *Spec, f *fitting) {
		if s.Constraint.Router == constraint.DefaultRouter || s.Constraint.Router == "" {
			s.Evaluation.Blend = new(blend)
		}
	}},
	{"constraint.points", func(s *Spec, f *fitting) { s.Constraint.Points = f.points(&s.Constraint) }},
	{"constraint.weights", func(s *Spec, f *fitting) { s.Constraint.Weights = f.weights(0.14, 1, false) }},
	{"constraint.soft_weight", func(s *Spec, f *fitting) { s.Constraint.SoftWeight = Rounded(1 / f.multiplier) }},
	{"constraint.ridge", func(s *Spec, f *fitting) {
		// It has the unit of what a weight multiplies: that of the ansatz's multiplier, and of the
		// first unknown where the basis is multiplied by the size of residuals.
		r := s.Constraint.Ridge // that of paperDefaults
		if slices.ContainsFunc(f.problem.Residuals, func(r pde.Rows) bool { return s.Network.Features[r.Name] > 0 }) {
			r = ridge * f.scales[0]
		}
		s.Constraint.Ridge = Rounded(r * f.multiplier)
	}},
	{"loss.weights", func(s *Spec, f *fitting) { s.Loss.Weights = f.weights(2, 10, true) }},
	{"loss.border_rows", func(s *Spec, f *fitting) { s.Loss.BorderRows = f.borderRows(s.Constraint.Experts) }},
	{"loss.border_jump", func(s *Spec, f *fitting) {
		if slices.ContainsFunc(f.problem.Terms, func(t pde.Term) bool { return t.Spectral != nil }) {
			s.Loss.BorderJump = 0.1 // spectral terms see a jump along whole lines
		}
	}},
}

const (
	// passes of a network that corrects its own field.
	passes = 4
	// directions of a solve in evaluation: more bring nothing.
	directions = 8
	// blend is evaluation.blend: from two cells of a subdomain of eight on (docs/evidence/choices.md).
	blend = 0.25
	// ridge over the unit of weights: a hundredth of it is as good, ten times as much is not (docs/evidence/choices.md).
	ridge = 1e-5
	// expertRows is the number of residual rows of an expert, in a subdomain that has
	// more.
	expertRows = 5000
)

// absent returns the keys of fits that a document does not give.
func absent(root config.Node) []string {
	var out []string
	for _, f := range fits {
		if _, given := root.Find(f.key); !given {
			out = append(out, f.key)
		}
	}
	return out
}

// Fit sets the keys that the file left out and whose defaults follow from the
// problem: grid and boundaries, sizes of initial conditions, units of the rows. A spec with
// fittedDefaults is used only after it; for others, and a second time, it does nothing.
func (s *Spec) Fit(p *pde.Problem) error {
	if s.Rollout > 1 {
		g, err := p.Grid(s.Grid)
		if err == nil {
			_, _, _, err = s.SegmentOn(p, g)
		}
		if err != nil {
			return err
		}
	}
	if len(s.unset) == 0 {
		return nil
	}
	f, err := newFitting(s, p)
	if err != nil {
		return err
	}
	// What the points of a grid allow is of a segment. Units are of the whole time: what a segment leaves is handed on.
	if f.grid, err = s.cut(f.grid, 0); err != nil {
		return err
	}
	for _, x := range fits {
		if slices.Contains(s.unset, x.key) {
			x.set(s, f)
		}
	}
	s.unset = nil
	return nil
}

// Unsized returns the unknowns whose size (network.scales) neither the spec nor any draw says, such
// as velocities that begin at rest: Fit takes 1, of steady problems what the residual of zero tells. Those that begin with one value, or near one, are among them, since
// solutions may leave it: Fit takes what draws vary by, or that value.
func (s *Spec) Unsized(p *pde.Problem) ([]int, error) {
	f, err := newFitting(s, p)
	if err != nil {
		return nil, err
	}
	return f.unsized, nil
}

// fitted is an error for a spec whose defaults are not there yet.
func (s *Spec) fitted() error {
	if len(s.unset) > 0 {
		return fmt.Errorf("the spec is not fitted to its problem: call Spec.Fit first (it leaves out %s)", strings.Join(s.unset, ", "))
	}
	return nil
}
