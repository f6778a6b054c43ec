package discrete

import (
	"pihc/grid"
	"pihc/internal/band"
)

// A split is the matrix of a step in time with the means over its stages of what multiplies the terms: then the derivatives of the
// stages are divided into a number and a block of two by two, and the matrix into two that are factored as they are (E. Hairer and
// G. Wanner, Solving Ordinary Differential Equations II, section IV.8). As a preconditioner it is kept from step to step, until what
// GMRES takes more for its age is the work of another.
type split struct {
	system           *system
	lower, upper     int // bandwidths of the matrix of one stage
	one, two         *band.Matrix
	splitting, joint [stages][stages]float64
	rate             float64   // the first of the stages, of which it was made; 0: none
	units            []float64 // of the rows, (fields, points), likewise; nil: 1
	x, y             []float64 // (values of a stage), (values of two)

	fresh, excess float64 // work of GMRES after it was made, and what it has taken beyond that since
}

// newSplit returns nil where rows are not differences all of them, or the factorisations take more products than most.
func (s *system) newSplit(most float64) *split {
	if s.slices != stages || s.order == nil || s.owner == nil {
		return nil
	}
	v := &split{system: s}
	v.splitting, v.joint = grid.SplitStages()
	s.eachRow(func(k, i, _ int) {
		if own := int(s.sys.Sets[k].Points[i]); own < s.points {
			row := v.column(s.owner[k], own)
			for _, t := range s.sys.Sets[k].Terms {
				s.eachEntry(t, int32(own), func(q int32, _ float64) {
					away := v.column(s.sys.Terms[t].Of, int(q)) - row
					v.lower, v.upper = max(v.lower, -away), max(v.upper, away)
				})
			}
		}
	})
	if v.factorWork() > most {
		return nil
	}
	n := s.fields * s.points
	v.x, v.y = make([]float64, n), make([]float64, 2*n)
	return v
}

// factorWork is about the number of products of the factorisations.
func (v *split) factorWork() float64 {
	n := v.system.fields * v.system.points
	return band.FactorWork(n, v.lower, v.upper) + band.FactorWork(2*n, 2*v.lower+1, 2*v.upper+1)
}

// column is the place of field f at a point of a slice.
func (v *split) column(f, p int) int { return v.system.order[p]*v.system.fields + f }

// serves reports whether it was made for the stages' derivatives of a state, and is not yet too old.
func (v *split) serves(st *state) bool {
	return 4*v.excess < v.factorWork() && asLong(st.rate[1][0], v.rate)
}

// took takes the work of a solution by GMRES.
func (v *split) took(work float64) {
	if v.fresh == 0 {
		v.fresh = work
	}
	v.excess += max(0, work-v.fresh)
}

// factor makes it of the last evaluation of a state; false where a matrix has no inverse.
func (v *split) factor(st *state) bool {
	s, n := v.system, v.system.fields*v.system.points
	v.one, v.two = band.New(n, v.lower, v.upper), band.New(2*n, 2*v.lower+1, 2*v.upper+1)
	v.rate, v.fresh, v.excess, v.units = 0, 0, 0, nil
	var rates [orders][stages][stages]float64 // joint * rate * splitting
	for m := range rates {
		for i := range stages {
			for j := range stages {
				if m == 0 {
					rates[m][i][i] = 1
					continue
				}
				for k := range stages {
					for l := range stages {
						if st.rate[m] != nil {
							rates[m][i][j] += v.joint[i][k] * st.rate[m][k*stages+l] * v.splitting[l][j]
						}
					}
				}
			}
		}
	}
	if units := st.rowUnitsAt(); units != nil {
		for f := range s.fields {
			v.units = append(v.units, s.slice(units, f, 0)...)
		}
	}
	s.eachRow(func(k, i, _ int) {
		set := s.sys.Sets[k]
		own := int(set.Points[i])
		if own >= s.points {
			return
		}
		row, by := v.column(s.owner[k], own), 1.0
		if v.units != nil {
			by = 1 / v.units[s.owner[k]*s.points+own]
		}
		for j, t := range set.Terms {
			mean := 0.0
			for slice := range stages {
				mean += st.out[k][1+j][i+slice*len(set.Points)/stages] / stages
			}
			if mean *= by; mean == 0 {
				continue
			}
			r, of := &rates[s.rates[t]], s.sys.Terms[t].Of
			s.eachEntry(t, int32(own), func(q int32, coef float64) {
				g, column := mean*coef, v.column(of, int(q))
				v.one.Add(row, column, g*r[0][0])
				for a := range 2 {
					for b := range 2 {
						v.two.Add(2*row+a, 2*column+b, g*r[1+a][1+b])
					}
				}
			})
		}
	})
	if !v.one.Factor() || !v.two.Factor() {
		return false
	}
	v.rate = st.rate[1][0]
	return true
}

// apply implements preconditioner.
func (v *split) apply(dst, src []float64) {
	s := v.system
	for f := range s.fields {
		for p := range s.points {
			at, by := v.column(f, p), 1.0
			if v.units != nil {
				by = 1 / v.units[f*s.points+p]
			}
			var sums [stages]float64
			for k := range stages {
				r := by * src[(f*stages+k)*s.points+p]
				for i := range stages {
					sums[i] += v.joint[i][k] * r
				}
			}
			v.x[at], v.y[2*at], v.y[2*at+1] = sums[0], sums[1], sums[2]
		}
	}
	v.one.Solve(v.x)
	v.two.Solve(v.y)
	for f := range s.fields {
		for p := range s.points {
			at := v.column(f, p)
			for i := range stages {
				dst[(f*stages+i)*s.points+p] = v.splitting[i][0]*v.x[at] + v.splitting[i][1]*v.y[2*at] + v.splitting[i][2]*v.y[2*at+1]
			}
		}
	}
}

// work is about the number of products of apply.
func (v *split) work() float64 {
	n, width := float64(len(v.x)), float64(2*v.lower+v.upper)
	return n*width + 2*n*2*width
}
