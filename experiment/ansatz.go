package experiment

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/config"
	"pihc/internal/dataset"
	"pihc/internal/discrete"
	"pihc/internal/words"
	"pihc/model"
	"pihc/pde"
)

const (
	// ansatzDraws is how many samples an ansatz is tried on, before init writes it.
	ansatzDraws = 16
	// exactly is the miss, as a fraction of the field, of conditions on values that an ansatz fixes: rounding of float32.
	exactly = 1e-6
	// converging is what finer steps leave, at half their size, of a miss that is that of a difference of first order.
	converging = 0.6
)

// smoothAnsatz makes the ansatz of a PDE file smooth along the axes that want it, where its offset meets the conditions that S of it does.
func (d *draft) smoothAnsatz(p *pde.Problem) (*pde.Problem, error) {
	if len(roughNotes(p)) == 0 {
		return p, nil
	}
	lengths, err := model.SmoothLengths(p)
	if err != nil {
		return nil, err
	}
	for c, u := range p.Unknowns {
		if len(p.Rough(c)) == 0 || len(u.Ansatz.Smooth) > 0 || p.Smoothable(c) != nil {
			continue
		}
		of := ""
		if len(p.Unknowns) > 1 {
			of = u.Name + "."
		}
		var axes []string
		for _, axis := range slices.Sorted(maps.Keys(lengths[c])) {
			axes = append(axes, fmt.Sprintf("%s: %g", axis, lengths[c][axis]))
		}
		smooth := "{" + strings.Join(axes, ", ") + "}"
		text, err := config.Set(d.src, "ansatz."+of+"smooth="+smooth)
		if err != nil {
			continue // an ansatz that is written in another form
		}
		q, err := pde.Load(d.file, text)
		if err != nil {
			continue
		}
		met := q.SmoothMet(c)
		if ok, err := meets(q, met); err != nil {
			return nil, err
		} else if ok {
			d.src, p = text, q
			d.added = append(d.added, fmt.Sprintf("added smooth: %s to the ansatz of %s, which meets %s exactly: without it trainings of derivatives of fourth order fail", smooth, u.Name, strings.Join(met, ", ")))
		}
	}
	for _, note := range roughNotes(p) {
		d.added = append(d.added, "note: "+note)
	}
	return p, nil
}

// addAnsatz adds to a PDE file without one the ansatz that meets the most conditions exactly, and says which stay rows.
func (d *draft) addAnsatz(p *pde.Problem, add func(text, comment, what string) bool) error {
	misfit, values, err := model.Misfit(p)
	if err != nil {
		return err
	}
	lengths, err := model.SmoothLengths(p)
	if err != nil {
		return err
	}
	jumps := !p.Steady && !(values <= compatibleMisfit)
	e := exactAnsatz{p: p, lengths: lengths, jumps: jumps, disagree: map[string]bool{}}
	if err := e.find(misfit); err != nil {
		return err
	}
	parts, held := e.parts, e.held
	if text := strings.Join(parts, ", "); text != "" {
		if len(p.Unknowns) > 1 {
			text = "{" + text + "}"
		}
		what := "is smooth, as solutions are"
		if len(held) > 0 {
			what = "meets " + strings.Join(held, ", ") + " exactly"
			if e.jumps && e.rows {
				what += fmt.Sprintf(", at walls after the first %s, where initial conditions miss those by %s of their size", p.Axes[0].Name, words.Percent(values))
			}
		}
		if len(e.kept) > 0 {
			what += ", and keeps the mean over space of " + words.List(e.kept)
		}
		fields := "offset + multiplier * (basis of the network)"
		if e.rows {
			fields = "solutions of the linear part of the rows with the basis of the network as a source"
		}
		if !add("ansatz: "+text, "Added by pihc init: fields are "+fields+", which\n# "+what+".", what) {
			d.added = append(d.added, "note: no ansatz is added, since its expressions are too long for a file or it has another: all conditions stay rows")
			return nil
		}
	}
	d.sayRows(p, &e, misfit, values)
	return nil
}

// exactAnsatz looks for the ansatz of each unknown that meets the most conditions.
type exactAnsatz struct {
	p           *pde.Problem
	lengths     []map[string]float64 // of S
	jumps       bool                 // initial conditions miss those of walls
	parts, held []string             // each ansatz as a file has it; the conditions they meet
	rows        bool                 // by the linear part of rows
	kept        []string             // unknowns whose mean over space stays that of the offset
	disagree    map[string]bool      // conditions that could be met but for others
}

