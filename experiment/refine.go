package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pihc/internal/config"
	"pihc/internal/words"
	"pihc/pde"
)

// holdSolutions gives a PDE file whose grid does not hold its solutions the points that do, or as many as the time and the
// memory carry. Solutions of a file are on its own points alone. What still ends far from them is an error.
func (d *draft) holdSolutions(ctx context.Context, o *SizeOptions) error {
	o.say("init: comparing solutions of the rows on this grid with those of the equation")
	first, err := d.hold(ctx, d.p)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		d.added = append(d.added, "note: "+notHeld(err))
		return nil
	}
	grids, err := first.enough(ctx, d.p, d.fitted)
	if err != nil {
		return err
	}
	best, hint := first, "another scheme, or a shorter range of an axis?"
	for len(grids) > 0 {
		if d.given != nil {
			hint = "a file of solutions on so many points, or `reference: {solver: discrete}` in its place"
			break
		}
		if hint, err = d.refine(ctx, grids[0], o); err != nil {
			return err
		}
		if hint != "" {
			break
		}
		best, grids = grids[0], grids[1:]
	}
	raised := best.shape(d.p, first.points)
	if raised != "" {
		what := fmt.Sprintf("raised points, with which solutions of the rows are %s from those of the equation, not %s: %s", words.Percent(best.distance), words.Percent(first.distance), raised)
		d.src = slices.Concat(d.src, []byte("\n# Changed by pihc init: it "+what+".\n"))
		d.added = slices.Insert(d.added, 0, what)
	}
	switch {
	case best.distance > refusedGridError && d.blame != "":
		return words.WithHint(errors.New(best.describe(d.p, grids)), "%s", d.blame)
	case best.distance > refusedGridError:
		return words.WithHint(errors.New(best.describe(d.p, grids)), "%s", hint)
	case best.poor():
		d.warnings = slices.Insert(d.warnings, 0, best.describe(d.p, grids)+": "+hint)
	}
	if raised == "" {
		return nil
	}
	if err := d.holdAtStart(ctx, o.Options); err != nil { // what a finer grid may bear
		return err
	}
	return d.raiseOrders(ctx, o.Options)
}

// hold is hold for the grid of the experiment, of each PDE file once.
func (d *draft) hold(ctx context.Context, p *pde.Problem) (holding, error) {
	key := string(p.Source)
	if h, ok := d.held[key]; ok {
		return h, nil
	}
	h, err := hold(ctx, p, d.fitted, pointsOn(p, d.fitted))
	if err == nil {
		if d.held == nil {
			d.held = map[string]holding{}
		}
		d.held[key] = h
	}
	return h, err
}

// refine gives the PDE file the points of a grid, and the experiment the sizes that go with them, unless they leave too few steps of training, or
// do not fit the machine: then it says what would.
func (d *draft) refine(ctx context.Context, h holding, o *SizeOptions) (hint string, err error) {
	text := d.src
	for axis, n := range h.points {
		if text, err = config.Set(text, fmt.Sprintf("axes.%s.points=%d", axis, n)); err != nil {
			return "more points in the PDE file, which is written in another way than init can change", nil
		}
	}
	q, err := pde.Load(d.file, text)
	if err != nil {
		return "", err
	}
	next, err := measure(ctx, q, nil, o)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return fmt.Sprintf("these points do not fit: %v", err), nil
	}
	if next.steps < rushedSteps {
		return fmt.Sprintf("--minutes %.2g or more leave time for a training on the next finer grid", rushedSteps*next.step/60), nil
	}
	if was, now := weightOfStart(d.p, d.fitted), weightOfStart(q, next.fitted); was != now && bytes.Contains(text, []byte(was)) { // of the step of time
		text = bytes.Replace(text, []byte(was), []byte(now), 1)
		if q, err = pde.Load(d.file, text); err != nil {
			return "", err
		}
		for i, said := range d.added {
			d.added[i] = strings.Replace(said, was, now, 1)
		}
	}
	for _, w := range d.warnings {
		if !slices.Contains(next.warnings, w) {
			next.warnings = append(next.warnings, w)
		}
	}
	d.src, d.p, d.sizes = text, q, next
	return "", nil
}
