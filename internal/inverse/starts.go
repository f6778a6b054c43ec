package inverse

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// OtherStarts is the number of other starts where a fit is rejected or stalls.
const OtherStarts = 8

const (
	mostFitted = 3   // of other minima, on the grid of the fit
	apart      = 0.5 // two minima at least, in deviations of all observations together
)

// Starts says what fits from other points led to.
type Starts struct {
	Tried  int       // with the first; 0: there was no other
	Agree  int       // ended at the fit
	Failed int       // had no solution, or ended nowhere
	Others []Minimum // that are nearly as good
}

// A Minimum is another place where the sum of squares is least.
type Minimum struct {
	Coordinates []float64
	ChiSquared  float64
	Count       int // of the starts that ended there

	first bool // that of the fit from the first start
}

// others are points to start from: a Latin hypercube of as many normal values of each coordinate, about the prior's mean or the start.
func (m *Model) others(count int) (all [][]float64) {
	rng := rand.New(rand.NewPCG(uint64(count), 20))
	middle := m.coordinates()
	for range count {
		all = append(all, make([]float64, len(middle)))
	}
	last := normalQuantile(1 - 0.5/float64(count)) // the outermost
	for j, p := range m.Parameters {
		center, spread := middle[j], p.Spread
		switch {
		case p.Prior != nil:
			center, spread = p.Prior.Mean, p.Prior.Deviation
		case spread == 0 && p.Log:
			spread = math.Log(10) / last
		case spread == 0 && center != 0:
			spread = 2 * math.Abs(center) / last
		case spread == 0:
			spread = 1 / last
		}
		for i, k := range rng.Perm(count) {
			all[i][j] = center + spread*normalQuantile((float64(k)+0.5)/float64(count))
		}
	}
	return all
}

// scale is what squares of residuals are larger by than their deviations say, at least 1.
func scale(sum float64, degrees int) float64 { return max(1, sum/max(1, float64(degrees))) }

// same reports whether two minima are one: predictions, and parameters as far as the data see them, are nearer than apart.
func (f *fitter) same(a, b []float64) bool {
	f.move(a)
	if f.err != nil {
		return false
	}
	n, sum := len(a), norm2(f.residual)
	before, linear := slices.Clone(f.residual[:len(f.Observations)]), 0.0
	for i := range f.residual {
		change := 0.0
		for j, v := range f.jacobian[i*n : (i+1)*n] {
			change += v * (b[j] - a[j])
		}
		linear += change * change
	}
	if newInformation(f.jacobian, n).rank() < n { // minima are lines, which may be curved
		linear = 0
	}
	most := apart * math.Sqrt(scale(sum, len(f.residual)-n))
	return math.Sqrt(linear) < most && f.change(before, b) < most
}

// join adds a minimum to a list, or its count to the same one there.
func (f *fitter) join(list []Minimum, m Minimum) []Minimum {
	for i := range list {
		if f.same(list[i].Coordinates, m.Coordinates) {
			list[i].Count, list[i].first = list[i].Count+m.Count, list[i].first || m.first
			if m.ChiSquared < list[i].ChiSquared {
				list[i].ChiSquared, list[i].Coordinates = m.ChiSquared, m.Coordinates
			}
			return list
		}
	}
	return append(list, m)
}

// minimum is where a fitter ends from a point.
func (f *fitter) minimum(from []float64, count int) (Minimum, error) {
	theta := slices.Clone(from)
	res, _, err := f.minimise(theta)
	if err == nil {
		f.out.Iterations += res.Iterations
		f.move(theta)
		err = f.err
	}
	return Minimum{Coordinates: theta, ChiSquared: norm2(f.residual), Count: count}, err
}

// restart fits from other points on the coarsest grid, and from the best minima there on that of the fit. It returns the best fit, with what
// the starts led to. With an error, which is ctx's, it is the fit as far as it came.
func (m *Model) restart(ctx context.Context, fit *Fit, say func(string, ...any)) (*Fit, error) {
	count := m.Starts
	if count == 0 {
		count = OtherStarts
	}
	say("the fit begins from %d other starts", count)
	work := &Fit{}
	coarse, err := m.fitter(ctx, level{}, work)
	if err != nil {
		return fit, err
	}
	starts := Starts{Tried: 1 + count}
	var list []Minimum
	limit := math.Inf(1)
	for k, from := range append([][]float64{fit.Coordinates}, m.others(count)...) {
		found, err := coarse.minimum(from, 1)
		if err := ctx.Err(); err != nil {
			return fit, err
		}
		switch {
		case err == nil:
			if found.first = k == 0; found.first {
				limit = found.ChiSquared + Quantile*scale(found.ChiSquared, fit.Degrees)
			}
			list = coarse.join(list, found)
		case k > 0:
			starts.Failed++
		}
	}
	fit.Iterations, fit.Evaluations = fit.Iterations+work.Iterations, fit.Evaluations+work.Evaluations
	// The coarse grid orders them; the fit's decides.
	slices.SortStableFunc(list, func(a, b Minimum) int { return cmp.Compare(a.ChiSquared, b.ChiSquared) })
	own := 1
	var others []Minimum
	for _, c := range list {
		switch {
		case c.first:
			own = c.Count
		case c.ChiSquared <= limit && len(others) < mostFitted:
			others = append(others, c)
		}
	}
	return m.choose(ctx, fit, own, others, starts, say)
}

// choose takes other minima, from where they are on coarser grids, to that of the fit, and goes on from the best of them, until the fit is
// it: what is counted and compared is of one grid. Own is how many starts the fit has.
func (m *Model) choose(ctx context.Context, fit *Fit, own int, others []Minimum, starts Starts, say func(string, ...any)) (*Fit, error) {
	const slight, rounds = 0.05, 4
	var list []Minimum // the fit is the first
	for round := range rounds {
		list = []Minimum{{Coordinates: fit.Coordinates, ChiSquared: fit.ChiSquared, Count: own}}
		for _, c := range others {
			found, err := fit.last.minimum(c.Coordinates, c.Count)
			if err := ctx.Err(); err != nil {
				return fit, err
			}
			if err != nil {
				starts.Failed += c.Count
				continue
			}
			list = fit.last.join(list, found)
		}
		best := 0
		for i, c := range list {
			if c.ChiSquared < list[best].ChiSquared {
				best = i
			}
		}
		least := list[best]
		if !(least.ChiSquared < fit.ChiSquared-slight*scale(fit.ChiSquared, fit.Degrees)) || round == rounds-1 {
			break
		}
		say("another start leads to chi-squared %.6g instead of %.6g: the fit goes on from there", least.ChiSquared, fit.ChiSquared)
		other, err := m.fit(ctx, fit.level, least.Coordinates, say)
		other.Iterations, other.Evaluations = fit.Iterations+other.Iterations, fit.Evaluations+other.Evaluations
		switch {
		case ctx.Err() != nil && other.reached == nil:
			return fit, ctx.Err()
		case ctx.Err() != nil:
			return other, ctx.Err()
		}
		if err != nil {
			fit.warn("another start leads to a smaller chi-squared, %.6g, where no finer grid is solved: %v", least.ChiSquared, err)
			break
		}
		fit, own, others = other, least.Count, slices.Delete(list, best, best+1)
	}
	starts.Agree = list[0].Count
	for _, c := range list[1:] {
		if c.ChiSquared-fit.ChiSquared < Quantile*scale(fit.ChiSquared, fit.Degrees) {
			starts.Others = append(starts.Others, c)
		}
	}
	fit.last.move(fit.Coordinates)
	fit.Starts = starts
	return fit, ctx.Err()
}