// find sets parts, held and disagree.
func (e *exactAnsatz) find(misfit float64) error {
	if found, err := e.duhamel(); found || err != nil {
		return err
	}
	growth := 0.0
	switch walls := slices.ContainsFunc(e.p.Axes[1:], func(a pde.DomainAxis) bool { return a.Boundary != grid.Periodic }); {
	case e.p.Steady:
	case walls:
		growth = mostLinearGrowth
	case len(e.p.Unknowns) > 1 && !e.p.AllLinear():
		growth = mostPeriodicGrowth
	}
	if growth > 0 {
		if found, err := e.byRows(mostStepped, growth); found || err != nil {
			return err
		}
	}
	for c := range e.p.Unknowns {
		a, met, err := e.of(c, e.lengths[c])
		if err != nil {
			return err
		}
		if len(met) == 0 && len(e.p.Rough(c)) > 0 {
			return rough(e.p, c, misfit)
		}
		var tries []map[string]float64
		switch {
		case e.p.Steady && len(e.p.Rough(c)) == 0 && len(e.lengths[c]) > 0: // unless a multiplier meets more
			tries = append(tries, nil)
		case !e.p.Steady && len(e.lengths[c]) == 0:
			tries = slopeLengths(e.p, c, met)
		}
		for _, lengths := range tries {
			tried := *e
			tried.disagree = maps.Clone(e.disagree)
			smooth, more, err := tried.of(c, lengths)
			if err != nil {
				return err
			}
			if len(more) > len(met) {
				a, met, e.disagree = smooth, more, tried.disagree
			}
		}
		if len(met) > 0 || len(a.Smooth) > 0 {
			e.held = append(e.held, met...)
			if err := e.add(with(e.p, c, a), c); err != nil {
				return err
			}
		}
	}
	if !e.p.Steady || len(e.held) == len(e.p.Conditions) {
		return nil
	}
	rows := exactAnsatz{p: e.p, lengths: e.lengths, disagree: e.disagree}
	if found, err := rows.byRows(mostStepped, mostLinearGrowth); found || err != nil {
		*e = rows
		return err
	}
	return nil
}

// duhamel looks for an ansatz by Duhamel's formula for waves: by Fourier modes where these solve the whole linear part, by rows where they do not, all rows are linear and
// the order in time is the second, and then by what Fourier modes solve of it.
func (e *exactAnsatz) duhamel() (found bool, err error) {
	if e.jumps || e.p.Steady {
		return false, nil
	}
	waves := e.p.SemilinearWaves()
	smooth := true
	for c := range e.p.Unknowns {
		smooth = smooth && len(e.p.Rough(c)) == 0
	}
	if smooth && !e.p.ByModes() && e.p.AllLinear() && slices.Max(discrete.TimeOrders(e.p)) == 2 {
		if found, err = e.byRows(mostWaveStepped, mostLinearGrowth); found || err != nil {
			return found, err
		}
	}
	all, met, ok := e.p.DuhamelAnsatz()
	if !ok || !waves {
		return false, nil
	}
	if ok, err := meets(withAll(e.p, all), met); !ok || err != nil {
		return false, err
	}
	return true, e.take(all, met)
}

// byRows takes the ansatz by the linear part of rows, if one function of it takes no more than so much work, and what is there at first grows no more than that.
func (e *exactAnsatz) byRows(work, growth float64) (found bool, err error) {
	all, met, ok := e.p.RowsAnsatz()
	if !ok || !e.steps(all, work, growth) {
		return false, nil
	}
	if met, ok, err = metOf(withAll(e.p, all), met); !ok || err != nil {
		return false, err
	}
	for _, c := range e.p.Conditions { // others miss at the first time what initial conditions do
		if !e.p.Steady && c.At[e.p.Axes[0].Name] != "" && !slices.Contains(met, c.Name) {
			return false, nil
		}
	}
	e.rows = true
	return true, e.take(all, met)
}

const (
	// mostLinearGrowth is how many times larger rows may make what is there at first, and mostPeriodicGrowth without walls, where a multiplier meets all conditions too.
	mostLinearGrowth, mostPeriodicGrowth = 1e4, 10.0
	// mostStepped bounds the products that solving rows takes for one function, and mostWaveStepped those of waves.
	mostStepped, mostWaveStepped = 3e7, 5e8
	// growthDraws is how many samples that is looked at for.
	growthDraws = 4
)

