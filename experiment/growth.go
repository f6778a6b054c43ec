package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"pihc/internal/dataset"
	"pihc/model"
	"pihc/pde"
)

const (
	// growthPairs is how many pairs of solutions are compared.
	growthPairs = 4
	// growthDistance is how far apart initial conditions of a pair are, as a fraction of
	// the distance of two samples.
	growthDistance = 1e-4
	// leastGrowth is the exponent of growth, over the whole time, below which residuals of
	// all times are weighed alike.
	leastGrowth = 1.0
	// mostGrowth is that beyond which a problem is not solved but by chance.
	mostGrowth = 15.0
)

// weighTimes adds to a PDE file a weight that falls in time, where differences between solutions grow: a
// residual at an early time then has more effect than one at a late time, and the loss would not see it.
func (d *draft) weighTimes(ctx context.Context, o Options) error {
	p := d.p
	weighed := slices.ContainsFunc(p.Residuals, func(r pde.Rows) bool { return r.Weight.DependsOn(p.Axes[0].Name) })
	if p.Steady || weighed || !solvable(p) || p.Initials() == 0 {
		return nil
	}
	o.say("init: comparing solutions")
	rate, err := growth(ctx, p, d.fitted)
	if err != nil {
		return err
	}
	axis := p.Axes[0]
	length := axis.Hi - axis.Lo
	if rate*length < leastGrowth {
		return nil
	}
	if rate*length > mostGrowth {
		d.warnings = append(d.warnings, fmt.Sprintf("small differences between solutions grow as exp(%.2g*%s), %.1g-fold until the end: such solutions cannot be predicted; a shorter range of %s, or another sign in the equation?", rate, axis.Name, math.Exp(rate*length), axis.Name))
		return nil
	}
	text := "residual_weight: " + weightInTime(axis.Name, axis.Hi, length, rate)
	longer := appended(d.src, text, fmt.Sprintf("Added by pihc init: small differences between solutions grow as exp(%.2g*%s), and what is wrong early\n# counts as much more.", rate, axis.Name))
	q, err := pde.Load(d.file, longer)
	if err != nil { // it has a residual_weight, which is the same at all times
		d.warnings = append(d.warnings, fmt.Sprintf("small differences between solutions grow as exp(%.2g*%s), and what is wrong early counts as much more: residual_weight, which the file has, may be multiplied by %s", rate, axis.Name, strings.TrimPrefix(text, "residual_weight: ")))
		return nil
	}
	d.src, d.p = longer, q
	d.added = append(d.added, fmt.Sprintf("added %s: small differences grow as exp(%.2g*%s)", text, rate, axis.Name))
	return nil
}

// weightInTime is the root of ∫ exp(2 rate (τ - t)) dτ from t to the end, the square of what a
// residual at t does to the solution after it, with a mean square of 1 over the axis; a tenth of what is
// subtracted is left, so that the end keeps some weight.
func weightInTime(axis string, end, length, rate float64) string {
	exponent := 2 * rate
	mean := math.Expm1(exponent*length)/(exponent*length) - 0.9
	return fmt.Sprintf(`"sqrt((exp(%.3g*(%g - %s)) - 0.9)/%.3g)"`, exponent, end, axis, mean)
}

// growth is the rate λ at which small differences between solutions have grown until the end of the
// time axis, as e^(λt), in the root mean square over pairs of initial conditions; 0 where none
// can be solved.
func growth(ctx context.Context, p *pde.Problem, spec *model.Spec) (float64, error) {
	g, err := p.Grid(spec.Grid)
	if err != nil {
		return 0, err
	}
	own := *p
	if len(g.Axes) > 2 && p.Reference.Solver == pde.DiscreteSolver { // a rate needs no finer grid
		own.Reference.Refine = map[string]int{}
		for _, a := range g.Axes {
			own.Reference.Refine[a.Name] = 1
		}
	}
	solver, err := dataset.ReferenceSolver(&own, g)
	if err != nil {
		return 0, err
	}
	samples, err := draws(spec, p, "train", growthPairs)
	if err != nil {
		return 0, err
	}
	size, slice := g.Size(), g.Size()/g.Axes[0].Points
	initial := p.Initials() * slice
	one, other := make([]float64, len(p.Unknowns)*size), make([]float64, len(p.Unknowns)*size)
	distance := func(at int) float64 { // of all unknowns on a slice, each in its size
		sum := 0.0
		for c, u := range p.Unknowns {
			unit := spec.Network.ScaleOf(u.Name)
			for i := c*size + at*slice; i < c*size+(at+1)*slice; i++ {
				d := (one[i] - other[i]) / unit
				sum += d * d
			}
		}
		return sum
	}
	square, pairs := 0.0, 0
	for i, sample := range samples {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		near := slices.Clone(sample)
		for j := range near[:initial] {
			near[j] += growthDistance * (samples[(i+1)%len(samples)][j] - sample[j])
		}
		if _, err := solver.Solve(one, sample); err != nil {
			continue // whoever wants this solution is told
		}
		if _, err := solver.Solve(other, near); err != nil {
			continue
		}
		if begin := distance(0); begin > 0 {
			square += distance(g.Axes[0].Points-1) / begin
			pairs++
		}
	}
	if pairs == 0 || !(square > 0) {
		return 0, nil
	}
	return math.Log(square/float64(pairs)) / 2 / (g.Axes[0].Hi - g.Axes[0].Lo), nil
}
