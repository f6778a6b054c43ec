package dataset

import (
	"fmt"
	"strconv"
	"strings"

	"pihc/internal/words"
)

// What may be wrong with a solution that is far from that of the rows.
const (
	causes = "other constants, another sign or term, a time axis of other length or offset, axes in another order or direction, units, or samples that are not those of their inputs?"
	noise  = "noise, or values that are wrong at single points of the first axis?"
)

// conclude says what follows of all samples; why not all were compared may be nil.
func (f *given) conclude(all []judged, why error) (*Comparison, error) {
	name := f.problem.Name
	far := func(j judged) bool { return j.compared && j.farthest.factor >= doubtful }
	noisy := func(j judged) bool {
		return j.compared && !far(j) && j.farthest.factor >= 1 && j.residual >= noisyResidual
	}
	unmet := func(j judged) bool { return !j.compared && j.residual >= aloneResidual }
	none := func(j judged) bool {
		return j.compared && (j.structure.factor >= impossible || j.farthest.factor >= impossible && j.farthest.distance >= 1)
	}
	factor := func(j judged) float64 { return j.farthest.factor }
	residual := func(j judged) float64 { return j.residual }
	if count, j := worst(all, none, factor); count > 0 {
		more := ""
		if count > 1 {
			more = fmt.Sprintf(" (so %s)", f.list(all, none))
		}
		return nil, f.fail(causes, "solution %d is none of %s%s: against that of the rows from the same start, %s", j.sample, name, more, f.describe(j))
	}
	out := &Comparison{}
	compared, closest := worst(all, func(j judged) bool { return j.compared }, factor)
	switch {
	case compared > 0:
		out.Summary = fmt.Sprintf("%d of %d compared with those of the rows from the same start; the farthest is %d, %s", compared, len(all), closest.sample, f.describe(closest))
		if why != nil {
			out.Summary += fmt.Sprintf("; from the starts of some the rows cannot be solved (%v)", why)
		}
	case why != nil:
		out.Summary = fmt.Sprintf("%d, compared with the equation by their residual alone: the rows cannot be solved from the same start (%v)", len(all), why)
	}
	if count, j := worst(all, far, factor); count > 0 {
		hint := causes
		if j.structure.factor < doubtful {
			hint = noise
		}
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d of %d solutions of %s that were compared are far from those of the rows of %s (%s; the worst is %d, %s): %s",
			count, compared, f.path, name, f.list(all, far), j.sample, f.describe(j), hint))
		for _, j := range all {
			if j.compared {
				out.Distance += j.relative / float64(compared)
			}
		}
	}
	say := func(of func(judged) bool, hint string) {
		if count, j := worst(all, of, residual); count > 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%d of %d solutions of %s are far from meeting the residual of %s (%s; the worst is %d, whose residual is %s of its rate): %s",
				count, len(all), f.path, name, f.list(all, of), j.sample, words.Percent(j.residual), hint))
		}
	}
	say(noisy, "noise, or a grid too coarse for them?")
	say(unmet, "are they of this equation, with these constants, axes and units?")
	return out, nil
}

// worst counts what is true of, and returns the one with the largest value.
func worst(all []judged, of func(judged) bool, value func(judged) float64) (count int, most judged) {
	for _, j := range all {
		if of(j) {
			if count++; count == 1 || value(j) > value(most) {
				most = j
			}
		}
	}
	return count, most
}

// list names the first samples of which something is true.
func (f *given) list(all []judged, of func(judged) bool) string {
	const most = 8
	var names []string
	for _, j := range all {
		if of(j) {
			names = append(names, strconv.Itoa(j.sample))
		}
	}
	if len(names) > most {
		names = append(names[:most], "...")
	}
	return "numbers " + strings.Join(names, ", ")
}

// describe says how far a solution is, and where.
func (f *given) describe(j judged) string {
	d, axis, of := j.farthest, f.grid.Axes[0], ""
	if d.factor == 0 {
		return "at no distance"
	}
	if len(f.problem.Unknowns) > 1 {
		of = f.problem.Unknowns[d.unknown].Name + " "
	}
	return fmt.Sprintf("%sat %s = %.4g, off by %s of its size, %s times what the discretisation explains (%s) and %.0f %%",
		of, axis.Name, axis.Coordinate(d.at), words.Percent(d.distance), factorText(d.factor), words.Percent(d.explained), 100*harmless)
}

// factorText has one decimal below 10.
func factorText(x float64) string {
	decimals := 0
	if x < 10 {
		decimals = 1
	}
	return strconv.FormatFloat(min(x, 1e6), 'f', decimals, 64)
}
