package experiment

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/config"
	"pihc/internal/discrete"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
)

const (
	// lowerFloor is the fraction of a floor that another order must bring it below.
	lowerFloor = 0.8
	// mostOrder is the highest order of accuracy that is tried.
	mostOrder = 6
	// leastFloor is a floor that no training comes near.
	leastFloor = 1e-4
	// reachedFloor is one that trainings come near: below it the tie of the first rows to the initial condition is worth more
	// (docs/evidence/choices.md; a double well's 10.6 % and a leaky habitat's 0.27 % shaped it).
	reachedFloor = 0.01
)

// holdAtStart makes the residual hold at the first time too, where a file leaves it out though initial
// conditions meet those of the walls. Of the rows after it only the few whose difference reaches back to
// the initial condition know of it, the less the higher their order (by 1/2 at order 2, 1/6 at 6): a jump
// after the first time costs them little, and is an error at all others. Where the grid does not resolve how
// solutions begin, the row of the first time is such an error itself, and stays out, or is taken out where that lowers the floor.
func (d *draft) holdAtStart(ctx context.Context, o Options) error {
	p := d.p
	may, err := mayHoldAtStart(p)
	if err != nil {
		return err
	}
	d.warnings = slices.DeleteFunc(d.warnings, func(w string) bool { return strings.HasPrefix(w, unresolvedBeginning) }) // of fewer points
	if holds := discrete.Marches(p) && startHolds(p); solvable(p) && (may || holds) {
		o.say("init: looking at how solutions begin")
		start, err := meanStart(ctx, d.fitted, p)
		if err != nil {
			return err
		}
		if start > resolvedStart {
			may = false
			if holds {
				return d.leaveStart(ctx, start)
			}
		}
	}
	if !may {
		return nil
	}
	time := p.Axes[0].Name
	if slices.ContainsFunc(p.Residuals, func(r pde.Rows) bool { return r.Skip[time][0] > 1 || r.Skip[time][0] > 0 && r.SolveSkip != nil }) {
		return nil // so it is meant
	}
	text, err := withFirstRows(d.src, p, 0)
	if err != nil {
		return nil // written in another way
	}
	if q := loadSound(d.file, text); q != nil {
		d.src, d.p = text, q
		d.added = append(d.added, fmt.Sprintf("changed rows of the residual: %s from the first on, which ties the solution to its initial condition", time))
	}
	return nil
}