// steps reports whether the linear part of rows can be solved in steps of time for some samples by no more than so much work, and what is there at first grows
// by no more than growth.
func (e *exactAnsatz) steps(all []pde.Ansatz, work, growth float64) bool {
	q := withAll(e.p, all)
	g, err := q.Grid(nil)
	if err != nil {
		return false
	}
	sys, err := q.Discretize(g)
	if err != nil {
		return false
	}
	rows, err := sys.NewLinearRows()
	if err != nil {
		return false
	}
	samples, err := dataset.Draws(q, g, growthDraws)
	if err != nil {
		return false
	}
	random := rand.New(rand.NewPCG(1, 1))
	return !slices.ContainsFunc(samples, func(sample []float64) bool {
		solver, err := rows.For(sample)
		return err != nil || solver.Work() > work || !(solver.Growth(random) <= growth)
	})
}

// take takes an ansatz of all unknowns that meets some conditions.
func (e *exactAnsatz) take(all []pde.Ansatz, met []string) error {
	q := withAll(e.p, all)
	e.held = met
	for c := range all {
		if err := e.add(q, c); err != nil {
			return err
		}
	}
	return nil
}

// withAll is a problem with other ansatzes.
func withAll(p *pde.Problem, all []pde.Ansatz) *pde.Problem {
	q := *p
	q.Unknowns = slices.Clone(q.Unknowns)
	for c := range q.Unknowns {
		q.Unknowns[c].Ansatz = all[c]
	}
	return &q
}

// slopeSteps is the length of S, in steps of an axis, where it is there to meet slopes.
const slopeSteps = 2

// slopeLengths are the lengths of S of a problem in time along axes of space with nodes and derivatives of second order, where it meets the conditions, one at each
// end, of which some have derivatives and are not among those met: no multiplier meets a slope whatever the basis is. All such axes come first,
// then each alone.
func slopeLengths(p *pde.Problem, unknown int, met []string) (tries []map[string]float64) {
	all := map[string]float64{}
	for i, a := range p.Axes {
		left := slices.ContainsFunc(p.Conditions, func(c pde.Rows) bool {
			return c.At[a.Name] != "" && !slices.Contains(met, c.Name) && p.HasDerivative(c)
		})
		if length := model.Rounded(slopeSteps * a.Step()); left && i > 0 && a.Boundary == grid.Nodes && p.Smooths(unknown, i) == nil && p.FreeEnds(unknown, i) == [2]bool{} {
			all[a.Name] = length
			tries = append(tries, map[string]float64{a.Name: all[a.Name]})
		}
	}
	if len(tries) > 1 {
		tries = slices.Insert(tries, 0, all)
	}
	return tries
}

// with is a problem with another ansatz of an unknown.
func with(p *pde.Problem, unknown int, a pde.Ansatz) *pde.Problem {
	q := *p
	q.Unknowns = slices.Clone(q.Unknowns)
	q.Unknowns[unknown].Ansatz = a
	return &q
}

// add adds an unknown's ansatz, that of q, to the parts: without the mean of the basis where solutions keep theirs.
func (e *exactAnsatz) add(q *pde.Problem, unknown int) error {
	a := q.Unknowns[unknown].Ansatz
	weight, keeps, err := q.KeepsMean(unknown)
	if err != nil {
		return err
	}
	if keeps {
		a.RemoveMean, a.MeanWeight = true, weight
		kept := q.Unknowns[unknown].Name
		if weight != nil {
			kept += ", by weights,"
		}
		e.kept = append(e.kept, kept)
	}
	part := ansatzText(a)
	if len(e.p.Unknowns) > 1 {
		part = e.p.Unknowns[unknown].Name + ": " + part
	}
	e.parts = append(e.parts, part)
	return nil
}

// of is the ansatz of an unknown, with the lengths of S, and the conditions that it meets.
func (e *exactAnsatz) of(c int, lengths map[string]float64) (a pde.Ansatz, met []string, err error) {
	most := 0
	a, met = e.p.ExactAnsatz(c, lengths, func(a pde.Ansatz, met []string) bool {
		if most = max(most, len(met)); len(met) == most {
			for _, name := range met {
				e.disagree[name] = true
			}
		}
		ok := false
		if !e.jumps && err == nil {
			ok, err = meets(with(e.p, c, a), met)
		}
		return ok
	})
	return a, met, err
}

