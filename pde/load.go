package pde

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/config"
	"pihc/internal/disk"
	"pihc/internal/words"
)

//go:embed problems/*.yaml
var builtins embed.FS

// Builtins returns the names of the PDE files that come with pihc.
func Builtins() []string {
	entries, err := builtins.ReadDir("problems")
	if err != nil {
		panic("pde: no built-in problems: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// IsPath reports whether a problem's name is the path of a PDE file.
func IsPath(name string) bool {
	return strings.ContainsAny(name, "/\\") || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// Open reads the problem a spec names: a built-in name, or the path of a PDE
// file (anything with a slash or ending in .yaml or .yml).
// A problem that is not there is an error that satisfies
// errors.Is(err, fs.ErrNotExist).
func Open(name string) (*Problem, error) {
	if !IsPath(name) {
		src, err := builtins.ReadFile(path.Join("problems", name+".yaml"))
		if err != nil {
			err := fmt.Errorf("problem %q: no such built-in problem; there are %s (or give the path of a PDE file): %w", name, strings.Join(Builtins(), ", "), fs.ErrNotExist)
			if meant := disk.Meant(name, "problem.yaml"); meant != "" {
				err = words.WithHint(err, "did you mean %s?", meant)
			}
			return nil, err
		}
		return Load(name+".yaml", src)
	}
	src, err := disk.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("problem %s: %w", name, err)
	}
	return Load(name, src)
}

// Load reads a PDE file; name is used in messages. Everything wrong is
// reported at once, as config.Errors.
func Load(name string, src []byte) (*Problem, error) { return load(name, src, nil) }

// load reads a PDE file; constants of the given names become inputs (Problem.Free).
func load(name string, src []byte, free []string) (*Problem, error) {
	var f fileProblem
	d, err := config.Parse(name, src)
	if err != nil {
		return nil, err
	}
	if at, ok := d.Root().Lookup("problem"); ok && lacks(d.Root(), "axes", "residual") {
		return nil, config.Join(at.Errorf("this is a spec, which names a problem; a PDE file states one").WithHint("what is wanted is the PDE file that its `problem` names"))
	}
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	l := &loader{file: &f, freed: free, values: map[string]*expr.Expr{}, used: map[string]bool{}, counted: map[*expr.Expr]bool{}}
	p := l.problem()
	p.Source, p.file, p.residual = slices.Clone(src), name, f.Residual.pos
	slices.SortStableFunc(l.problems, func(a, b *config.Mistake) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	if err := config.Join(l.problems...); err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(f.Constants.Keys(), f.Expressions.Keys()) {
		if !l.used[name] {
			p.Unused = append(p.Unused, name)
		}
	}
	p.leaveWalls()
	p.leaveCorners()
	for c := range p.Unknowns {
		p.Unknowns[c].Start = p.start(c)
	}
	return p, nil
}

// lacks reports whether a mapping has none of the keys.
func lacks(n config.Node, keys ...string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { _, ok := n.Lookup(key); return ok })
}

// loader turns a decoded file into a Problem, collecting what is wrong.
type loader struct {
	file     *fileProblem
	freed    []string // constants that are inputs
	problems []*config.Mistake
	values   map[string]*expr.Expr // constants and expressions, resolved
	used     map[string]bool       // names that expressions of the file have

	counted    map[*expr.Expr]bool // in operations
	operations int                 // of all expressions of the file
	full       bool                // they are too many, which was reported
}

// residualName is the name of the rows of a residual that the file gives none.
const residualName = "residual"

// report adds a mistake, unless the file's expressions are too many to be read: then what follows is not known.
func (l *loader) report(p *config.Mistake) {
	if !l.full {
		l.problems = append(l.problems, p)
	}
	l.full = l.operations > maxFileOperations
}

// reporter returns a function that reports what is wrong with something.
func (l *loader) reporter(at config.Position, what string) func(format string, args ...any) *config.Mistake {
	return func(format string, args ...any) *config.Mistake {
		problem := at.Errorf("%s: %s", what, fmt.Sprintf(format, args...))
		l.report(problem)
		return problem
	}
}

func (l *loader) problem() *Problem {
	f := l.file
	p := &Problem{Name: f.Name, Title: f.Title, fromFile: &givenOnce{}}
	if p.Title == "" {
		p.Title = p.Name
	}
	for _, name := range f.Unknown.names {
		if !isName(name.Text) {
			l.report(name.Pos.Errorf("unknown %q is not a name", name.Text))
		}
		p.Unknowns = append(p.Unknowns, Unknown{Name: name.Text, Initial: -1})
	}
	l.mathematical(p)
	free := map[string]*expr.Expr{} // values of the free ones
	for name, v := range f.Constants.All() {
		var value float64
		value, l.values[name] = l.constant(v, "constant "+name, free)
		p.Constants = append(p.Constants, Constant{name, value})
		if slices.Contains(l.freed, name) {
			free[name], l.values[name] = expr.Const(value), expr.Variable(name)
		}
	}
	l.axes(p)
	l.inputs(p)
	for _, c := range p.Constants {
		if slices.Contains(l.freed, c.Name) {
			p.Inputs = append(p.Inputs, Input{Name: c.Name, Sampler: Sampler{Distribution: "uniform", Low: c.Value, High: c.Value}})
		}
	}
	names := slices.Concat(p.AxisNames(), p.InputNames(), p.UnknownNames())
	for name, t := range f.Terms.All() {
		if t.flux != nil {
			p.Terms = append(p.Terms, l.flux(p, name, t)...)
			continue
		}
		p.Terms = append(p.Terms, l.term(p, name, t))
		names = append(names, name)
	}
	for name, v := range f.Expressions.All() {
		e := l.expression("expression "+name, v, names)
		p.Expressions = append(p.Expressions, Named{name, e, v.Text})
		l.values[name] = e
	}
	l.distinct(p)
	for name, r := range f.Residual.sets.All() {
		rows := l.rows(p, name, r, names)
		rows.Kind = ResidualRows
		if r.Kind != "" {
			l.report(r.Pos.Errorf("%s: `kind` belongs to a condition", name))
		}
		if r.SolveRows.Len() > 0 {
			l.report(r.Pos.Errorf("%s: solve_rows is for conditions; the points of the residual are sampled, by the spec's `constraint.points`", name))
		}
		if f.Weight.Text != "" {
			rows.Weight = rows.Weight.Times(l.weight(p, name, f.Weight))
		}
		p.Residuals = append(p.Residuals, rows)
	}
	for name, r := range f.Conditions.All() {
		p.Conditions = append(p.Conditions, l.rows(p, name, r, names))
	}
	l.ansatz(p)
	l.steady(p)
	if l.freed == nil { // classical solvers want numbers
		l.reference(p)
	}
	l.beginnings(p)
	l.dropInitial(p)
	return p
}

// beginnings makes conditions at the low end of the first axis, whose kind the file does not state, of kind initial where that is time:
// where no condition holds at its high end.
func (l *loader) beginnings(p *Problem) {
	if len(p.Axes) == 0 || p.Steady { // no axes are reported
		return
	}
	first := p.Axes[0].Name
	if slices.ContainsFunc(p.Conditions, func(r Rows) bool { return r.At[first] == "high" }) {
		return
	}
	for i := range p.Conditions {
		r := &p.Conditions[i]
		if f, ok := l.file.Conditions.Get(r.Name); ok && f.Kind == "" && len(r.At) == 1 && r.At[first] == "low" {
			r.Kind = InitialRows
		}
	}
}

func (l *loader) axes(p *Problem) {
	for name, a := range l.file.Axes.All() {
		axis := DomainAxis{Axis: grid.Axis{Name: name, Hi: 1, Points: a.Points, Boundary: a.Boundary.Boundary}, Unit: a.Unit}
		if a.Points < 0 || a.Points > math.MaxInt32 {
			l.report(a.Pos.Errorf("axis %s: %d points", name, a.Points).WithHint("64, say"))
		}
		if len(a.Range) != 2 {
			l.report(a.Pos.Errorf("axis %s: range wants two numbers, [low, high]", name))
		} else if !l.withUnit(name, a.Range) {
			before := len(l.problems)
			axis.Lo, axis.Hi = l.number(a.Range[0], "range"), l.number(a.Range[1], "range")
			if len(l.problems) == before && axis.Hi <= axis.Lo {
				l.report(a.Range[1].Pos.Errorf("axis %s: the range [%g, %g] is empty", name, axis.Lo, axis.Hi))
			}
		}
		p.Axes = append(p.Axes, axis)
	}
	if len(p.Axes) < 2 || len(p.Axes) > 3 {
		m := l.file.Unknown.pos.Errorf("%d axes: a problem has two or three, the first one time unless `time: none` is there", len(p.Axes))
		if len(p.Axes) == 1 {
			m = m.WithHint("a steady equation along one: beside it a periodic axis of few points, along which nothing changes, or one for a parameter, and time: none")
		}
		l.report(m)
	}
}

// numberWithUnit is a number, a space or none, and a word.
var numberWithUnit = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*(\pL+)$`)

// withUnit reports the first end of a range that is written with its unit.
func (l *loader) withUnit(axis string, ends []config.Scalar) bool {
	for _, end := range ends {
		if m := numberWithUnit.FindStringSubmatch(strings.TrimSpace(end.Text)); m != nil {
			l.report(end.Pos.Errorf("axis %s: range wants numbers without a unit", axis).WithHint("the unit has a key of its own: unit: %s", m[3]))
			return true
		}
	}
	return false
}

// distinct reports what is not a name, and names used twice.
func (l *loader) distinct(p *Problem) {
	const initialCondition = "the initial condition"
	seen := map[string]string{}
	reserved := func(what, name string, at config.Position) {
		if slices.Contains(reservedArrays, name) {
			l.report(at.Errorf("%s %s: files of samples or predictions have another array of that name", what, name).WithHint("choose another name"))
		}
	}
	for i, u := range p.Unknowns {
		reserved("unknown", u.Name, l.file.Unknown.names[i].Pos)
		for _, name := range []string{u.Name, u.InitialName()} {
			if old, ok := seen[name]; ok {
				l.report(l.file.Unknown.names[i].Pos.Errorf("unknown %s: %s is %s already", u.Name, name, old))
			}
		}
		seen[u.Name] = "the unknown"
		if !p.Steady {
			seen[u.InitialName()] = initialCondition
		}
	}
	check := func(name, what string, at config.Position) {
		if !isName(name) {
			l.report(at.Errorf("%s %q is not a name", what, name).WithHint("a name is letters, digits and _, no digit first, and not the name of a function"))
			return
		}
		if old, ok := seen[name]; ok {
			err := at.Errorf("%s %s has the name of %s", what, name, old)
			if old == initialCondition {
				err = err.WithHint("that is what unknown %s begins with, as the key initial draws it (a number: distribution: uniform-constant); choose another name", strings.TrimSuffix(name, "0"))
			}
			l.report(err)
			return
		}
		article := "a "
		if strings.ContainsRune("aeiou", rune(what[0])) {
			article = "an "
		}
		seen[name] = article + what
	}
	f := l.file
	for _, of := range []struct {
		what string
		keys []config.Scalar
	}{{"axis", keys(f.Axes)}, {"constant", keys(f.Constants)}, {"input", keys(f.Inputs)}, {"term", keys(f.Terms)}, {"expression", keys(f.Expressions)}} {
		for _, key := range of.keys {
			check(key.Text, of.what, key.Pos)
			if of.what == "axis" || of.what == "input" {
				reserved(of.what, key.Text, key.Pos)
			}
		}
	}
	for _, set := range f.Residual.sets.Entries() {
		if e, ok := f.Conditions.Entry(set.Key); ok {
			l.report(e.KeyPos.Errorf("a condition cannot be called %s: that is the name of the residual rows", set.Key))
		}
		if f.Residual.named {
			check(set.Key, "residual", set.KeyPos)
		}
	}
}

// isName reports whether s reads as one variable.
func isName(s string) bool {
	e, err := expr.Parse(s)
	return err == nil && e.Name() == s
}

// keys returns the keys of a map where they stand.
func keys[V any](m config.Map[V]) (all []config.Scalar) {
	for _, e := range m.Entries() {
		all = append(all, config.Scalar{Text: e.Key, Pos: e.KeyPos})
	}
	return all
}

func (l *loader) term(p *Problem, name string, t fileTerm) Term {
	term := Term{Name: name, Of: l.of(p, name, t)}
	if t.spectral != nil {
		term.Spectral = l.spectral(p, name, t.spectral)
		return term
	}
	if len(t.factors) == 0 {
		l.report(t.pos.Errorf("term %s: a product needs at least one factor", name))
	}
	for _, f := range t.factors {
		i := l.axis(p, "term "+name, f.Axis, f.Pos)
		if i < 0 {
			continue
		}
		factor := Factor{Axis: f.Axis}
		switch f.Edge {
		case "":
			l.scheme(&factor, name, f)
		case "low", "high":
			l.edge(&factor, name, f, p.Axes[i])
		default:
			l.report(f.Pos.Errorf("term %s: edge %q: want low or high", name, f.Edge))
		}
		term.Factors = append(term.Factors, factor)
	}
	return term
}

// of returns the unknown that a term acts on.
func (l *loader) of(p *Problem, name string, t fileTerm) int {
	switch {
	case t.of.Text != "":
		return max(0, l.unknown(p, "term "+name, t.of.Text, t.of.Pos))
	case len(p.Unknowns) > 1:
		l.report(t.pos.Errorf("term %s: `of` is missing: the unknown that it acts on", name).WithHint("of: %s", strings.Join(p.UnknownNames(), " or of: ")))
	}
	return 0
}

// scheme reads a derivative on the whole grid.
func (l *loader) scheme(factor *Factor, name string, f fileFactor) {
	if f.At != nil {
		l.report(f.Pos.Errorf("term %s: `at` belongs to an edge term", name).WithHint("add edge: low or edge: high"))
	}
	factor.Scheme = grid.Scheme{Derivative: f.Derivative, Order: f.Order, Side: int(f.Side), Closure: f.Closure, Points: f.Points, Repeated: f.Repeated}
	factor.Low, factor.High = l.ghost(f.Low), l.ghost(f.High)
	scheme, _ := factor.scheme(1) // with the ghost values, which are affine, of some step
	if err := scheme.Validate(); err != nil {
		l.report(f.Pos.Errorf("term %s: %s", name, strings.TrimPrefix(err.Error(), "grid: ")))
	}
}

// edge reads a stencil at one end of an axis.
func (l *loader) edge(factor *Factor, name string, f fileFactor, axis DomainAxis) {
	factor.Edge = &Edge{High: f.Edge == "high", Derivative: f.Derivative, Points: f.Points}
	if f.At != nil {
		factor.Edge.At = *f.At
	}
	bad := l.reporter(f.Pos, "term "+name)
	if f.Order != 0 || f.Side != 0 || f.Closure != 0 || f.Low != nil || f.High != nil || f.Repeated {
		bad("order, side, closure, low, high and repeated do not belong to an edge term").WithHint("an edge term has edge, at, derivative and points")
	}
	if axis.Boundary == grid.Periodic {
		bad("axis %s is periodic and has no ends", axis.Name)
	}
	switch {
	case f.Derivative < 0 || f.Derivative > grid.MaxDerivative:
		bad("derivative %d: want 0 to %d", f.Derivative, grid.MaxDerivative)
	case f.Points <= f.Derivative:
		bad("%d points cannot give derivative %d at an edge", f.Points, f.Derivative).WithHint("points: %d or more", f.Derivative+1)
	case f.Points > 8:
		bad("%d points at an edge: want 8 at most", f.Points)
	}
}

// ghost reads the value outside one end: an expression affine in the points
// nearest that end, with the constants and the axis's step.
func (l *loader) ghost(s *config.Scalar) *expr.Expr {
	if s == nil {
		return nil
	}
	e := l.expression("ghost", *s, append(slices.Clone(ghostPoints), "step"))
	if _, err := ghostValue(e, 1); err != nil {
		l.report(s.Pos.Errorf("%v", err))
		return expr.Const(0)
	}
	return e
}

// weight reads the weight of rows.
func (l *loader) weight(p *Problem, name string, f config.Scalar) *expr.Expr {
	before := len(l.problems)
	w := l.expression("weight of "+name, f, append(p.AxisNames(), p.InputNames()...))
	if equals(w, 0) && len(l.problems) == before {
		l.report(f.Pos.Errorf("%s: weight 0: such rows say nothing", name).WithHint("leave them out"))
	}
	return w
}

func (l *loader) rows(p *Problem, name string, f fileRows, names []string) Rows {
	r := Rows{Name: name, Kind: BoundaryRows, At: map[string]string{}, Skip: map[string][2]int{}, Weight: expr.Const(1)}
	switch f.Kind {
	case "initial":
		r.Kind = InitialRows
	case "boundary", "":
	default:
		l.report(f.Pos.Errorf("%s: kind %q: want initial or boundary", name, f.Kind))
	}
	r.Expr, r.Text = l.expression(name, f.Expression, names), f.Expression.Text
	if f.Weight.Text != "" {
		r.Weight = l.weight(p, name, f.Weight)
	}
	for _, e := range f.At.Entries() {
		l.axis(p, name, e.Key, e.KeyPos)
		if e.Value != "low" && e.Value != "high" {
			l.report(e.Pos.Errorf("%s: at %s: %q: want low or high", name, e.Key, e.Value))
		}
		r.At[e.Key] = e.Value
		if first := p.Axes[0].Name; r.Kind == InitialRows && e.Key != first && p.Axis(e.Key) > 0 {
			l.report(e.KeyPos.Errorf("%s: an initial condition holds at an end of the first axis, which is %s, not %s", name, first, e.Key).WithHint("name %s first under axes", e.Key))
		}
	}
	l.skips(p, r, "rows", f.Rows, r.Skip)
	if f.SolveRows.Len() > 0 {
		r.SolveSkip = map[string][2]int{}
		l.skips(p, r, "solve_rows", f.SolveRows, r.SolveSkip)
	}
	return r
}

// skips reads which points at the ends of axes have no rows.
func (l *loader) skips(p *Problem, r Rows, key string, from config.Map[[]int], to map[string][2]int) {
	for _, e := range from.Entries() {
		l.axis(p, r.Name, e.Key, e.KeyPos)
		if len(e.Value) != 2 || e.Value[0] < 0 || e.Value[1] < 0 {
			l.report(e.Pos.Errorf("%s: %s %s: want [points left out at the low end, at the high end]", r.Name, key, e.Key))
			continue
		}
		if _, fixed := r.At[e.Key]; fixed {
			l.report(e.KeyPos.Errorf("%s: axis %s is fixed by `at` already", r.Name, e.Key))
		}
		to[e.Key] = [2]int{e.Value[0], e.Value[1]}
	}
}

// axis returns the axis of a name, or reports that there is none, -1.
func (l *loader) axis(p *Problem, what, name string, at config.Position) int {
	a := p.Axis(name)
	if a < 0 {
		l.report(at.Errorf("%s: there is no axis %q", what, name).WithHint("the axes are %s", strings.Join(p.AxisNames(), ", ")))
	}
	return a
}

// unknown returns the unknown of a name among keys, or reports that there is none.
func (l *loader) unknown(p *Problem, what, name string, at config.Position) int {
	names := p.UnknownNames()
	c := slices.Index(names, name)
	if c < 0 {
		l.report(at.Errorf("%s: there is no unknown %q", what, name).WithHint("the unknowns are %s", words.List(names)))
	}
	return c
}
