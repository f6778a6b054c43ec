package model

import (
	"fmt"
	"slices"

	"pihc/constraint"
	"pihc/grid"
	"pihc/lm"
	"pihc/pde"
)

// initialDamping puts the first step near that of Gauss-Newton: rows are close to linear in
// the weights, and most solves save an iteration or two.
const initialDamping = 1e-6

// What is chosen by name.
var (
	dampings = map[string]bool{"nielsen": false, "classical": true}
	scalings = map[string]lm.Scaling{"more": lm.ScalingMore, "current": lm.ScalingCurrent, "identity": lm.ScalingIdentity}
	adjoints = map[string]lm.Hessian{"exact": lm.HessianExact, "gauss-newton": lm.HessianGaussNewton, "paper": lm.HessianGaussNewton}
)

// Options returns the constraint options a spec describes.
func (s *Spec) Options(p *pde.Problem) (constraint.Options, error) {
	c := s.Constraint
	if err := s.fitted(); err != nil {
		return constraint.Options{}, err
	}
	o := constraint.Options{
		Points: c.Points, Overlap: c.Overlap.Start != 0 || c.Overlap.End != 0, Weights: c.Weights, Mean: c.Normalization == "mean",
		LocalConditions: c.ConditionRows == "local", RepeatInitial: c.RepeatInitial, Start: c.Start,
		Separate: !c.Tied() && s.Method != Soft, Directions: s.Directions(),
		Solver: lm.Options{
			GTol: c.Tolerance, FTol: c.CostTolerance, MaxIterations: c.MaxIterations, Ridge: c.Ridge,
			NewtonCorrection: c.NewtonCorrection, NoRestart: true,
		},
	}
	if c.CostTolerance == 0 {
		o.Solver.FTol = -1
	}
	switch s.Method {
	case Soft:
		o.Fixed, o.Start = true, c.SoftWeight
	case MoE:
		var err error
		o.Router = c.Router
		if o.Experts, err = axisMap(p, "constraint.experts", c.Experts, 1); err != nil {
			return o, err
		}
	}
	classical, isDamping := dampings[c.Damping]
	scaling, isScaling := scalings[c.Scaling]
	adjoint, isAdjoint := adjoints[c.Adjoint]
	if !isDamping || !isScaling || !isAdjoint {
		return o, fmt.Errorf("constraint: damping %q, scaling %q or adjoint %q: there is no such one", c.Damping, c.Scaling, c.Adjoint)
	}
	o.Solver.Descent = lm.LevenbergMarquardt{Classical: classical, InitialDamping: initialDamping}
	o.Solver.Scaling, o.Adjoint, o.PaperAdjoint = scaling, adjoint, c.Adjoint == "paper"
	return o, nil
}

// NewRouter divides a grid of the problem, or the first segment of it, among experts as the spec says.
func (s *Spec) NewRouter(p *pde.Problem, g *grid.Grid) (constraint.Router, error) {
	options, err := s.Options(p)
	if err != nil {
		return nil, err
	}
	if g, err = s.SegmentGrid(p, g); err != nil {
		return nil, err
	}
	return options.NewRouter(g)
}

// Directions is how many corrections of earlier passes are functions of a solve.
func (s *Spec) Directions() int {
	if s.Method == Soft || s.Network.Passes == 1 {
		return 0
	}
	return s.Constraint.Directions
}

// metScale makes rows hold almost as those do that every field of the ansatz meets: with more normal equations are singular.
const metScale = 100

// RowScale returns what multiplies the squares of a set's rows where values of a whole grid are sought: as in solves, but that conditions which all fields of the ansatz
// meet hold.
func (s *Spec) RowScale(p *pde.Problem) (func(set *pde.RowSet) float64, error) {
	options, err := s.Options(p)
	var met []string
	for c := range p.Unknowns {
		met = append(met, p.SmoothMet(c)...)
	}
	return func(set *pde.RowSet) float64 {
		scale := options.RowScale(set, len(set.Solved))
		if slices.Contains(met, set.Name) {
			scale *= metScale
		}
		return scale
	}, err
}