// withFirstRows is a PDE file whose residuals leave out the first times, so many, and with some its conditions at walls too, where the file does not say; those
// without a derivative in time, which hold also there, none.
func withFirstRows(src []byte, p *pde.Problem, first int) ([]byte, error) {
	time := p.Axes[0].Name
	orders := discrete.TimeOrders(p)
	for _, c := range p.Conditions {
		_, stated := c.Skip[time]
		moves := true
		for u, order := range orders {
			moves = moves && (order > 0 || !p.Concerns(c, u))
		}
		if first == 0 || stated || c.Kind != pde.BoundaryRows || c.At[time] != "" || !moves {
			continue
		}
		var err error
		if src, err = config.Set(src, fmt.Sprintf("conditions.%s.rows.%s=[%d, 0]", c.Name, time, first)); err != nil {
			return nil, err
		}
	}
	for _, r := range p.Residuals {
		skip, stated := r.Skip[time]
		moves := slices.ContainsFunc(p.Terms, func(t pde.Term) bool {
			return r.Expr.DependsOn(t.Name) && slices.ContainsFunc(t.Factors, func(f pde.Factor) bool { return f.Axis == time })
		})
		if skip[0] == first || first > 0 && !moves {
			continue
		}
		key := "residual.rows." + time
		if len(p.Residuals) > 1 {
			key = "residual." + r.Name + ".rows." + time
		}
		set := fmt.Sprintf("%s=[%d, %d]", key, first, skip[1])
		if stated { // leave the line as it is written
			set = fmt.Sprintf("%s.0=%d", key, first)
		}
		var err error
		if src, err = config.Set(src, set); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// leaveStart leaves the first time out of the residual of a problem whose solutions leave start of their rate there, if initial conditions miss
// those of the walls, which no finer grid mends, and if it lowers a floor that trainings come near, and where fields begin by steps of the linear part of rows; else it warns,
// where the floor shows that to be an error.
func (d *draft) leaveStart(ctx context.Context, start float64) error {
	misfit, _, err := model.Misfit(d.p)
	if err != nil {
		return err
	}
	text, err := withFirstRows(d.src, d.p, 1)
	q := loadSound(d.file, text)
	leaves := err == nil && q != nil
	if leaves && q.Unknowns[0].Ansatz.ByRows { // steps tie the solution to its beginning
		said := changedRows(d.p, q, start)
		d.src, d.p = text, q
		d.added = append(d.added, said)
		return nil
	}
	before, err := d.floorOf(ctx, d.p)
	if err != nil || before <= leastFloor {
		return err
	}
	if leaves && misfit > compatibleMisfit {
		floor, err := d.floorOf(ctx, q)
		if err != nil {
			return err
		}
		if before > reachedFloor && floor < lowerFloor*before {
			said := changedRows(d.p, q, start)
			d.src, d.p = text, q
			d.added = append(d.added, fmt.Sprintf("%s; floor_error falls from %s to %s", said, words.Percent(before), words.Percent(floor)))
			return nil
		}
	}
	d.warnings = append(d.warnings, unresolvedStart(d.p, start))
	return nil
}

// changedRows says which rows of a problem leave out the first time in another one.
func changedRows(p, without *pde.Problem, start float64) string {
	time, of := p.Axes[0].Name, "the residual"
	for i, c := range p.Conditions {
		if c.Skip[time] != without.Conditions[i].Skip[time] {
			of = "the residual and of walls"
		}
	}
	return fmt.Sprintf("changed rows of %s: without the first %s, at which solutions leave %s of their rate on this grid", of, time, words.Percent(start))
}

// solvable reports whether reference solutions can be computed.
func solvable(p *pde.Problem) bool {
	return p.Reference.Solver != "" && p.Reference.File == ""
}

// loadSound is the problem of a file without mistakes and faults, nil of another.
func loadSound(name string, text []byte) *pde.Problem {
	p, err := pde.Load(name, text)
	if err != nil || p.CheckConditions() != nil {
		return nil
	}
	if x, err := examine(p); err != nil || len(x.Faults) > 0 {
		return nil
	}
	return p
}

// resolvedStart is the residual of solutions at the first time, over their rate there, above which the
// grid does not resolve how they begin: of the examples the one that lost by rows there has 0.57, the others
// 0.1 at most (docs/evidence/choices.md).
const resolvedStart = 0.25

// meanStart is the mean over reference solutions of their startResidual; NaN where none can be solved, which others tell.
func meanStart(ctx context.Context, spec *model.Spec, p *pde.Problem) (float64, error) {
	g, err := p.Grid(spec.Grid)
	if err != nil {
		return 0, err
	}
	start, err := newStartResidual(p, g)
	if err != nil {
		return 0, err
	}
	sum, count := 0.0, 0
	err = eachReference(ctx, spec, p, g, holdSolver, func(_ string, u0, truth []float64) error {
		sum, count = sum+start.relative(truth, u0), count+1
		return nil
	})
	if ctx.Err() != nil {
		return 0, err
	}
	return sum / float64(count), nil
}

// startResidual is the residual of a problem at the first time alone, relative to the rate of solutions.
type startResidual struct{ first, whole *pde.PlainResidual }

func newStartResidual(p *pde.Problem, g *grid.Grid) (*startResidual, error) {
	at, axis := *p, p.Axes[0].Name
	at.Residuals = slices.Clone(p.Residuals)
	for i := range at.Residuals {
		r := &at.Residuals[i]
		r.Skip, r.SolveSkip = maps.Clone(r.Skip), nil
		r.Skip[axis] = [2]int{0, g.Axes[0].Points - 1}
	}
	var out startResidual
	for _, r := range []struct {
		of  *pde.Problem
		out **pde.PlainResidual
	}{{&at, &out.first}, {p, &out.whole}} {
		sys, err := r.of.Discretize(g)
		if err != nil {
			return nil, err
		}
		if *r.out, err = sys.NewPlainResidual(); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// relative returns pde.Relative of the residual of u (C, P) at the first time for the inputs of a sample, over the
// rate there or at all times, whichever is larger: what begins at rest has no rate at the first.
func (s *startResidual) relative(u, initial []float64) float64 {
	residual, rate := s.first.RMS(u, initial)
	_, whole := s.whole.RMS(u, initial)
	for i := range rate {
		rate[i] = max(rate[i], whole[i])
	}
	return pde.Relative(residual, rate)
}

// unresolvedBeginning begins what unresolvedStart says.
const unresolvedBeginning = "the grid does not resolve how solutions begin"

// unresolvedStart says that rows at the first time may be an error.
func unresolvedStart(p *pde.Problem, start float64) string {
	t := p.Axes[0].Name
	return fmt.Sprintf(unresolvedBeginning+": at the first %s the residual of reference solutions is %s of their rate, and rows there may make that an error at all times: compare with more points along %s, or with `rows: {%s: [1, 0]}` in the residual", t, words.Percent(start), t, t)
}

// mayHoldAtStart reports whether the residual leaves out the first time, where initial conditions would let it hold.
func mayHoldAtStart(p *pde.Problem) (bool, error) {
	if !discrete.Marches(p) || startHolds(p) {
		return false, nil
	}
	misfit, _, err := model.Misfit(p)
	return misfit <= compatibleMisfit, err
}

// startHolds reports whether the residual holds at the first time.
func startHolds(p *pde.Problem) bool {
	return !slices.ContainsFunc(p.Residuals, func(r pde.Rows) bool { return r.Skip[p.Axes[0].Name][0] > 0 })
}

// raiseOrders gives the differences of a PDE file that are central the order of accuracy with which the minimiser of its
// rows is nearest to solutions (check's floor_error): what is lost there no training brings back. Orders rise along all axes alike, or
// along one after the other where that is nearer: where the error of two axes is of one size neither lowers it alone. Where
// the residual cannot hold at the first time (holdAtStart), its order in time becomes 4 at most, and the first rows count for more.
func (d *draft) raiseOrders(ctx context.Context, o Options) error {
	p := d.p
	o.say("init: comparing orders of differences")
	floor, err := d.floorOf(ctx, p)
	if err != nil || !minimised(p) && !(floor > mostGridError) {
		return err
	}
	before := ordering{src: d.src, p: p, floor: floor}
	tries := []func() (ordering, error){func() (ordering, error) { return d.raised(ctx, before, mostOrder) }}
	if discrete.Marches(p) { // differences of high order need not be stable at walls; those in time are
		tries = append(tries,
			func() (ordering, error) { return d.raised(ctx, before, 4) },
			func() (ordering, error) { return d.raise(ctx, before, 0, 1, mostOrder) })
	}
	var why string
	var last []byte
	for _, try := range tries {
		best, err := try()
		if err != nil {
			return err
		}
		if best.raised == nil || bytes.Equal(best.src, last) {
			continue
		}
		last = best.src
		against, err := d.unsteady(ctx, best.p, p)
		switch {
		case err != nil:
			return err
		case against != "":
			why = cmp.Or(why, against)
			continue
		case why != "":
			best.added = append(best.added, "orders of accuracy are raised less than would be nearest: "+why)
		}
		d.src, d.p = best.src, best.p
		d.added = append(append(d.added, best.added...), fmt.Sprintf("orders of accuracy raised, which brings floor_error from %s to %s: %s", words.Percent(before.floor), words.Percent(best.floor), strings.Join(best.raised, ", ")))
		return nil
	}
	if why != "" {
		d.warnings = append(d.warnings, "orders of accuracy stay as they are: "+why)
	}
	return nil
}

// raised is the ordering with the lowest floor: orders up to most along all axes alike, or along one after the other.
func (d *draft) raised(ctx context.Context, before ordering, most int) (best ordering, err error) {
	best = before
	several := 0 // axes
	for i, axis := range before.p.Axes {
		if len(centralTerms(before.p, axis.Name)) > 0 {
			several++
		}
		if best, err = d.raise(ctx, best, i, i+1, most); err != nil {
			return best, err
		}
	}
	alike := before
	if several > 1 {
		if alike, err = d.raise(ctx, before, 0, len(before.p.Axes), most); err != nil {
			return best, err
		}
	}
	floor := best.floor
	if discrete.Marches(before.p) { // an order in time of which little comes stays
		floor *= lowerFloor
	}
	if alike.floor <= floor {
		best = alike
	}
	return best, nil
}

// unsteady says why orders are not raised: with those of higher, solutions of the rows change with the grid they are computed on, or this grid
// does not hold them and those of before are nearer to the equation's, as differences need not be stable at walls, which the floor of the rows
// does not tell; "" where neither is so.
func (d *draft) unsteady(ctx context.Context, higher, before *pde.Problem) (string, error) {
	if !steadyReference(d.fitted, before, higher) {
		return "with higher ones solutions of the rows change with the grid they are computed on", nil
	}
	away, err := d.hold(ctx, higher)
	if err != nil || !away.poor() { // whoever wants it is told that it was not measured
		return "", ctx.Err()
	}
	nearer, err := d.hold(ctx, before)
	if err != nil || !(nearer.distance < away.distance) {
		return "", ctx.Err()
	}
	if away.distance > 1 {
		return "with higher ones solutions of the rows on this grid grow without bounds", nil
	}
	return fmt.Sprintf("with higher ones solutions of the rows on this grid are %s from those of the equation, not %s", words.Percent(away.distance), words.Percent(nearer.distance)), nil
}

// ordering is a PDE file with some orders of accuracy, and its floor.
type ordering struct {
	src    []byte
	p      *pde.Problem
	floor  float64
	raised []string // terms with their orders
	added  []string // what else was added
}

// raise gives differences along some axes, from first on, the same higher order of accuracy, up to most, if that lowers the floor.
func (d *draft) raise(ctx context.Context, from ordering, first, end, most int) (ordering, error) {
	if !(from.floor > leastFloor) { // or not measured
		return from, nil
	}
	var terms []centralTerm
	for _, axis := range from.p.Axes[first:end] {
		terms = append(terms, centralTerms(from.p, axis.Name)...)
	}
	orders, weight := []int{4, mostOrder}, ""
	if first == 0 && discrete.Marches(from.p) && !startHolds(from.p) {
		orders = orders[:1]
		if weight = weightOfStart(from.p, d.fitted); weight == "" {
			return from, nil
		}
	}
	best, bestOrder := from, 0
	for _, order := range orders {
		if order > most {
			break
		}
		text, err := withOrder(from.src, terms, order)
		if err != nil {
			return from, err
		}
		if text == nil {
			continue
		}
		if weight != "" {
			text = appended(text, weight, "Added by pihc init: the residual leaves out the first time, so that only the first rows after it\n# tie the solution to its initial condition: they count for more.")
		}
		q := loadSound(d.file, text)
		if q == nil {
			continue
		}
		floor, err := d.floorOf(ctx, q)
		if err != nil {
			return from, err
		}
		if floor < lowerFloor*best.floor {
			best, bestOrder = ordering{src: text, p: q, floor: floor}, order
		}
	}
	if bestOrder == 0 {
		return from, nil
	}
	best.raised, best.added = slices.Clone(from.raised), slices.Clone(from.added)
	for _, t := range terms {
		if t.order < bestOrder {
			best.raised = append(best.raised, fmt.Sprintf("%s %d", t.name, bestOrder))
		}
	}
	if weight != "" {
		best.added = append(best.added, "added "+weight)
	}
	return best, nil
}

// steadyReference reports whether solutions of a problem's rows, where they are the reference, change no more with
// the grid they are computed on than those of the problem it was made from, twice over.
func steadyReference(spec *model.Spec, old, p *pde.Problem) bool {
	before, _, ok, err := spec.ReferenceError(old)
	if err != nil || !ok {
		return true // whoever wants it is told by generate
	}
	after, _, _, err := spec.ReferenceError(p)
	return err == nil && after <= max(2*before, mostReferenceError)
}

// weightOfStart is a residual_weight that makes up for what order 4 takes from the tie of the first rows to
// the initial condition: 3 at the first time after it, 1 at late ones. Empty where more
// than the first time is left out, or left out of the constraint alone, and where steps from the first time tie the solution to it.
func weightOfStart(p *pde.Problem, spec *model.Spec) string {
	axis := p.Axes[0]
	if p.Unknowns[0].Ansatz.ByRows || slices.ContainsFunc(p.Residuals, func(r pde.Rows) bool { return r.Skip[axis.Name][0] > 1 || r.SolveSkip != nil }) {
		return ""
	}
	g, err := p.Grid(spec.Grid)
	if err != nil {
		return ""
	}
	since := axis.Name
	if axis.Lo != 0 {
		since = fmt.Sprintf("(%s - %g)", axis.Name, axis.Lo)
	}
	return fmt.Sprintf(`residual_weight: "sqrt(1 + %.3g/%s)"`, 8*g.Axes[0].Step(), since)
}

// minimised reports whether the floor_error of check is had in seconds.
func minimised(p *pde.Problem) bool {
	return solvable(p) && len(p.Axes) == 2 && !slices.ContainsFunc(p.Terms, func(t pde.Term) bool { return t.Spectral != nil })
}

// floorOf is the floor_error of check or, where that takes longer, what hold measures in its place; NaN where it cannot be had. The error is ctx's.
func (d *draft) floorOf(ctx context.Context, p *pde.Problem) (float64, error) {
	if !minimised(p) {
		h, _ := d.hold(ctx, p)
		return h.distance, ctx.Err()
	}
	g, err := floorGrid(d.fitted, p, nil)
	var sys *pde.System
	if err == nil {
		sys, err = p.Discretize(g)
	}
	var floors []CheckedFloor
	if err == nil {
		floors, err = measureFloors(ctx, d.fitted, sys, 0, func(int) {}) // in seconds, or not at all
	}
	if err != nil {
		return math.NaN(), ctx.Err() // whoever wants it is told by check
	}
	return meanOf(floors, errorOf), ctx.Err()
}

// centralTerm is a term whose order of accuracy may be raised.
type centralTerm struct {
	name  string
	order int
}

// centralTerms are the terms that are one central difference along an axis.
func centralTerms(p *pde.Problem, axis string) []centralTerm {
	var terms []centralTerm
	for _, t := range p.Terms {
		if len(t.Factors) != 1 || t.Spectral != nil || t.PerStep {
			continue
		}
		f := t.Factors[0]
		s := f.Scheme
		if f.Axis != axis || f.Edge != nil || s.Derivative == 0 || s.Side != 0 || s.Repeated || s.Closure == grid.Ghost {
			continue
		}
		terms = append(terms, centralTerm{t.Name, max(s.Order, 2)})
	}
	return terms
}

// withOrder is a PDE file whose terms have that order of accuracy at least, nil where they
// had it before.
func withOrder(src []byte, terms []centralTerm, order int) ([]byte, error) {
	if !slices.ContainsFunc(terms, func(t centralTerm) bool { return t.order < order }) {
		return nil, nil
	}
	for _, t := range terms {
		if t.order >= order {
			continue
		}
		var err error
		if src, err = config.Set(src, fmt.Sprintf("terms.%s.order=%d", t.name, order)); err != nil {
			return nil, err
		}
	}
	return src, nil
}
