package dataset

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"pihc/grid"
	"pihc/internal/discrete"
	"pihc/internal/kernel"
)

// Thresholds of solutions of a file: docs/reference/pde-files.md, and docs/evidence/reliability.md for what they were chosen on.
const (
	harmless      = 0.01 // distance that is always allowed, of the size of the solution
	doubtful      = 3    // factor that is warned of
	impossible    = 20   // factor that is refused
	noisyResidual = 0.75 // residual over the rate of solutions that noise has, or steps that are too long
	aloneResidual = 0.9  // the same where there is nothing to compare with
)

// Most work of comparisons, in values times steps: of all samples, and of one that is compared all the same.
const (
	mostComparedWork = 1.5e6
	mostSampleWork   = 3 * mostComparedWork
)

// A Comparison is what is known of solutions of a file.
type Comparison struct {
	Summary  string
	Warnings []string
	Distance float64 // mean relative L2 distance from solutions of the rows where there is a warning of them, else 0
}

// judged is one solution of a file, beside that of the rows from the same start. Distances are root mean squares at
// one point of the first axis, over the standard deviation of the solution of the rows.
type judged struct {
	sample    int
	residual  float64 // of the rows on the file's grid, over the rate
	compared  bool
	relative  float64 // L2 distance
	farthest  departure
	structure departure // of what neighbouring points of the first axis share, which noise does not
}

// departure is a distance where it is most, over what is explained.
type departure struct {
	at                          int // along the first axis
	unknown                     int
	distance, explained, factor float64
}

func (d *departure) raise(at, unknown int, distance, explained, allowed float64) {
	if factor := distance / (explained + allowed); factor > d.factor {
		*d = departure{at, unknown, distance, explained, factor}
	}
}

// Compare compares the solutions with the problem: all by their residual; as many as the work allows, those with the largest residual first, with solutions of the rows from the
// same start on the file's grid and on one refined, whose distance from each other is what the discretisation explains.
// An error tells of a solution that is none of this problem. done is called after each. Results do not depend on workers.
func (x *Given) Compare(ctx context.Context, workers int, done func(count, of int)) (*Comparison, error) {
	f := x.given
	sys, err := f.problem.Discretize(f.grid)
	if err != nil {
		return nil, err
	}
	all := make([]judged, f.count-x.first)
	plain, err := sys.NewPlainResidual()
	if err != nil {
		return nil, err
	}
	u, u0 := make([]float64, sys.FieldSize()), make([]float64, f.problem.InputSize(f.grid))
	for i := range all {
		f.input(u0, x.first+i)
		f.solution(u, x.first+i)
		all[i] = judged{sample: x.first + i, residual: PredictionResidual(plain, nil, f.grid, u, u0)}
	}
	c, why := newComparer(f)
	if why != nil {
		return f.conclude(all, why)
	}
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b judged) int { return -cmp.Compare(a.residual, b.residual) })
	order = order[:min(len(order), c.count)]
	failed := make([]error, len(order))
	var group sync.WaitGroup
	var next atomic.Int64
	var telling sync.Mutex
	finished := 0
	for range min(len(order), cmp.Or(workers, runtime.GOMAXPROCS(0))) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(order) {
					return
				}
				j := &all[order[i].sample-x.first]
				failed[i] = c.compare(j)
				telling.Lock()
				finished++
				done(finished, len(order))
				telling.Unlock()
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	why = nil
	if i := slices.IndexFunc(failed, func(err error) bool { return err != nil }); i >= 0 {
		why = failed[i]
	}
	return f.conclude(all, why)
}

// comparer solves the rows from the starts of a file's solutions.
type comparer struct {
	*given
	own, fine *discrete.Solver
	count     int // of samples that the work allows
	sizes     []float64
}

func newComparer(f *given) (*comparer, error) {
	p, work := f.problem, float64(len(f.problem.Unknowns))
	var one, more []int
	for i, a := range f.grid.Axes {
		n := 2
		if a.Boundary == grid.Cells {
			n = 3
		}
		one, more = append(one, 1), append(more, n)
		if i == 0 && !discrete.Marches(p) { // all is solved at once, by a band as wide as the shorter axis
			n *= n
		}
		work *= float64(n * a.Points)
	}
	if work > mostSampleWork {
		return nil, fmt.Errorf("%.2g values times steps are too many", work)
	}
	c := &comparer{given: f, count: max(1, int(mostComparedWork/work))}
	var err error
	if c.own, err = discrete.New(p, f.grid, one); err != nil {
		return nil, err
	}
	if c.fine, err = discrete.New(p, f.grid, more); err != nil {
		return nil, err
	}
	for _, s := range f.solutions {
		c.sizes = append(c.sizes, RootMeanSquare(s))
	}
	return c, nil
}

