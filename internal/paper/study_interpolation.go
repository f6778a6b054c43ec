package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"pihc/constraint"
	"pihc/engine"
	"pihc/experiment"
	"pihc/grid"
	"pihc/internal/words"
	"pihc/model"
	"pihc/report"
	"pihc/score"
)

// interpolationStudy is the JSON of reproduce interpolation. Errors are relative L2
// against the solution, over the points that lie inside the hull of the points of their
// expert; unconstrained ones are not among those.
type interpolationStudy struct {
	origin
	Samples int                 `json:"samples"`
	Rows    []interpolationCase `json:"rows"`
}

type interpolationCase struct {
	Points           int           `json:"points"`        // sampled per expert
	Within           float64       `json:"points_within"` // of these, within its subdomain: the ones that are interpolated
	Prediction       score.Summary `json:"prediction"`
	Interpolation    score.Summary `json:"interpolation"`
	Difference       score.Summary `json:"difference"` // of the two, relative to the solution
	FreePrediction   score.Summary `json:"prediction_unconstrained"`
	FreeInterpolated score.Summary `json:"interpolation_unconstrained"`
	Outside          float64       `json:"outside_hull"`  // fraction of all points
	Free             float64       `json:"unconstrained"` // likewise, inside the hull
}

// studyInterpolation compares the prediction with the cubics between the points that
// experts are constrained at (paper, appendix on the learned basis functions).
func studyInterpolation(ctx context.Context, s *Work) (result, *report.Study, error) {
	dir := s.Runs[model.MoE]
	out := &interpolationStudy{}
	var counts []int
	for _, n := range []int{20000, 10000, 5000, 2000, 1000, 500} {
		c, err := interpolate(ctx, s, dir, n)
		if err != nil {
			return nil, nil, err
		}
		if !slices.Contains(counts, c.Points) { // a subdomain may hold fewer
			counts, out.Rows = append(counts, c.Points), append(out.Rows, *c)
		}
	}
	t := &report.Table{Title: "Relative L² error of the prediction and of its interpolation, by points per expert", Columns: numbers("points", "of them within the border", "prediction", "interpolated", "their difference", "prediction, unconstrained points", "interpolated, unconstrained points", "outside the hull")}
	lines := []report.ChartLine{{Label: "prediction", Color: 2, Marks: true}, {Label: "interpolated", Color: 3, Marks: true, Dashed: true}}
	for _, c := range out.Rows {
		text := func(x score.Summary) string { return words.PercentOf(x.Mean, x.Std) }
		t.Add(words.Count(c.Points), words.Count(int(c.Within+0.5)), text(c.Prediction), text(c.Interpolation), text(c.Difference), text(c.FreePrediction), text(c.FreeInterpolated), words.Percent(c.Outside))
		for i, y := range []float64{c.Prediction.Mean, c.Interpolation.Mean} {
			lines[i].X, lines[i].Y = append(lines[i].X, float64(c.Points)), append(lines[i].Y, y)
		}
	}
	out.Samples = s.samplesOf()
	t.Notes = []string{
		fmt.Sprintf("%d test samples. Per expert one Clough-Tocher cubic on the Delaunay triangulation of those of its points that lie in its subdomain (others, beyond its border, belong to its neighbours' fields), with every axis scaled to [0, 1]; points outside their hull are left out of all errors.", out.Samples),
		"The rows at t = 0 and at the walls are conditions, not sampled points: they are outside the hull.",
	}
	return out, &report.Study{
		Title:   "Interpolation between the constrained points, " + s.Of,
		Summary: []string{"The network's basis is evaluated everywhere; is it better between the points at which its combination was constrained than a cubic through them?"},
		Tables:  []*report.Table{t},
		Charts:  []report.Chart{{Name: "interpolation", Caption: "Relative L2 error over the points per expert", X: "points per expert", Y: "relative L2", LogX: true, LogY: true, Percent: true, Lines: lines}},
	}, nil
}

// samplesOf is the number of test samples of a study.
func (s *Work) samplesOf() int {
	split, err := s.Set.Split("test")
	if err != nil {
		return 0
	}
	if s.Samples > 0 {
		return min(s.Samples, split.Count)
	}
	return split.Count
}

