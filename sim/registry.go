package sim

import (
	"fmt"
	"slices"
	"strings"

	"pihc/grid"
)

// Solver is a classical solver with its constants and its grid.
type Solver interface {
	// Solve writes the solution from the initial condition to dst, which has
	// the shape of the axes given to New. It may be called by several
	// goroutines at once.
	Solve(dst, initial []float64) (Stats, error)
}

// maker is one entry of the registry.
type maker struct {
	constants []string // all required
	options   []string // all optional
	make      func(axes []grid.Axis, constants map[string]float64, options map[string]any) (Solver, error)
}

var makers = map[string]maker{
	"diffusion-sorption": {
		constants: []string{"D", "phi", "rho_s", "k", "n_f"},
		options:   []string{"atol", "rtol", "shift", "wall_conditions"},
		make:      newDiffusionSorption,
	},
}

// Names returns the names that New knows, sorted.
func Names() []string {
	names := make([]string, 0, len(makers))
	for name := range makers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// New returns the solver of the name on the axes, time first, with the physical
// constants and the options given; options left out have the solver's
// defaults.
//
//	diffusion-sorption   DiffusionSorption; axes t (nodes) and x (cells);
//	                     constants D, phi, rho_s, k, n_f; options rtol, atol,
//	                     shift (numbers), wall_conditions (true or false)
//
// Errors name what is unknown, missing or out of range.
func New(name string, axes []grid.Axis, constants map[string]float64, options map[string]any) (Solver, error) {
	m, ok := makers[name]
	if !ok {
		return nil, fmt.Errorf("sim: no solver %q; there is %s", name, strings.Join(Names(), ", "))
	}
	if err := checkNames(name, "constant", m.constants, constants); err != nil {
		return nil, err
	}
	for _, c := range m.constants {
		if _, ok := constants[c]; !ok {
			return nil, fmt.Errorf("sim: solver %s needs the constant %s", name, c)
		}
	}
	if err := checkNames(name, "option", m.options, options); err != nil {
		return nil, err
	}
	return m.make(axes, constants, options)
}

// checkNames reports the first name, in alphabetical order, that is not among
// those known.
func checkNames[V any](solver, what string, known []string, given map[string]V) error {
	names := make([]string, 0, len(given))
	for name := range given {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("sim: solver %s has no %s %q; it has %s", solver, what, name, strings.Join(known, ", "))
		}
	}
	return nil
}

// number sets *dst to a numeric option if it is there.
func number(dst *float64, options map[string]any, name string) error {
	switch x := options[name].(type) {
	case nil:
	case float64:
		*dst = x
	case int:
		*dst = float64(x)
	default:
		return fmt.Errorf("sim: option %s is %v; want a number", name, x)
	}
	return nil
}

// boolean sets *dst to an option that is true or false if it is there.
func boolean(dst *bool, options map[string]any, name string) error {
	switch x := options[name].(type) {
	case nil:
	case bool:
		*dst = x
	default:
		return fmt.Errorf("sim: option %s is %v; want true or false", name, x)
	}
	return nil
}

// checkAxis compares the boundary type of axis i, whose role is what.
func checkAxis(solver string, axes []grid.Axis, i int, what string, want grid.Boundary) error {
	if a := axes[i]; a.Boundary != want {
		return fmt.Errorf("sim: solver %s wants axis %s (%s) with %v, not %v", solver, a.Name, what, want, a.Boundary)
	}
	return nil
}

func newDiffusionSorption(axes []grid.Axis, constants map[string]float64, options map[string]any) (Solver, error) {
	const name = "diffusion-sorption"
	if len(axes) != 2 {
		return nil, fmt.Errorf("sim: solver %s wants two axes, time and space, not %d", name, len(axes))
	}
	if err := checkAxis(name, axes, 0, "time", grid.Nodes); err != nil {
		return nil, err
	}
	if err := checkAxis(name, axes, 1, "space", grid.Cells); err != nil {
		return nil, err
	}
	d := DiffusionSorption{
		D: constants["D"], Phi: constants["phi"], RhoS: constants["rho_s"], K: constants["k"], NF: constants["n_f"],
		Points: axes[1].Points, Length: axes[1].Hi - axes[1].Lo,
		Time: axes[0].Hi - axes[0].Lo, Outputs: axes[0].Points,
	}
	for option, dst := range map[string]*float64{"rtol": &d.RTol, "atol": &d.ATol, "shift": &d.Shift} {
		if err := number(dst, options, option); err != nil {
			return nil, err
		}
	}
	if err := boolean(&d.WallConditions, options, "wall_conditions"); err != nil {
		return nil, err
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	return d, nil
}
