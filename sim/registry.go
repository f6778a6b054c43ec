package sim

import (
	"fmt"
	"math"
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
	"navier-stokes": {
		constants: []string{"nu"},
		options:   []string{"atol", "forcing", "remove_mean", "rtol"},
		make:      newNavierStokes,
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
//	navier-stokes        NavierStokes; axes t (nodes), x and y (periodic);
//	                     constant nu; options rtol, atol (numbers), forcing
//	                     (amplitude of sin 2π(x+y) + cos 2π(x+y), x and y
//	                     counted in boxes), remove_mean (true or false)
//
// Errors name what is unknown, missing or out of range.
func New(name string, axes []grid.Axis, constants map[string]float64, options map[string]any) (Solver, error) {
	m, ok := makers[name]
	if !ok {
		return nil, fmt.Errorf("no solver %q; there is %s", name, strings.Join(Names(), ", "))
	}
	if err := checkNames(name, "constant", m.constants, constants); err != nil {
		return nil, err
	}
	for _, c := range m.constants {
		if _, ok := constants[c]; !ok {
			return nil, fmt.Errorf("solver %s needs the constant %s", name, c)
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
			return fmt.Errorf("%s has no %s %q; it has %s", solver, what, name, strings.Join(known, ", "))
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
		return fmt.Errorf("option %s is %v; want a number", name, x)
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
		return fmt.Errorf("option %s is %v; want true or false", name, x)
	}
	return nil
}

// checkAxis compares the boundary type of axis i, whose role is what.
func checkAxis(solver string, axes []grid.Axis, i int, what string, want grid.Boundary) error {
	if a := axes[i]; a.Boundary != want {
		return fmt.Errorf("solver %s wants axis %s (%s) with %v, not %v", solver, a.Name, what, want, a.Boundary)
	}
	return nil
}

func newDiffusionSorption(axes []grid.Axis, constants map[string]float64, options map[string]any) (Solver, error) {
	const name = "diffusion-sorption"
	if len(axes) != 2 {
		return nil, fmt.Errorf("solver %s wants two axes, time and space, not %d", name, len(axes))
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

func newNavierStokes(axes []grid.Axis, constants map[string]float64, options map[string]any) (Solver, error) {
	const name = "navier-stokes"
	if len(axes) != 3 {
		return nil, fmt.Errorf("solver %s wants three axes, time and two of space, not %d", name, len(axes))
	}
	for i, want := range []grid.Boundary{grid.Nodes, grid.Periodic, grid.Periodic} {
		if err := checkAxis(name, axes, i, []string{"time", "space", "space"}[i], want); err != nil {
			return nil, err
		}
	}
	n := NavierStokes{
		Viscosity: constants["nu"],
		Points:    [2]int{axes[1].Points, axes[2].Points},
		Length:    [2]float64{axes[1].Hi - axes[1].Lo, axes[2].Hi - axes[2].Lo},
		Time:      axes[0].Hi - axes[0].Lo, Outputs: axes[0].Points,
	}
	amplitude := 0.0
	for option, dst := range map[string]*float64{"rtol": &n.RTol, "atol": &n.ATol, "forcing": &amplitude} {
		if err := number(dst, options, option); err != nil {
			return nil, err
		}
	}
	if err := boolean(&n.RemoveMean, options, "remove_mean"); err != nil {
		return nil, err
	}
	if math.IsNaN(amplitude) || math.IsInf(amplitude, 0) {
		return nil, fmt.Errorf("option forcing is %g; want a finite number", amplitude)
	}
	if amplitude != 0 {
		length := n.Length
		n.Forcing = func(x, y float64) float64 {
			s, c := math.Sincos(2 * math.Pi * (x/length[0] + y/length[1]))
			return amplitude * (s + c)
		}
	}
	if err := n.Validate(); err != nil {
		return nil, err
	}
	return n, nil
}

// NewField returns the random field of the name on the axes of space, all
// periodic. Parameters left out have the default in brackets.
//
//	periodic-kernel   NewPeriodicKernelField; lambda [0.8]
//	power-law         NewPowerLawField; alpha [2.5], tau [7], scale [0]
//
// Both take points [64], the points along each axis of the grid on which
// fields are drawn, whatever the axes.
func NewField(name string, axes []grid.Axis, parameters map[string]any) (*RandomField, error) {
	defaults := map[string]map[string]float64{
		"periodic-kernel": {"points": 64, "lambda": 0.8},
		"power-law":       {"points": 64, "alpha": 2.5, "tau": 7, "scale": 0},
	}
	p, ok := defaults[name]
	if !ok {
		return nil, fmt.Errorf("no random field %q; there is periodic-kernel, power-law", name)
	}
	known := make([]string, 0, len(p))
	for parameter := range p {
		known = append(known, parameter)
	}
	slices.Sort(known)
	if err := checkNames(name, "parameter", known, parameters); err != nil {
		return nil, err
	}
	for _, parameter := range known {
		x := p[parameter]
		if err := number(&x, parameters, parameter); err != nil {
			return nil, err
		}
		p[parameter] = x
	}
	points := int(p["points"])
	if float64(points) != p["points"] || points < 1 || points > 1<<14 {
		return nil, fmt.Errorf("random field %s: points %g; want a whole number from 1 to %d", name, p["points"], 1<<14)
	}
	if len(axes) < 1 || len(axes) > 3 {
		return nil, fmt.Errorf("random field %s on %d axes; want 1 to 3", name, len(axes))
	}
	var shape, to []int
	for _, a := range axes {
		if a.Boundary != grid.Periodic {
			return nil, fmt.Errorf("random field %s wants axis %s periodic, not %v", name, a.Name, a.Boundary)
		}
		shape, to = append(shape, points), append(to, a.Points)
	}
	if name == "power-law" {
		return NewPowerLawField(shape, to, p["alpha"], p["tau"], p["scale"])
	}
	return NewPeriodicKernelField(shape, to, p["lambda"])
}
