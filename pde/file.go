package pde

import (
	"fmt"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/config"
)

// The shape of a PDE file; docs/reference/pde-files.md describes it.
type (
	fileProblem struct {
		Name        string                    `yaml:"name" config:"required"`
		Title       string                    `yaml:"title"`
		Unknown     fileUnknown               `yaml:"unknown" config:"required"`
		Axes        config.Map[fileAxis]      `yaml:"axes" config:"required"`
		Constants   config.Map[config.Scalar] `yaml:"constants"`
		Expressions config.Map[config.Scalar] `yaml:"expressions"`
		Terms       config.Map[fileTerm]      `yaml:"terms"`
		Residual    fileResidual              `yaml:"residual" config:"required"`
		Weight      config.Scalar             `yaml:"residual_weight"`
		Conditions  config.Map[fileRows]      `yaml:"conditions"`
		Ansatz      perUnknown[fileAnsatz]    `yaml:"ansatz"`
		Time        config.Scalar             `yaml:"time"`
		Initial     perUnknown[fileSampler]   `yaml:"initial"`
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
		Of         config.Scalar   `yaml:"of"` // of a term, not of a factor in a product
		Axis       string          `yaml:"axis" config:"required"`
		Derivative int             `yaml:"derivative"`
		Order      int             `yaml:"order"`
		Side       fileSide        `yaml:"side"`
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
		Of         config.Scalar   `yaml:"of"`
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
		of       config.Scalar
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
		Offset     config.Scalar             `yaml:"offset"`
		Multiplier config.Scalar             `yaml:"multiplier"`
		Projection string                    `yaml:"projection"`
		MeanWeight config.Scalar             `yaml:"mean_weight"`
		Smooth     config.Map[config.Scalar] `yaml:"smooth"`
		Leaves     []config.Scalar           `yaml:"leaves"`
		Duhamel    fileDuhamel               `yaml:"duhamel"`
		Pos        config.Position           `yaml:"-"`
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

// fileUnknown is the name of the unknown, or a list of names.
type fileUnknown struct {
	names []config.Scalar
	pos   config.Position
}

// UnmarshalConfig reads a name or a list.
func (u *fileUnknown) UnmarshalConfig(n config.Node) error {
	u.pos = n.Position()
	if n.IsList() {
		if err := n.Decode(&u.names); err != nil || len(u.names) > 0 {
			return err
		}
		return n.Errorf("unknown: want a name or a list of names")
	}
	u.names = make([]config.Scalar, 1)
	return n.Decode(&u.names[0])
}

// fileResidual is one set of rows, or several by name.
type fileResidual struct {
	sets  config.Map[fileRows]
	named bool
	pos   config.Position
}

// UnmarshalConfig tells one set, which has an expression, from several.
func (r *fileResidual) UnmarshalConfig(n config.Node) error {
	r.pos = n.Position()
	r.named = mappings(n) && !slices.ContainsFunc([]string{"at", "rows", "solve_rows"}, func(key string) bool { _, ok := n.Lookup(key); return ok })
	if r.named {
		return n.Decode(&r.sets)
	}
	var one fileRows
	err := n.Decode(&one)
	r.sets.Set(residualName, one)
	return err
}

// perUnknown is one V for all unknowns, or one for each that is named.
type perUnknown[V any] struct {
	one   V
	named config.Map[V]
	pos   config.Position
}

// UnmarshalConfig tells one V, which has keys that are no mappings, from several.
func (u *perUnknown[V]) UnmarshalConfig(n config.Node) error {
	u.pos = n.Position()
	_, ansatz := any(u.one).(fileAnsatz)
	if mappings(n) && !(ansatz && slices.Equal(n.Keys(), []string{"smooth"})) {
		return n.Decode(&u.named)
	}
	return n.Decode(&u.one)
}

// mappings reports whether a node is a mapping whose values, one or more, are mappings.
func mappings(n config.Node) bool {
	keys := n.Keys()
	return len(keys) > 0 && !slices.ContainsFunc(keys, func(key string) bool { v, _ := n.Lookup(key); return !v.IsMapping() })
}

// fileSide is a Side of grid.Scheme, by its name.
type fileSide int

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *fileSide) UnmarshalText(text []byte) error {
	i := slices.Index([]string{"backward", "central", "forward"}, string(text))
	if i < 0 {
		return fmt.Errorf("unknown side %q: want central, backward or forward", text)
	}
	*s = fileSide(i - 1)
	return nil
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
		err := n.Decode(t.spectral)
		t.of = t.spectral.Of
		return err
	}
	if _, ok := n.Lookup("flux"); ok {
		t.flux = &fileFlux{}
		err := n.Decode(t.flux)
		t.of = t.flux.Of
		return err
	}
	if _, ok := n.Lookup("factors"); ok {
		var product struct {
			Of      config.Scalar `yaml:"of"`
			Factors []fileFactor  `yaml:"factors"`
		}
		err := n.Decode(&product)
		t.factors, t.of = product.Factors, product.Of
		for _, f := range t.factors {
			if f.Of.Text != "" && err == nil {
				err = f.Of.Pos.Errorf("%s: `of` belongs to the product, not to a factor", n.Path())
			}
		}
		return err
	}
	t.factors = make([]fileFactor, 1)
	err := n.Decode(&t.factors[0])
	t.of = t.factors[0].Of
	return err
}

// fileDuhamel is how an ansatz solves the linear part: "true" by Fourier modes, or "rows".
type fileDuhamel string

func (d *fileDuhamel) UnmarshalText(text []byte) error {
	switch *d = fileDuhamel(text); *d {
	case "true", "false", "rows":
		return nil
	}
	return fmt.Errorf("want true, rows or false, got %q", text)
}
