package inverse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/pde"
	"pihc/sim"
)

// A Background is what a problem's file says of a field that it draws: a normal distribution of Mean + Σ z_k Functions[k], with
// independent standard normal z_k, the largest variances first.
type Background struct {
	Mean      []float64
	Functions [][]float64
	draws     bool // the sum is what the sampler transforms (pde.Sampler.Transform), else the field itself
}

const (
	backgroundDraws  = 4000
	backgroundPoints = 256   // with more points than these the background is that of so many draws
	leastVariance    = 1e-10 // of a function, of the first one
)

// NewBackground returns that of an input. Of a random series it is exact; of other distributions it has the mean and the covariance of
// draws, whatever their shape. The error is that of an input without a distribution.
func NewBackground(in pde.PlacedInput) (*Background, error) {
	if in.Sampler.Distribution == "random-series" && len(in.Sampler.Levels) == 0 && in.Sampler.Positive != "square" { // a square has no slope at zero
		series, err := sim.NewSeries(in.Sampler.Series, in.Space, in.Sampler.Parameters)
		if err != nil {
			return nil, err
		}
		b := &Background{Mean: make([]float64, in.Size), draws: true}
		functions, deviation := series.Functions(math.MaxInt)
		for k, f := range functions {
			b.Functions = append(b.Functions, scaled(f, deviation[k]))
		}
		slices.SortStableFunc(b.Functions, func(f, g []float64) int { return compareNorms(g, f) })
		return b, nil
	}
	draw, err := dataset.NewInputSampler(in.Sampler, in.Space)
	if err != nil {
		return nil, fmt.Errorf("input %s has no distribution: %w", in.Name, err)
	}
	count := backgroundDraws
	if in.Size > backgroundPoints {
		count = backgroundPoints
	}
	b := &Background{Mean: make([]float64, in.Size)}
	all := make([][]float64, count)
	for i := range all {
		all[i] = make([]float64, in.Size)
		if err := draw(rand.New(rand.NewPCG(1, uint64(i))), all[i]); err != nil {
			return nil, err
		}
		for p, v := range all[i] {
			b.Mean[p] += v / float64(count)
		}
	}
	for _, f := range all {
		for p := range f {
			f[p] = (f[p] - b.Mean[p]) / math.Sqrt(float64(count-1))
		}
	}
	b.Functions = principal(all)
	return b, nil
}

// principal returns the principal components Φ of deviations X (draws, points), ΦᵀΦ = XᵀX, by the smaller of XᵀX and XXᵀ.
func principal(x [][]float64) (functions [][]float64) {
	n, points := len(x), len(x[0])
	side := min(n, points)
	a := make([]float64, side*side)
	if points <= n {
		for _, f := range x {
			for p, v := range f {
				for q, w := range f[:p+1] {
					a[p*side+q] += v * w
				}
			}
		}
	} else {
		for i, f := range x {
			for j, g := range x[:i+1] {
				for p, v := range f {
					a[i*side+j] += v * g[p]
				}
			}
		}
	}
	for p := range side {
		for q := range p {
			a[q*side+p] = a[p*side+q]
		}
	}
	values, vectors := eigen(a, side)
	order := make([]int, side)
	for k := range order {
		order[k] = k
	}
	sortBy(order, func(k int) float64 { return -values[k] })
	for _, k := range order {
		if !(values[k] > leastVariance*values[order[0]]) {
			break
		}
		f := make([]float64, points)
		for i := range side {
			v := vectors[i*side+k]
			if points <= n {
				f[i] = v * math.Sqrt(values[k])
				continue
			}
			for p, w := range x[i] {
				f[p] += v * w
			}
		}
		functions = append(functions, f)
	}
	return functions
}

// on interpolates a background to other axes; of a series that is exact where it is made there.
func (b *Background) on(in, to pde.PlacedInput) (*Background, error) {
	if slices.Equal(in.Space, to.Space) {
		return b, nil
	}
	if b.draws {
		all, err := NewBackground(to)
		if err == nil {
			all.Functions = all.Functions[:len(b.Functions)]
		}
		return all, err
	}
	out := &Background{Mean: grid.Resample(b.Mean, in.Space, to.Space)}
	for _, f := range b.Functions {
		out.Functions = append(out.Functions, grid.Resample(f, in.Space, to.Space))
	}
	return out, nil
}

// at returns the field of coordinates z and, with slopes, its derivatives by each.
func (b *Background) at(s pde.Sampler, z []float64, slopes bool) (field []float64, along [][]float64) {
	field = slices.Clone(b.Mean)
	for k, f := range b.Functions {
		for p, v := range f {
			field[p] += z[k] * v
		}
	}
	if slopes {
		for _, f := range b.Functions {
			along = append(along, slices.Clone(f))
			for p := range f {
				if b.draws {
					along[len(along)-1][p] *= s.Slope(field[p])
				}
			}
		}
	}
	if b.draws {
		s.Transform(field)
	}
	return field, along
}

// Certain says in words what a background takes as certain of a field, as no function of it changes that: what a series is about and
// whether its mean is among that.
func (b *Background) Certain(in pde.PlacedInput) string {
	count := fmt.Sprintf("%s is sought among sums of %d functions, those that its distribution in the file draws", in.Name, len(b.Functions))
	for _, f := range b.Functions {
		sum := 0.0
		for _, v := range f {
			sum += v
		}
		if math.Abs(sum) > 1e-9*math.Sqrt(norm2(f)*float64(len(f))) {
			return count + "; all else is taken as known, and in no band"
		}
	}
	if !b.draws || in.Sampler.Positive != "" {
		return count + "; all else is taken as known, and in no band"
	}
	mean, _ := b.at(in.Sampler, make([]float64, len(b.Functions)), false)
	return count + fmt.Sprintf("; none changes its mean over space, which is held at %.4g (`offset`), nor has shorter waves than `modes` says: both are taken as known, and in no band", mean[0])
}

func scaled(x []float64, by float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] *= by
	}
	return out
}

func compareNorms(f, g []float64) int {
	// Cosines and sines of one wave differ by rounding alone.
	switch a, b := norm2(f), norm2(g); {
	case a < b*(1-1e-9):
		return -1
	case a > b*(1+1e-9):
		return 1
	}
	return 0
}

func norm2(x []float64) (sum float64) {
	for _, v := range x {
		sum += v * v
	}
	return sum
}
