package model

import (
	"fmt"
	"slices"
	"strings"

	"pihc/internal/words"
	"pihc/pde"
)

// Inputs says what the network sees at every point, in this order: coordinates, the
// inputs of the problem, features.
type Inputs struct {
	Axes   []int // whose coordinates are inputs
	Fields int   // the inputs of the problem
	// Features are unknowns, terms, residuals by their names (the weighted row divided by
	// its root mean square), and those of MeanFeature.
	Features []string
}

// MeanFeature is the name of the mean of a residual's feature from the beginning up to t.
func MeanFeature(residual string) string { return "mean_" + residual }

// NewInputs reads the inputs of a spec.
func (s *Spec) NewInputs(p *pde.Problem) (Inputs, error) {
	in := Inputs{Fields: len(p.Inputs)}
	for i, name := range p.AxisNames() {
		if !slices.Contains(s.Network.OmitCoordinates, name) {
			in.Axes = append(in.Axes, i)
		}
	}
	for _, name := range s.Network.OmitCoordinates {
		if p.Axis(name) < 0 {
			return in, fmt.Errorf("network.omit_coordinates: problem %s has no axis %q; its axes are %s", p.Name, name, strings.Join(p.AxisNames(), ", "))
		}
	}
	all := p.UnknownNames()
	for _, t := range p.Terms {
		if p.InResidual(t.Name) && !t.PerStep {
			all = append(all, t.Name)
		}
	}
	for _, r := range p.Residuals {
		all = append(all, r.Name)
	}
	for _, r := range p.Residuals {
		if !p.Steady {
			all = append(all, MeanFeature(r.Name))
		}
	}
	for _, name := range all {
		if _, ok := s.Network.Features[name]; ok {
			in.Features = append(in.Features, name)
		}
	}
	for name := range s.Network.Features {
		if !slices.Contains(all, name) {
			return in, fmt.Errorf("network.features: %q: want the unknown, a term of the residual of problem %s, or the residual itself: %s", name, p.Name, words.List(all))
		}
	}
	return in, nil
}

func (in *Inputs) Count() int { return len(in.Axes) + in.Fields + len(in.Features) }

// SameForm is an error where the network of another spec, with the same parameters, would be another function: what it sees at a point, or a key that
// the shapes of its parameters do not tell. Sizes that inputs are divided by may differ.
func (s *Spec) SameForm(p *pde.Problem, other *Spec, q *pde.Problem) error {
	mine, err := s.InputNames(p)
	if err != nil {
		return err
	}
	theirs, err := other.InputNames(q)
	if err != nil {
		return err
	}
	if !slices.Equal(mine, theirs) {
		return fmt.Errorf("its network sees %s, this spec's %s", strings.Join(theirs, ", "), strings.Join(mine, ", "))
	}
	if s.Network.Kind != other.Network.Kind {
		return fmt.Errorf("its network.kind is %s, this spec's %s", other.Network.Kind, s.Network.Kind)
	}
	return s.Network.Keys.sameForm(other.Network.Keys)
}

// InputNames returns what the network of a spec sees at every point, in order.
func (s *Spec) InputNames(p *pde.Problem) ([]string, error) {
	if s.Rollout > 1 {
		of, q, err := s.Segment(p)
		if err != nil {
			return nil, err
		}
		return of.InputNames(q)
	}
	in, err := s.NewInputs(p)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, a := range in.Axes {
		names = append(names, p.Axes[a].Name)
	}
	names = append(names, p.InputNames()...)
	for _, f := range in.Features {
		if !slices.ContainsFunc(p.Residuals, func(r pde.Rows) bool { return f == r.Name || f == MeanFeature(r.Name) }) {
			f += " of the field to correct"
		}
		names = append(names, f)
	}
	return names, nil
}
