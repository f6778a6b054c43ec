package pde

import (
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/config"
)

// The shape of a PDE file; docs/pde-files.md describes it.
type (
	fileProblem struct {
		Name        string                    `yaml:"name" config:"required"`
		Title       string                    `yaml:"title"`
		Unknown     fileUnknown               `yaml:"unknown" config:"required"`
		Axes        config.Map[fileAxis]      `yaml:"axes" config:"required"`
		Constants   config.Map[config.Scalar] `yaml:"constants"`
		Expressions config.Map[config.Scalar] `yaml:"expressions"`
		Terms       config.Map[fileTerm]      `yaml:"terms"`
		Residual    fileRows                  `yaml:"residual" config:"required"`
		Conditions  config.Map[fileRows]      `yaml:"conditions"`
		Ansatz      fileAnsatz                `yaml:"ansatz"`
		Time        config.Scalar             `yaml:"time"`
		Initial     fileSampler               `yaml:"initial"`
		Inputs      config.Map[fileSampler]   `yaml:"inputs"`
		Reference   fileReference             `yaml:"reference"`
	}
	fileAxis struct {
		Range    []config.Scalar `yaml:"range" config:"required"`
		Points   int             `yaml:"points" config:"required"`
		Boundary fileBoundary    `yaml:"boundary" config:"required"`
		Unit     string          `yaml:"unit"`
		Pos      config.Position `yaml:"-"`
	}
	fileFactor struct {
		Axis       string          `yaml:"axis" config:"required"`
		Derivative int             `yaml:"derivative"`
		Order      int             `yaml:"order"`
		Side       grid.Side       `yaml:"side"`
		Closure    grid.Closure    `yaml:"closure"`
		Points     int             `yaml:"points"`
		Low        *config.Scalar  `yaml:"low"`
		High       *config.Scalar  `yaml:"high"`
		Repeated   bool            `yaml:"repeated"`
		Edge       string          `yaml:"edge"`
		At         *grid.Location  `yaml:"at"`
		Pos        config.Position `yaml:"-"`
	}
	fileSpectral struct {
		Spectral   string          `yaml:"spectral" config:"required"`
		Axis       string          `yaml:"axis"`
		Component  string          `yaml:"component"`
		Derivative int             `yaml:"derivative"`
		Pos        config.Position `yaml:"-"`
	}
	fileTerm struct {
		factors  []fileFactor
		spectral *fileSpectral
		flux     *fileFlux
		pos      config.Position
	}
	fileRows struct {
		Kind       string             `yaml:"kind"`
		At         config.Map[string] `yaml:"at"`
		Rows       config.Map[[]int]  `yaml:"rows"`
		SolveRows  config.Map[[]int]  `yaml:"solve_rows"`
		Expression config.Scalar      `yaml:"expression" config:"required"`
		Weight     config.Scalar      `yaml:"weight"`
		Pos        config.Position    `yaml:"-"`
	}
	fileAnsatz struct {
		Offset     config.Scalar   `yaml:"offset"`
		Multiplier config.Scalar   `yaml:"multiplier"`
		Projection string          `yaml:"projection"`
		Pos        config.Position `yaml:"-"`
	}
	fileReference struct {
		Solver    string                    `yaml:"solver"`
		File      string                    `yaml:"file"`
		Constants config.Map[config.Scalar] `yaml:"constants"`
		Points    config.Map[int]           `yaml:"points"`
		Refine    config.Map[int]           `yaml:"refine"`
		Pos       config.Position           `yaml:"-"`
	}
)

// fileUnknown is the name of the unknown.
type fileUnknown struct{ config.Scalar }

// UnmarshalConfig explains that a list of unknowns is not supported.
func (u *fileUnknown) UnmarshalConfig(n config.Node) error {
	if n.Kind() == config.List {
		return n.Errorf("unknown: a list of unknowns: systems of several unknowns are not supported").
			WithHint("a problem has one unknown, as in unknown: u")
	}
	return n.Decode(&u.Scalar)
}

// fileBoundary is where the points of an axis are.
type fileBoundary struct{ grid.Boundary }

// wallWords are what a reader may expect `boundary` to say.
var wallWords = []string{"dirichlet", "neumann", "robin", "wall", "walls", "zero", "fixed", "noflux", "no-flux", "reflecting", "open"}

// UnmarshalConfig sends conditions at the walls to where they belong.
func (b *fileBoundary) UnmarshalConfig(n config.Node) error {
	var name config.Scalar
	if err := n.Decode(&name); err != nil {
		return err
	}
	err := b.Boundary.UnmarshalText([]byte(name.Text))
	if err == nil {
		return nil
	}
	problem := n.Errorf("%s: %v", n.Path(), err)
	if slices.Contains(wallWords, strings.ToLower(name.Text)) {
		problem = problem.WithHint("boundary says where the points are, cells or nodes for an axis with walls; what holds there is a row of `conditions`, as in left: {at: {%s: low}, expression: ...}", axisOf(n.Path()))
	}
	return problem
}

// axisOf returns the axis in a path such as axes.x.boundary.
func axisOf(p string) string {
	if parts := strings.Split(p, "."); len(parts) == 3 {
		return parts[1]
	}
	return "x"
}

// UnmarshalConfig reads one factor, {factors: [...]} for a product, or
// {spectral: ...} or {flux: ...}.
func (t *fileTerm) UnmarshalConfig(n config.Node) error {
	t.pos = n.Position()
	if _, ok := n.Lookup("spectral"); ok {
		t.spectral = &fileSpectral{}
		return n.Decode(t.spectral)
	}
	if _, ok := n.Lookup("flux"); ok {
		t.flux = &fileFlux{}
		return n.Decode(t.flux)
	}
	if _, ok := n.Lookup("factors"); ok {
		var product struct {
			Factors []fileFactor `yaml:"factors"`
		}
		err := n.Decode(&product)
		t.factors = product.Factors
		return err
	}
	t.factors = make([]fileFactor, 1)
	return n.Decode(&t.factors[0])
}