// ansatzText is an ansatz as a PDE file has it.
func ansatzText(a pde.Ansatz) string {
	var keys, lengths []string
	if v, ok := a.Offset.Constant(); !ok || v != 0 {
		keys = append(keys, fmt.Sprintf("offset: %q", a.Offset))
	}
	if v, ok := a.Multiplier.Constant(); !ok || v != 1 {
		keys = append(keys, fmt.Sprintf("multiplier: %q", a.Multiplier))
	}
	for _, axis := range slices.Sorted(maps.Keys(a.Smooth)) {
		lengths = append(lengths, fmt.Sprintf("%s: %g", axis, a.Smooth[axis]))
	}
	if len(lengths) > 0 {
		keys = append(keys, "smooth: {"+strings.Join(lengths, ", ")+"}")
	}
	if len(a.Leaves) > 0 {
		keys = append(keys, "leaves: ["+strings.Join(a.Leaves, ", ")+"]")
	}
	if a.Duhamel {
		keys = append(keys, map[bool]string{true: "duhamel: rows", false: "duhamel: true"}[a.ByRows])
	}
	if a.RemoveMean {
		keys = append(keys, "projection: remove-mean")
	}
	if a.MeanWeight != nil {
		keys = append(keys, fmt.Sprintf("mean_weight: %q", a.MeanWeight))
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

// roughNotes says which unknowns have axes that want S of the ansatz, and have an ansatz without.
func roughNotes(p *pde.Problem) (notes []string) {
	for c, u := range p.Unknowns {
		for _, axis := range p.Rough(c) {
			if u.Ansatz.Smooth[axis] == 0 && !u.Ansatz.Duhamel {
				note, hint := fmt.Sprintf("the ansatz of %s is not smooth", u.Name), "`smooth` in docs/reference/pde-files.md"
				if !p.HasOffset() {
					note, hint = fmt.Sprintf("no ansatz makes %s smooth", u.Name), "`pihc init` writes one where it can"
				}
				notes = append(notes, fmt.Sprintf("%s along %s, where derivatives are of fourth order: what a network has of short waves there may drown the residual (%s)", note, axis, hint))
			}
		}
	}
	return notes
}

// rough is the error of an unknown for which no ansatz with S is found, without which trainings fail.
func rough(p *pde.Problem, unknown int, misfit float64) error {
	u, axes := p.Unknowns[unknown].Name, strings.Join(p.Rough(unknown), ", ")
	why := "no ansatz that is smooth there agrees with initial conditions and walls"
	if err := p.Smoothable(unknown); err != nil {
		why = err.Error()
	} else if misfit > compatibleMisfit {
		why = fmt.Sprintf("initial conditions miss those of the walls by %s of their size", words.Percent(misfit))
	}
	return words.WithHint(fmt.Errorf("%s has derivatives of fourth order along %s, between walls, and trainings of such equations fail (errors of 28 to 100 %% in docs/evidence/choices.md) without an ansatz that is smooth there: %s", u, axes, why),
		"as many linear conditions on %s at each end as half the order (u and u_x, or u and u_xx), met by the initial conditions: `smooth` in docs/reference/pde-files.md", u)
}

// sayRows says in one line which conditions the ansatz that was found does not meet, why, and what that costs.
// Initial conditions miss conditions at walls by a misfit, and those without derivatives by values (model.Misfit).
func (d *draft) sayRows(p *pde.Problem, e *exactAnsatz, misfit, values float64) {
	var reasons []string
	names := map[string][]string{} // of conditions, by reason
	for _, c := range p.Conditions {
		var reason string
		switch {
		case slices.Contains(e.held, c.Name):
			continue
		case e.rows && !p.Affine(c.Expr):
			reason = "not linear"
		case e.rows:
			reason = "with derivatives in time, held between the times of the grid"
		case !e.disagree[c.Name]:
			reason = "no multiplier meets them for every basis"
			if !p.Steady && values <= compatibleMisfit && misfit > compatibleMisfit {
				reason += "; initial conditions miss what walls ask of slopes"
			}
		case !p.Steady && !(values <= compatibleMisfit):
			reason = fmt.Sprintf("initial conditions miss those of the walls by %s of their size", words.Percent(values))
		default:
			reason = "which disagree with others where they meet"
		}
		if names[reason] == nil {
			reasons = append(reasons, reason)
		}
		names[reason] = append(names[reason], c.Name)
	}
	for i, reason := range reasons {
		reasons[i] = strings.Join(names[reason], ", ") + " (" + reason + ")"
	}
	if len(reasons) > 0 {
		d.added = append(d.added, "note: not met exactly, and left to rows: "+strings.Join(reasons, ", ")+": training weighs these against the residual, and what they miss is error of the whole solution")
	}
}

// meets reports whether fields of a problem's ansatz meet conditions, for samples of its own distributions, and break none where it
// leaves nothing free. Differences are to converge to what they stand for.
func meets(p *pde.Problem, met []string) (bool, error) {
	those, ok, err := metOf(p, met)
	return ok && len(those) == len(met), err
}

// metOf are those of some conditions that meets is true of; not ok where the ansatz breaks another.
func metOf(p *pde.Problem, some []string) (met []string, ok bool, err error) {
	g, err := p.Grid(nil)
	if err != nil {
		return nil, false, err
	}
	miss, ok, err := ansatzMiss(p, g, some, ansatzDraws)
	if err != nil || !ok {
		return nil, false, err
	}
	var finer []float64
	if slices.ContainsFunc(miss, func(m float64) bool { return m > exactly }) {
		fine := &grid.Grid{Axes: slices.Clone(g.Axes)}
		for i := range fine.Axes {
			axis := &fine.Axes[i]
			if axis.Points *= 2; axis.Boundary == grid.Nodes {
				axis.Points--
			}
		}
		if finer, ok, err = ansatzMiss(p, fine, some, 2); err != nil || !ok {
			return nil, false, err
		}
	}
	for k, c := range p.Conditions {
		meets := slices.Contains(some, c.Name)
		for i := k; i < len(finer) && meets; i += len(p.Conditions) {
			meets = finer[i] <= max(exactly, converging*miss[i])
		}
		if meets {
			met = append(met, c.Name)
		}
	}
	return met, true, nil
}

// ansatzMiss is the largest miss of each condition of each sample by the offset of an ansatz, as a fraction of the field. It is not ok where the
// ansatz fixes a value that is to be another: by more than rounding of a condition it is to meet, of others by so much that
// fields change there at once.
func ansatzMiss(p *pde.Problem, g *grid.Grid, met []string, count int) (miss []float64, ok bool, err error) {
	sys, err := p.Discretize(g)
	if err != nil {
		return nil, false, err
	}
	if p.Unknowns[0].Ansatz.ByRows {
		if _, err := sys.NewLinearRows(); err != nil {
			return nil, false, fmt.Errorf("ansatz: duhamel: rows: %w", err)
		}
	}
	samples, err := dataset.Draws(p, g, count)
	if err != nil {
		return nil, false, err
	}
	field, other, multiplier := make([]float64, sys.FieldSize()), make([]float64, sys.FieldSize()), sys.Vanishing()
	random := rand.New(rand.NewPCG(1, 1))
	for _, sample := range samples {
		sys.Offset(field, sample)
		broken, size, off := 0.0, 0.0, make([]float64, len(p.Conditions))
		for i, v := range field {
			size = max(size, math.Abs(v))
			other[i] = 1 + random.Float64()
			if multiplier != nil {
				other[i] *= multiplier[i]
			}
			other[i] += v
		}
		for k, set := range sys.Sets[len(p.Residuals):] {
			claimed, single := slices.Contains(met, set.Name), singleValues(p, p.Conditions[k])
			points := set.Points
			if p.Unknowns[0].Ansatz.ByRows && !p.Steady && claimed {
				if c := p.Conditions[k]; c.At[p.Axes[0].Name] == "" { // walls are met after the first time
					first, _ := slices.BinarySearch(points, int32(sys.SliceSize()))
					points = points[first:]
				} else if p.HasDerivative(c) { // what steps begin with is a rate, and no difference
					continue
				}
			}
			values := sys.NewRowValues(set, points)
			out := values.Eval(1, field, sample)
			rows := slices.Clone(out[0])
			unit, _ := dataset.UnitOf(sys, set, out[1:])
			for i, v := range values.Eval(0, other, sample)[0] {
				wrong, fixed := unit*math.Abs(rows[i]), single && unit*math.Abs(v-rows[i]) < 1e-9
				switch {
				case fixed && !claimed:
					broken = max(broken, wrong*exactly/compatibleMisfit)
				case fixed:
					broken = max(broken, wrong)
				case claimed: // which may be far larger than the field, and falls with its step
					off[k] = max(off[k], wrong)
					continue
				}
				size = max(size, wrong)
			}
		}
		if math.IsNaN(size) || broken > exactly*size {
			return nil, false, nil
		}
		for _, v := range off {
			miss = append(miss, min(v/max(size, math.SmallestNonzeroFloat64), math.MaxFloat64))
		}
	}
	return miss, true, nil
}

// singleValues reports whether rows of a condition are each about one value of a field on the grid.
func singleValues(p *pde.Problem, c pde.Rows) bool {
	return !slices.ContainsFunc(p.Terms, func(t pde.Term) bool {
		if !c.Expr.DependsOn(t.Name) {
			return false
		}
		if len(t.Factors) != 1 || t.Factors[0].Edge == nil {
			return true
		}
		e := t.Factors[0].Edge
		nodes := p.Axes[p.Axis(t.Factors[0].Axis)].Boundary == grid.Nodes
		return e.Derivative > 0 || e.At == grid.GhostPoint || e.At == grid.Wall && !nodes
	})
}
