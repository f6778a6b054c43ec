package model

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pihc/constraint"
	"pihc/data"
	"pihc/fno"
	"pihc/grid"
	"pihc/internal/config"
	"pihc/internal/dataset"
	"pihc/pde"
)

// DefaultSpec returns the defaults of specs: PaperDefaults, the paper's values
// (sections 4.1 and B; docs/constraint.md, Q23, for the rest) in their best fair form, or
// FittedDefaults, what docs/choices.md measured as better.
func DefaultSpec(defaults string) Spec {
	s := Spec{
		Defaults: defaults,
		Method:   MoE,
		Network: NetworkSpec{
			NetworkShared{Kind: DefaultNetwork, Basis: 16, Precision: "float32", InitialScale: 1, OmitCoordinates: []string{}, Features: map[string]float64{}, Passes: 1},
			networkKinds[DefaultNetwork],
		},
		Constraint: ConstraintSpec{
			Points: 20000, Overlap: Ramp{To: 1}, Weights: map[string]float64{}, Normalization: "mean", ConditionRows: "global", SoftWeight: 1, Ridge: 1e-4, Tolerance: 1e-4,
			MaxIterations: 50, Damping: "nielsen", Scaling: "more", NewtonCorrection: true, Adjoint: "exact",
			// What a reduction of 1e-6 leaves is for the Newton correction. It ends
			// the solves on an untrained basis, which wander in a flat valley; those on
			// a trained one meet the gradient test first.
			CostTolerance: 1e-6,
			Components:    ComponentsSeparate, Router: constraint.DefaultRouter,
		},
		Loss: LossSpec{Form: "mean-square", Weights: map[string]float64{}, BorderRows: Ramp{1, 1, 0, 1}},
		Training: TrainingSpec{
			Steps: 4000, Batch: 6, MicroBatch: 1, Clip: 1,
			LearningRate: LearningRate{Initial: 1e-3, Final: 1e-4, Decay: "exponential"},
			Validate:     100, ValidateCount: 16, Log: 10, Checkpoint: 500, MaxBadSteps: 10, RecoveryFactor: 0.1, Best: BestResidual,
		},
		Data: DataSpec{SplitSpec{8000, 1}, SplitSpec{100, 2}, TestSpec{SplitSpec: SplitSpec{1000, 3}}},
	}
	if defaults == PaperDefaults {
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

// fits are the keys whose FittedDefaults follow from the problem.
var fits = []struct {
	key string
	set func(s *Spec, f *fitting)
}{
	{"network.modes", func(s *Spec, f *fitting) { s.Network.Keys = s.Network.Keys.withModes(f.modes()) }},
	{"network.initial_scale", func(s *Spec, f *fitting) {
		s.Network.InitialScale = f.scales[0]
		if len(f.scales) > 1 && len(s.Network.Scales) == 0 {
			s.Network.Scales = map[string]float64{}
			for c, u := range f.problem.Unknowns {
				s.Network.Scales[u.Name] = f.scales[c]
			}
		}
	}},
	{"network.omit_coordinates", func(s *Spec, f *fitting) { s.Network.OmitCoordinates = f.homogeneous() }},
	{"network.passes", func(s *Spec, f *fitting) {
		if f.corrects() {
			s.Network.Passes = passes
		}
	}},
	{"network.features", func(s *Spec, f *fitting) {
		if f.corrects() {
			s.Network.Features = map[string]float64{}
			for c, u := range f.problem.Unknowns {
				s.Network.Features[u.Name] = f.scales[c]
			}
			for i, r := range f.problem.Residuals {
				s.Network.Features[r.Name] = rounded2(1 / f.units[i])
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
	{"constraint.points", func(s *Spec, f *fitting) { s.Constraint.Points = f.points(&s.Constraint) }},
	{"constraint.weights", func(s *Spec, f *fitting) {
		s.Constraint.Weights = f.weights(func(residual bool, unit float64) float64 {
			if residual {
				return 0.14 * unit
			}
			return unit
		})
	}},
	{"constraint.soft_weight", func(s *Spec, f *fitting) { s.Constraint.SoftWeight = rounded2(1 / f.multiplier) }},
	{"constraint.ridge", func(s *Spec, f *fitting) {
		// It has the unit of what a weight multiplies: that of the ansatz's multiplier, and of the
		// first unknown where the basis is multiplied by the size of residuals.
		r := s.Constraint.Ridge // that of PaperDefaults
		if f.amplifies(s) {
			r = ridge * f.scales[0]
		}
		s.Constraint.Ridge = rounded2(r * f.multiplier)
	}},
	{"loss.weights", func(s *Spec, f *fitting) {
		s.Loss.Weights = f.weights(func(residual bool, unit float64) float64 {
			if residual {
				return 2 * unit * unit
			}
			return 10 * unit * unit
		})
	}},
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
	// ridge over the unit of weights: a hundredth of it is as good, ten times as much is not (docs/choices.md).
	ridge = 1e-5
	// expertRows is the number of residual rows of an expert, in a subdomain that has
	// more.
	expertRows = 5000
)

// absent returns the keys of fits that a document does not give.
func absent(root config.Node) []string {
	var out []string
	for _, f := range fits {
		node, given := root, true
		for _, key := range strings.Split(f.key, ".") {
			if node, given = node.Lookup(key); !given {
				break
			}
		}
		if !given {
			out = append(out, f.key)
		}
	}
	return out
}

// Fit sets the keys that the file left out and whose defaults follow from the
// problem: grid and boundaries, sizes of initial conditions, units of the rows. A spec with
// FittedDefaults is used only after it; for others, and a second time, it does nothing.
func (s *Spec) Fit(p *pde.Problem) error {
	if len(s.unset) == 0 {
		return nil
	}
	f, err := newFitting(s, p)
	if err != nil {
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

// fitted is an error for a spec whose defaults are not there yet.
func (s *Spec) fitted() error {
	if len(s.unset) > 0 {
		return fmt.Errorf("the spec is not fitted to its problem: call Spec.Fit first (it leaves out %s)", strings.Join(s.unset, ", "))
	}
	return nil
}

// fitting is what defaults are found from.
type fitting struct {
	problem *pde.Problem
	grid    *grid.Grid
	scales  []float64 // per unknown: root mean square of initial conditions, or about that of a steady problem's solutions, with two digits
	units   []float64 // per set of rows, residuals first: factor to the unit of the first unknown
	names   []string  // of the sets
	misfit  float64   // of conditions at axes of space by initial conditions that are kept, in that unit

	multiplier float64 // the largest value of the ansatz's, which may have a unit
}

func newFitting(s *Spec, p *pde.Problem) (*fitting, error) {
	g, err := p.Grid(s.Grid)
	if err != nil {
		return nil, err
	}
	sys, err := p.Discretize(g)
	if err != nil {
		return nil, err
	}
	f := &fitting{problem: p, grid: g, scales: slices.Repeat([]float64{1}, len(p.Unknowns)), multiplier: largestMultiplier(sys)}
	u0 := make([]float64, p.InputSize(g))
	if p.Drawn() || p.Reference.Solver == pde.FileSolver {
		next, err := dataset.NewSampler(p, g)
		if err != nil {
			return nil, err
		}
		const draws = 16
		squares := make([]float64, len(p.Unknowns))
		for i := range draws {
			if err := next(data.SampleRand(1, i), u0); err != nil {
				return nil, err
			}
			for c, u := range p.Unknowns {
				if u.Initial < 0 {
					continue
				}
				initial := sys.Inputs[u.Initial].Of(u0)
				for _, v := range initial {
					squares[c] += v * v / float64(draws*len(initial))
				}
			}
		}
		for c, square := range squares {
			if square > 0 && !math.IsInf(square, 0) {
				f.scales[c] = rounded2(math.Sqrt(square))
			}
		}
	}
	parts, err := mixtureParts(p, sys, u0)
	if err != nil {
		return nil, err
	}
	steady, held := make([]float64, sys.FieldSize()), make([]float64, sys.FieldSize())
	p.Persist(steady, u0, sys.Grid)
	var ofs []int // the unknown that each set says most of
	for _, set := range sys.Sets {
		values := sys.NewRowValues(set, set.Points)
		out := values.Eval(pde.FirstDerivatives, steady, u0)
		unit, of := dataset.UnitOf(sys, set, out[1:])
		rms := dataset.RootMeanSquare(out[0])
		if set.Kind != pde.ResidualRows && !dataset.AtFirstAxis(p, set.Name) {
			misfit := rms
			for _, part := range parts {
				p.Persist(held, part, sys.Grid)
				misfit = max(misfit, dataset.RootMeanSquare(values.Eval(pde.Values, held, part)[0]))
			}
			f.misfit = max(f.misfit, unit*f.scales[0]/f.scales[of]*misfit)
		}
		if p.Steady && set.Kind == pde.ResidualRows {
			// A Laplacian's lowest eigenvalue on the interval is π²/L², and the unit L²/2.
			if size := unit * rms * 2 / (math.Pi * math.Pi); size > 0 && !math.IsInf(size, 0) {
				f.scales[of] = rounded2(size)
			}
		}
		f.units, f.names, ofs = append(f.units, unit), append(f.names, set.Name), append(ofs, of)
	}
	for i, of := range ofs {
		f.units[i] *= f.scales[0] / f.scales[of]
	}
	return f, nil
}

// largestMultiplier is the largest value of an ansatz's multiplier on the grid, 1 without one.
func largestMultiplier(sys *pde.System) float64 {
	most := 0.0
	for _, v := range sys.Multiplier() {
		if v = math.Abs(v); !math.IsInf(v, 0) {
			most = max(most, v)
		}
	}
	if most > 0 {
		return most
	}
	return 1
}

// mixtureParts are inputs of a sample with one of them drawn from one part of its mixture, for each part:
// a few of many draws may be of a part that all others are not like.
func mixtureParts(p *pde.Problem, sys *pde.System, sample []float64) ([][]float64, error) {
	var out [][]float64
	for i, in := range p.Inputs {
		for k, part := range in.Sampler.Mixture {
			next, err := dataset.NewInputSampler(part, sys.Inputs[i].Space)
			if err != nil {
				return nil, err
			}
			own := slices.Clone(sample)
			v := sys.Inputs[i].Of(own)
			if err := next(data.SampleRand(1, k), v); err != nil {
				return nil, err
			}
			in.Sampler.Transform(v)
			out = append(out, own)
		}
	}
	return out, nil
}

// CompatibleMisfit is where initial conditions, kept for all times, miss the conditions at the
// ends of axes of space so far, as a fraction of their size, that the field changes there at
// once, which no ansatz that begins smoothly can follow.
const CompatibleMisfit = 0.01

// Misfit returns how far initial conditions, kept for all times, miss the conditions at the ends
// of axes of space, as a fraction of their size.
func Misfit(p *pde.Problem) (float64, error) {
	s := DefaultSpec(FittedDefaults)
	f, err := newFitting(&s, p)
	if err != nil {
		return 0, err
	}
	return f.misfit / f.scales[0], nil
}

func (f *fitting) weights(of func(residual bool, unit float64) float64) map[string]float64 {
	out := map[string]float64{}
	for i, name := range f.names {
		out[name] = rounded2(of(i < len(f.problem.Residuals), f.units[i]))
	}
	return out
}

// corrects reports whether later passes of the network have a field to correct.
func (f *fitting) corrects() bool { return f.problem.HasOffset() }

// amplifies reports whether the basis is multiplied by the size of residuals (cpu.loadFeatures).
func (f *fitting) amplifies(s *Spec) bool {
	return slices.ContainsFunc(f.problem.Residuals, func(r pde.Rows) bool { return s.Network.Features[r.Name] > 0 })
}

// modes keeps eight on the first axis and of two axes of space, twelve on a single
// one, or as many as the axis holds.
func (f *fitting) modes() map[string]int {
	out := map[string]int{}
	space := f.space()
	for _, a := range f.grid.Axes {
		most := 8
		if len(space) == 1 && a.Name == space[0].Name {
			most = 12
		}
		out[a.Name] = max(1, min(most, a.Points/2))
	}
	return out
}

// space are the axes but time.
func (f *fitting) space() []grid.Axis {
	if f.problem.Steady {
		return f.grid.Axes
	}
	return f.grid.Axes[1:]
}

// homogeneous returns the periodic axes of space whose coordinate no row, ansatz or
// condition contains: the network commutes with translations along them without it.
func (f *fitting) homogeneous() []string {
	out := []string{}
	for _, a := range f.space() {
		used := false
		for _, u := range f.problem.Unknowns {
			used = used || u.Ansatz.Offset.DependsOn(a.Name) || u.Ansatz.Multiplier.DependsOn(a.Name)
		}
		for _, r := range f.problem.AllRows() {
			used = used || r.Expr.DependsOn(a.Name) || r.Weight.DependsOn(a.Name) || r.At[a.Name] != ""
		}
		if a.Boundary == grid.Periodic && !used {
			out = append(out, a.Name)
		}
	}
	return out
}

// experts divides a single axis of space into four and each of two into two, as far
// as every part keeps eight points. A derivative of order d sees a jump at a border 1/h^d
// times: axes with derivatives of order 3 or more are not divided (docs/choices.md), and where
// no other is left, time is, into two.
func (f *fitting) experts() map[string]int {
	axes, parts := f.space(), 4
	if len(axes) > 1 {
		parts = 2
	}
	axes = slices.DeleteFunc(slices.Clone(axes), func(a grid.Axis) bool { return f.derivative(a.Name) > 2 })
	if len(axes) == 0 && !f.problem.Steady {
		axes, parts = f.grid.Axes[:1], 2
	}
	out := map[string]int{}
	for _, a := range axes {
		if n := min(parts, a.Points/8); n > 1 {
			out[a.Name] = n
		}
	}
	return out
}

// derivative is the highest order of a derivative along an axis, at all its points.
func (f *fitting) derivative(axis string) int {
	most := 0
	for _, t := range f.problem.Terms {
		order := 0
		for _, x := range t.Factors {
			if x.Axis == axis && x.Edge == nil {
				order += x.Scheme.Derivative
			}
		}
		if t.Spectral != nil && t.Spectral.Kind == "derivative" && t.Spectral.Axis == axis {
			order = t.Spectral.Derivative
		}
		most = max(most, order)
	}
	return most
}

// points is the number of rows of an expert: all, 0, unless the smallest subdomain
// has more than expertRows.
func (f *fitting) points(c *ConstraintSpec) int {
	o := constraint.Options{Experts: make([]int, len(f.grid.Axes)), Router: c.Router}
	for i, a := range f.grid.Axes {
		o.Experts[i] = max(1, c.Experts[a.Name])
	}
	router, err := o.NewRouter(f.grid)
	if err != nil {
		return 0 // the engine reports it
	}
	division, err := router.Divide(f.grid)
	if err != nil {
		return 0
	}
	for k := range router.Experts() {
		if len(division.Points(k)) < 2*expertRows {
			return 0
		}
	}
	return expertRows
}

// borderRows is that of docs/choices.md at 128 points an axis. A jump d between two
// experts shows as d/h² in the rows beside it, h the step as a fraction of the axis, and
// these are a share of all that falls as h: with a factor h^1.5 a jump costs the same on
// every grid. On coarser ones than 128 points the end grows as h^0.5.
func (f *fitting) borderRows(experts map[string]int) Ramp {
	h := 0.0
	for _, a := range f.grid.Axes {
		if experts[a.Name] > 1 {
			h = max(h, a.Step()/(a.Hi-a.Lo))
		}
	}
	if h == 0 {
		return Ramp{1, 1, 0, 1}
	}
	at := 128 * h
	return Ramp{Start: rounded2(min(1, 0.01*math.Pow(at, 1.5))), End: rounded2(min(1, 0.1*math.Sqrt(at), 0.1*math.Pow(at, 1.5))), From: 0.1, To: 0.7}
}

// rounded2 keeps two digits, so that what is written reads well.
func rounded2(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 2, 64), 64)
	return v
}
