package inverse

import "math"

// describe fills in what is known at the minimum, or returns a better one if there is one and it is wanted.
func (out *Fit) describe(f *fitter, wanted bool) (better []float64, err error) {
	theta := out.Coordinates
	n := len(theta)
	f.move(theta)
	cost, _ := f.cost()
	x := newInformation(f.jacobian, n)
	c := x.covariance()
	out.Deviations, out.Low, out.High, out.Correlation, out.Lost = nil, nil, nil, make([]float64, n*n), make([]bool, n)
	for j := range n {
		if err := f.ctx.Err(); err != nil {
			return nil, err
		}
		low, high, deviation := math.Inf(-1), math.Inf(1), math.Inf(1)
		if !x.unseen(j) {
			deviation = math.Sqrt(c[j*n+j])
			for side, end := range []*float64{&low, &high} {
				found := out.Ends[j] == 2*side-1
				if !found {
					if *end, found, better = f.profile(theta, j, float64(2*side-1), cost); better != nil && wanted {
						return better, nil
					}
				}
				out.Lost[j] = out.Lost[j] || !found
				switch {
				case better != nil:
					*end = math.Inf(2*side - 1)
					out.warn("the interval of %s: its %s end is not found: a smaller sum of squares is met on the way there", f.Parameters[j].Name, []string{"low", "high"}[side])
				case !found:
					out.warn("the interval of %s: its %s end is not found: there is no solution with numbers on the way there", f.Parameters[j].Name, []string{"low", "high"}[side])
				}
			}
		}
		out.Low, out.High, out.Deviations = append(out.Low, low), append(out.High, high), append(out.Deviations, deviation)
		for k := range n {
			if s := math.Sqrt(c[j*n+j] * c[k*n+k]); s > 0 {
				out.Correlation[j*n+k] = c[j*n+k] / s
			}
		}
	}
	if f.move(theta); f.err != nil { // the context has ended
		return nil, f.err
	}
	out.ChiSquared, out.Degrees, out.P = 2*cost, len(f.residual)-x.rank(), 1
	if out.Degrees > 0 {
		out.P = chiSquaredTail(out.ChiSquared, float64(out.Degrees))
	}
	out.residuals(f, c)
	out.Unseen = f.findUnseen(x)
	f.move(theta)
	return nil, f.ctx.Err()
}

// residuals fills in predictions, their deviations, and the observations that stand out: of a normal residual, after what the fit takes
// from it, at 5 % for the largest of all (Bonferroni).
func (out *Fit) residuals(f *fitter, c []float64) {
	n, count := len(out.Coordinates), len(f.Observations)
	most := normalQuantile(1 - 0.025/float64(count))
	size := map[int]float64{}
	out.Predicted, out.Spread, out.Outstanding, out.Parts = nil, nil, nil, nil
	data, left := 0.0, float64(count)
	for i, o := range f.Observations {
		row, variance := f.jacobian[i*n:(i+1)*n], 0.0
		for j, v := range row {
			for k, w := range row {
				variance += v * w * c[j*n+k]
			}
		}
		data, left = data+f.residual[i]*f.residual[i], left-variance
		out.Predicted = append(out.Predicted, o.Value+f.residual[i]*o.Sigma)
		out.Spread = append(out.Spread, math.Sqrt(max(variance, 0))*o.Sigma)
		if own := 1 - variance; own > 1e-6 {
			if size[i] = math.Abs(f.residual[i]) / math.Sqrt(own); size[i] > most {
				out.Outstanding = append(out.Outstanding, i)
			}
		}
	}
	sortBy(out.Outstanding, func(i int) float64 { return -size[i] })
	out.Parts = append(out.Parts, part("observations", data, left))
	if len(f.residual) > count {
		out.Parts = append(out.Parts, part("priors", out.ChiSquared-data, float64(out.Degrees)-left))
	}
}
