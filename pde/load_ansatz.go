package pde

import (
	"errors"
	"fmt"
	"slices"

	"pihc/expr"
	"pihc/grid"
	"pihc/internal/config"
)

// ansatz reads the ansatz of every unknown.
func (l *loader) ansatz(p *Problem) {
	from := l.file.Ansatz
	one := l.oneAnsatz(p, from.one)
	for i := range p.Unknowns {
		p.Unknowns[i].Ansatz = one
		l.smooth(p, i, from.one)
	}
	for _, e := range from.named.Entries() {
		if c := l.unknown(p, "ansatz", e.Key, e.KeyPos); c >= 0 {
			p.Unknowns[c].Ansatz = l.oneAnsatz(p, e.Value)
			l.smooth(p, c, e.Value)
		}
	}
	l.duhamel(p)
}

// duhamel checks an ansatz that has the linear part of the residuals.
func (l *loader) duhamel(p *Problem) {
	var bad error
	for _, u := range p.Unknowns {
		switch a := u.Ansatz; {
		case a.Duhamel != p.duhamel() || a.ByRows != p.byRows():
			bad = errors.New("want it for all unknowns or none, since the linear part couples them")
		case a.Duhamel && !equals(a.Multiplier, 1):
			bad = errors.New("want no multiplier beside it: fields begin with the offset")
		case a.Duhamel && len(a.Smooth) > 0:
			bad = errors.New("want no smooth beside it")
		}
	}
	switch {
	case bad != nil || !p.duhamel():
	case p.byRows():
		bad = p.rowsDomain()
	default:
		bad = p.Linear()
	}
	if bad != nil {
		l.report(l.file.Ansatz.pos.Errorf("ansatz: duhamel: %v", bad))
	}
}

// smooth reads the lengths of an unknown's S, and the conditions that it leaves to rows.
func (l *loader) smooth(p *Problem, unknown int, from fileAnsatz) {
	a := &p.Unknowns[unknown].Ansatz
	for _, name := range from.Leaves {
		i := slices.IndexFunc(p.Conditions, func(c Rows) bool { return c.Name == name.Text })
		if i < 0 {
			l.report(name.Pos.Errorf("ansatz: leaves: %q is no condition", name.Text))
			continue
		}
		if !slices.ContainsFunc(from.Smooth.Entries(), func(e config.Entry[config.Scalar]) bool { return p.Conditions[i].At[e.Key] != "" }) {
			l.report(name.Pos.Errorf("ansatz: leaves: %s is at no end of an axis of smooth", name.Text))
			continue
		}
		a.Leaves = append(a.Leaves, name.Text)
	}
	for _, e := range from.Smooth.Entries() {
		axis := l.axis(p, "ansatz: smooth", e.Key, e.KeyPos)
		if axis < 0 {
			continue
		}
		length, bad := l.number(e.Value, "smooth"), ""
		err := p.Smooths(unknown, axis)
		switch {
		case !(length > 0):
			bad = fmt.Sprintf("%g: want a positive length", length)
		case a.RemoveMean && p.Axes[axis].Boundary != grid.Periodic:
			bad = "fields that meet the conditions at its ends do not keep the mean of projection: remove-mean"
		case err != nil:
			bad = err.Error()
		}
		if bad != "" {
			l.report(e.KeyPos.Errorf("ansatz: smooth: axis %s: %s", e.Key, bad))
			continue
		}
		if a.Smooth == nil {
			a.Smooth = map[string]float64{}
		}
		a.Smooth[e.Key] = length
	}
}

// oneAnsatz reads an ansatz but for its S.
func (l *loader) oneAnsatz(p *Problem, f fileAnsatz) Ansatz {
	a := Ansatz{Offset: expr.Const(0), Multiplier: expr.Const(1), Duhamel: f.Duhamel == "true" || f.Duhamel == "rows", ByRows: f.Duhamel == "rows"}
	if f.Offset.Text != "" {
		a.Offset = l.expression("offset", f.Offset, append(p.AxisNames(), p.InputNames()...))
	}
	if f.Multiplier.Text != "" {
		a.Multiplier = l.expression("multiplier", f.Multiplier, p.AxisNames())
	}
	switch f.Projection {
	case "", "none":
	case "remove-mean":
		a.RemoveMean = true
	default:
		l.report(f.Pos.Errorf("ansatz: projection %q: want none or remove-mean", f.Projection))
	}
	if w := f.MeanWeight; w.Text != "" {
		a.MeanWeight = l.expression("mean_weight", w, p.AxisNames())
		switch {
		case !a.RemoveMean:
			l.report(w.Pos.Errorf("ansatz: mean_weight: want projection: remove-mean, whose mean it weighs"))
		case a.MeanWeight.DependsOn(p.Axes[0].Name):
			l.report(w.Pos.Errorf("ansatz: mean_weight: contains %s, and the mean is over the other axes", p.Axes[0].Name))
		}
	}
	return a
}