// compare fills in what solutions of the rows say of one of the file.
func (c *comparer) compare(j *judged) error {
	p, size := c.problem, len(c.problem.Unknowns)*c.grid.Size()
	u0 := make([]float64, p.InputSize(c.grid))
	u, own, fine := make([]float64, size), make([]float64, size), make([]float64, size)
	c.input(u0, j.sample)
	c.solution(u, j.sample)
	if _, err := c.own.Solve(own, u0); err != nil {
		return err
	}
	if _, err := c.fine.Solve(fine, u0); err != nil {
		return err
	}
	if size := RootMeanSquare(own) + RootMeanSquare(fine); math.IsNaN(size) || math.IsInf(size, 0) {
		return discrete.ErrNotConverged
	}
	c.measure(j, u, own, fine)
	if !discrete.Marches(p) && j.farthest.factor >= doubtful {
		// There may be several solutions: is there one nearer to that of the file?
		near := slices.Clone(u)
		if sys, err := p.Discretize(c.grid); err == nil && discrete.Nearest(sys, u0, near) == nil {
			other := *j
			explained := make([]float64, size) // as far from the nearest as the two are from each other
			for i := range explained {
				explained[i] = near[i] + own[i] - fine[i]
			}
			if c.measure(&other, u, explained, near); other.farthest.factor < j.farthest.factor {
				*j = other
			}
		}
	}
	return nil
}

// measure compares a solution u of the file with fine, as far from the solution of the equation as it is from own.
func (c *comparer) measure(j *judged, u, own, fine []float64) {
	size, times := c.grid.Size(), c.grid.Axes[0].Points
	n, marches := size/times, discrete.Marches(c.problem)
	j.compared, j.relative = true, grid.RelativeL2(u, fine, len(c.sizes))
	j.farthest, j.structure = departure{}, departure{}
	for of := range c.sizes {
		at := func(x []float64, k int) []float64 { return x[of*size+k*n : of*size+(k+1)*n] }
		scale := max(deviation(fine[of*size:(of+1)*size]), 1e-3*RootMeanSquare(fine[of*size:(of+1)*size]), 1e-3*c.sizes[of], math.SmallestNonzeroFloat64)
		off, explained := make([]float64, times), make([]float64, times)
		both := make([]float64, times) // product of the differences at two neighbouring points
		difference := make([][]float64, times)
		var noise []float64
		for k := range times {
			a, b := at(u, k), at(fine, k)
			difference[k] = make([]float64, n)
			if k == 0 && marches { // the start has been compared, and walls may have values of their own there
				continue
			}
			for i := range a {
				difference[k][i] = (a[i] - b[i]) / scale
			}
			off[k], explained[k] = RootMeanSquare(difference[k]), grid.Distance(at(own, k), b)/math.Sqrt(float64(n))/scale
			j.farthest.raise(k, of, off[k], explained[k], harmless)
			if k > 0 {
				both[k] = kernel.Dot(difference[k], difference[k-1]) / float64(n)
			}
			if k > 4 { // what is smooth along the axis has next to no fourth difference
				square := 0.0
				for i, v := range difference[k] {
					v += difference[k-4][i] - 4*(difference[k-1][i]+difference[k-3][i]) + 6*difference[k-2][i]
					square += v * v / 70 / float64(n)
				}
				noise = append(noise, math.Sqrt(square))
			}
		}
		median := 0.0
		if len(noise) > 0 {
			slices.Sort(noise)
			median = noise[len(noise)/2]
		}
		for k := 1; k < times; k++ {
			// Of noise, here and in the start, the differences share half of their squares, and nothing is left.
			shared := math.Sqrt(max(0, 2*both[k]-(off[k]*off[k]+off[k-1]*off[k-1])/2))
			j.structure.raise(k, of, shared, max(explained[k], explained[k-1]), harmless+median)
		}
	}
}

// deviation is the standard deviation of values.
func deviation(x []float64) float64 {
	mean, square := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / float64(len(x))
	}
	return math.Sqrt(square)
}
