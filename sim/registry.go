package sim

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"pihc/grid"
)

// Solver is a classical solver with its constants and its grid.
type Solver interface {
	// Solve writes the solution of a sample to dst. The sample has the inputs of the Setting one
	// after another, each on its axes, and dst the unknowns, each on all axes. It may be called
	// by several goroutines at once.
	Solve(dst, sample []float64) (Stats, error)
}

// A Setting is what a solver is made for.
type Setting struct {
	Axes      []grid.Axis        // of solutions: time first, where there is time
	Unknowns  []string           // names; none is one without a name
	Inputs    []Input            // initial conditions first; none is that of the one unknown
	Constants map[string]float64 // physical
	Options   map[string]any     // those left out have the solver's defaults
}

// An Input is something that differs between samples.
type Input struct {
	Name    string
	Initial bool        // what an unknown begins with
	Axes    []grid.Axis // along which it varies: none for a number
}

// A Maker makes the solvers of one name.
type Maker struct {
	Constants []string // names, all required
	Options   []string // names of those there are
	// General says that Make decides for which unknowns and inputs it has a solver. Others are
	// asked for one unknown and its initial condition alone.
	General bool
	// Make returns the solver, or an error that says what of the setting does not fit. Names of
	// constants and options were checked before.
	Make func(s Setting) (Solver, error)
}

var makers = map[string]Maker{
	"diffusion-sorption": {
		Constants: []string{"D", "phi", "rho_s", "k", "n_f"},
		Options:   []string{"atol", "rtol", "shift", "wall_conditions"},
		Make:      newDiffusionSorption,
	},
	"navier-stokes": {
		Constants: []string{"nu"},
		Options:   []string{"atol", "forcing", "remove_mean", "rtol"},
		Make:      newNavierStokes,
	},
}

// Register makes a solver available by a name, which PDE files give as
// `reference: {solver: NAME}`. It panics if the name is taken, and is to be called
// before any solver is made.
func Register(name string, m Maker) {
	if _, ok := makers[name]; ok || name == "" || name == "discrete" || name == "file" {
		panic("sim: Register: the name is taken")
	}
	makers[name] = m
}

// Names returns the names that New knows, sorted.
func Names() []string { return slices.Sorted(maps.Keys(makers)) }

// New returns the solver of the name for a setting. Beside those that were
// registered there are:
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
func New(name string, s Setting) (Solver, error) {
	m, ok := makers[name]
	if !ok {
		return nil, fmt.Errorf("no solver %q; there is %s", name, strings.Join(Names(), ", "))
	}
	if !m.General && len(s.Unknowns) > 1 {
		return nil, fmt.Errorf("solver %s is of one unknown, and the problem has %d; solver: discrete", name, len(s.Unknowns))
	}
	if !m.General && len(s.Inputs) > 0 && (len(s.Inputs) > 1 || !s.Inputs[0].Initial) {
		return nil, fmt.Errorf("solver %s solves for initial conditions alone, and the problem has inputs besides; solver: discrete", name)
	}
	if err := checkNames(name, "constant", m.Constants, s.Constants); err != nil {
		return nil, err
	}
	for _, c := range m.Constants {
		if _, ok := s.Constants[c]; !ok {
			return nil, fmt.Errorf("solver %s needs the constant %s", name, c)
		}
	}
	if err := checkNames(name, "option", m.Options, s.Options); err != nil {
		return nil, err
	}
	return m.Make(s)
}

// checkNames reports the first name, in alphabetical order, that is not among
// those known.
func checkNames[V any](solver, what string, known []string, given map[string]V) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%s has no %s %q; it has %s", solver, what, name, strings.Join(known, ", "))
		}
	}
	return nil
}

// set sets *dst to an option if it is there.
func set[T float64 | bool](dst *T, options map[string]any, name, want string) error {
	x := options[name]
	if n, ok := x.(int); ok {
		x = float64(n)
	}
	v, ok := x.(T)
	if !ok && x != nil {
		return fmt.Errorf("option %s is %v; want %s", name, options[name], want)
	}
	if ok {
		*dst = v
	}
	return nil
}

// checkAxes compares the number of axes, time first, and their boundary types.
func checkAxes(solver string, axes []grid.Axis, what string, want ...grid.Boundary) error {
	if len(axes) != len(want) {
		return fmt.Errorf("solver %s wants %s, not %d", solver, what, len(axes))
	}
	role := "time"
	for i, a := range axes {
		if a.Boundary != want[i] {
			return fmt.Errorf("solver %s wants axis %s (%s) with %v, not %v", solver, a.Name, role, want[i], a.Boundary)
		}
		role = "space"
	}
	return nil
}

func newDiffusionSorption(s Setting) (Solver, error) {
	const name = "diffusion-sorption"
	if err := checkAxes(name, s.Axes, "two axes, time and space", grid.Nodes, grid.Cells); err != nil {
		return nil, err
	}
	d := diffusionSorption{
		D: s.Constants["D"], Phi: s.Constants["phi"], RhoS: s.Constants["rho_s"], K: s.Constants["k"], NF: s.Constants["n_f"],
		Points: s.Axes[1].Points, Length: s.Axes[1].Hi - s.Axes[1].Lo,
		Time: s.Axes[0].Hi - s.Axes[0].Lo, Outputs: s.Axes[0].Points,
	}
	for option, dst := range map[string]*float64{"rtol": &d.RTol, "atol": &d.ATol, "shift": &d.Shift} {
		if err := set(dst, s.Options, option, "a number"); err != nil {
			return nil, err
		}
	}
	if err := set(&d.WallConditions, s.Options, "wall_conditions", "true or false"); err != nil {
		return nil, err
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	return d, nil
}

func newNavierStokes(s Setting) (Solver, error) {
	const name = "navier-stokes"
	if err := checkAxes(name, s.Axes, "three axes, time and two of space", grid.Nodes, grid.Periodic, grid.Periodic); err != nil {
		return nil, err
	}
	n := navierStokes{
		Viscosity: s.Constants["nu"],
		Points:    [2]int{s.Axes[1].Points, s.Axes[2].Points},
		Length:    [2]float64{s.Axes[1].Hi - s.Axes[1].Lo, s.Axes[2].Hi - s.Axes[2].Lo},
		Time:      s.Axes[0].Hi - s.Axes[0].Lo, Outputs: s.Axes[0].Points,
	}
	amplitude := 0.0
	for option, dst := range map[string]*float64{"rtol": &n.RTol, "atol": &n.ATol, "forcing": &amplitude} {
		if err := set(dst, s.Options, option, "a number"); err != nil {
			return nil, err
		}
	}
	if err := set(&n.RemoveMean, s.Options, "remove_mean", "true or false"); err != nil {
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
func NewField(name string, axes []grid.Axis, parameters map[string]any) (*randomField, error) {
	defaults := map[string]map[string]float64{
		"periodic-kernel": {"points": 64, "lambda": 0.8},
		"power-law":       {"points": 64, "alpha": 2.5, "tau": 7, "scale": 0},
	}
	p, ok := defaults[name]
	if !ok {
		return nil, fmt.Errorf("no random field %q; there is periodic-kernel, power-law", name)
	}
	known := slices.Sorted(maps.Keys(p))
	if err := checkNames(name, "parameter", known, parameters); err != nil {
		return nil, err
	}
	for _, parameter := range known {
		x := p[parameter]
		if err := set(&x, parameters, parameter, "a number"); err != nil {
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
		return newPowerLawField(shape, to, p["alpha"], p["tau"], p["scale"])
	}
	return newPeriodicKernelField(shape, to, p["lambda"])
}