// interpolate scores one number of points per expert.
func interpolate(ctx context.Context, s *Work, dir string, points int) (*interpolationCase, error) {
	run, err := experiment.OpenRun(dir)
	if err != nil {
		return nil, err
	}
	spec, p := run.Spec, run.Problem
	sys, options, router, err := discretized(run)
	if err != nil {
		return nil, err
	}
	g := sys.Grid
	if len(g.Axes) != 2 {
		return nil, fmt.Errorf("interpolation: problem %s has %d axes; the triangulation is of two", p.Name, len(g.Axes))
	}
	division, err := constraint.Divide(router, g)
	if err != nil {
		return nil, err
	}
	least, err := constraint.LeastRows(sys, router)
	if err != nil {
		return nil, err
	}
	points = min(points, least)
	options.Points = points
	c, err := constraint.New(sys, 1, options, router, nil)
	if err != nil {
		return nil, err
	}
	evaluation := s.asTrained()
	evaluation.Points = &points
	e, err := run.Open(evaluation)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	samples, err := experiment.LoadSamples(s.Set, "test", p, g, s.Samples)
	if err != nil {
		return nil, err
	}
	out := &interpolationCase{Points: points}
	var errors [5][]float64
	bar := s.Stage(fmt.Sprintf("interpolate %d points", points), len(samples.Inputs))
	defer bar.End()
	err = e.Predict(engine.Batch{Inputs: samples.Inputs, Seeds: samples.Seeds}, func(i int, x *engine.Prediction) error {
		truth, err := samples.Truth(i)
		if err != nil {
			return err
		}
		rows := constrainedPoints(c, spec.Constraint.Overlap.At(1), samples.Seeds[i]) // overlap as in evaluation
		for _, r := range rows {
			out.Within += float64(len(r)) / float64(len(rows)*len(samples.Inputs))
		}
		field, kind, err := interpolated(g, division, rows, x.Field)
		if err != nil {
			return err
		}
		out.tally(&errors, truth, x.Field, field, kind)
		bar.Set(i+1, "")
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	out.summarize(&errors, len(samples.Inputs)*g.Size())
	return out, nil
}

// tally adds the errors of a sample's prediction and of its interpolation: relative to the truth, of all points, of all
// interpolated, their difference, and those of the points without constraint.
func (c *interpolationCase) tally(errors *[5][]float64, truth, prediction, field []float64, kind []int) {
	var square [5]float64
	var norm, freeNorm float64
	for q, v := range truth {
		if kind[q] == outsideHull {
			c.Outside++
			continue
		}
		d, f := prediction[q]-v, field[q]-v
		square[0], square[1], square[2], norm = square[0]+d*d, square[1]+f*f, square[2]+(d-f)*(d-f), norm+v*v
		if kind[q] == unconstrained {
			c.Free++
			square[3], square[4], freeNorm = square[3]+d*d, square[4]+f*f, freeNorm+v*v
		}
	}
	for k, v := range square {
		n := norm
		if k >= 3 {
			n = freeNorm
		}
		if n > 0 {
			errors[k] = append(errors[k], math.Sqrt(v/n))
		}
	}
}

// summarize sums up the errors of all samples, which have so many points.
func (c *interpolationCase) summarize(errors *[5][]float64, points int) {
	for k, dst := range []*score.Summary{&c.Prediction, &c.Interpolation, &c.Difference, &c.FreePrediction, &c.FreeInterpolated} {
		*dst = score.Summarize(errors[k])
	}
	c.Outside, c.Free = c.Outside/float64(points), c.Free/float64(points)
}

// constrainedPoints are the points of each expert's rows in a solve that lie in its subdomain:
// there its field, which has to meet the equation at them, is the prediction.
func constrainedPoints(c *constraint.Constraint, overlap float64, seed constraint.Seed) [][]int32 {
	drawn, scratch := make([]int32, c.Options.Points), make([]int32, c.Options.Points)
	var out [][]int32
	for k := range c.Router.Experts() {
		c.SamplePoints(drawn, scratch, 0, k, overlap, seed)
		out = append(out, slices.DeleteFunc(slices.Clone(drawn), func(p int32) bool { return c.Expert(int(p)) != k }))
	}
	return out
}

// What a grid point is to the expert it belongs to.
const (
	outsideHull = iota
	unconstrained
	constrained
)

// interpolated returns the field that every expert's cubics between its points give
// within its subdomain, and the kind of every point.
func interpolated(g *grid.Grid, division *constraint.Division, points [][]int32, field []float64) (out []float64, kind []int, err error) {
	out, kind = make([]float64, len(field)), make([]int, len(field))
	steps := lattice(g)
	width := g.Axes[1].Points
	place := func(p int) [2]int { return [2]int{p / width * steps[0], p % width * steps[1]} }
	for k := range points {
		at, values := make([][2]int, len(points[k])), make([]float64, len(points[k]))
		for i, p := range points[k] {
			at[i], values[i] = place(int(p)), field[p]
		}
		mesh, err := triangulate(at)
		if err != nil {
			return nil, nil, fmt.Errorf("expert %d: %w", k, err)
		}
		f := newCloughTocher(mesh, values)
		for _, p := range division.Points(k) {
			x := place(int(p))
			v, ok := f.at(float64(x[0]), float64(x[1]))
			if ok {
				out[p], kind[p] = v, unconstrained
			}
		}
		for _, p := range points[k] {
			kind[p] = constrained
		}
	}
	return out, kind, nil
}

// lattice returns whole numbers in the ratio of the steps of the two axes, each axis
// scaled to [0, 1].
func lattice(g *grid.Grid) [2]int {
	var n [2]int // steps from one end to the other
	for i, a := range g.Axes {
		n[i] = a.Points
		if a.Boundary == grid.Nodes {
			n[i]--
		}
	}
	gcd, rest := n[0], n[1]
	for rest > 0 {
		gcd, rest = rest, gcd%rest
	}
	return [2]int{n[1] / gcd, n[0] / gcd}
}
