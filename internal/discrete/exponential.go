package discrete

import (
	"errors"
	"math"
	"slices"

	"pihc/internal/fft"
	"pihc/internal/kernel"
)

// errShortSteps says that steps which are exact in the linear part would be too short.
var errShortSteps = errors.New("steps of the exponential method are too short")

const (
	mostExponentialSteps = 50000
	mostHalvings         = 20
)

// exponential is the memory of a solution of a semilinear problem by steps of ETDRK4: S. M. Cox and P. C. Matthews, Exponential time
// differencing for stiff systems (2002), in the form of S. Krogstad, Generalized integrating factor methods for stiff PDEs (2005). A step is
// the interval between two times of the output over a power of two; the last stage, and N at the end of the step, which is the first stage of
// the next, estimate its error (as S. Balac and F. Mahé, 2013, do for RK4).
type exponential struct {
	*semilinear
	real     *fft.Real
	re, im   []float64
	in       [][]float64    // per name: axes, inputs
	fields   [][]float64    // per term, at points
	fresh    []bool         // per term: fields are those of the evaluation
	rests    [][]complex128 // per unknown without a derivative in time (modes): what it is beside its linear part
	out      []float64
	interval float64
	programs []func(n int, out, in [][]float64) // per row with a rest
	reads    [][][]float64                      // per row: what the program reads
	steps    []multipliers                      // per halving of the interval
}

func newExponential(s *semilinear, sample []float64, interval float64) *exponential {
	n := s.march.step.points
	x := &exponential{
		semilinear: s, real: fft.NewReal(s.shape, 1), re: make([]float64, s.modes), im: make([]float64, s.modes), out: make([]float64, n),
		fields: make([][]float64, len(s.terms)), fresh: make([]bool, len(s.terms)), rests: make([][]complex128, len(s.orders)), interval: interval,
	}
	x.in = append(x.in, make([]float64, n))
	stride := n
	for _, a := range s.march.space {
		stride /= a.Points
		field := make([]float64, n)
		for i := range field {
			field[i] = a.Coordinate(i / stride % a.Points)
		}
		x.in = append(x.in, field)
	}
	inputs := s.march.step.sys.Inputs
	for k := range inputs {
		x.in = append(x.in, onSlice(&inputs[k], sample, n))
	}
	x.programs, x.reads = make([]func(int, [][]float64, [][]float64), len(s.rows)), make([][][]float64, len(s.rows))
	for i, row := range s.rows {
		if row.program == nil {
			continue
		}
		x.programs[i], x.reads[i] = row.program.Evaluator(), slices.Clone(x.in)
		for _, t := range row.reads {
			if x.fields[t] == nil {
				x.fields[t] = make([]float64, n)
			}
			x.reads[i] = append(x.reads[i], x.fields[t])
		}
	}
	return x
}

// cost is the work of a step (costs).
func (x *exponential) cost() float64 {
	n := len(x.out)
	blocks := 0
	for e := range x.state * x.state {
		if len(x.steps) > 0 && x.steps[0].whole.re[e] != nil {
			blocks++
		}
	}
	work := 0.0
	for _, row := range x.rows {
		if row.program != nil {
			work += float64(1+len(row.reads))*transformCost(n) + float64(n)*rowCost(len(row.reads))
		}
	}
	return 4*work + float64(10*blocks*x.modes*8)
}

// forward sets a spectrum to that of values at points.
func (x *exponential) forward(dst []complex128, values []float64) {
	x.real.Forward(x.re, x.im, values)
	for k := range dst {
		dst[k] = complex(x.re[k], x.im[k])
	}
}

// inverse sets values at points from x.re and x.im, which it overwrites.
func (x *exponential) inverse(values []float64) {
	scale := 1 / float64(len(values))
	for k := range x.re {
		x.re[k] *= scale
		x.im[k] *= scale
	}
	x.real.Inverse(values, x.re, x.im)
}

// term is a term of y at points; the unknown of y it is of has been found where it has no derivative in time.
func (x *exponential) term(t int, y []complex128) []float64 {
	if x.fresh[t] {
		return x.fields[t]
	}
	if x.fields[t] == nil {
		x.fields[t] = make([]float64, len(x.out))
	}
	of := x.terms[t].Of
	for k, symbol := range x.symbols[t] {
		var v complex128
		if x.orders[of] > 0 {
			v = y[(x.first[of]+x.rates[t])*x.modes+k]
		} else {
			v = x.rests[of][k]
			for j, l := range x.row(of).linear[k*x.state : (k+1)*x.state] {
				v += l * y[j*x.modes+k]
			}
		}
		v *= symbol
		x.re[k], x.im[k] = real(v), imag(v)
	}
	x.inverse(x.fields[t])
	x.fresh[t] = true
	return x.fields[t]
}

// rest sets dst (state, modes) to N(t, y).
func (x *exponential) rest(dst, y []complex128, t float64) {
	clear(dst)
	clear(x.fresh)
	for i := range x.in[0] {
		x.in[0][i] = t
	}
	for i := range x.rows {
		row := &x.rows[i]
		var to []complex128
		if x.orders[row.of] > 0 {
			at := (x.first[row.of] + x.orders[row.of] - 1) * x.modes
			to = dst[at : at+x.modes]
		} else {
			if x.rests[row.of] == nil {
				x.rests[row.of] = make([]complex128, x.modes)
			}
			to = x.rests[row.of]
			clear(to)
		}
		if row.program != nil {
			for _, t := range row.reads {
				x.term(t, y)
			}
			x.programs[i](len(x.out), [][]float64{x.out}, x.reads[i])
			x.forward(to, x.out)
		}
		for t, coef := range row.coefs {
			if of := x.terms[t].Of; coef != 0 && x.orders[of] == 0 {
				for k, symbol := range x.symbols[t] {
					to[k] += complex(coef, 0) * symbol * x.rests[of][k]
				}
			}
		}
		by := complex(-1/row.leading, 0)
		for k := range to {
			to[k] *= by
		}
	}
}

// norms are those of the unknowns in y.
func (x *exponential) norms(y []complex128) []float64 {
	out := make([]float64, len(x.orders))
	for c, o := range x.orders {
		if o == 0 {
			continue
		}
		sum := 0.0
		for _, v := range y[x.first[c]*x.modes : (x.first[c]+1)*x.modes] {
			sum += kernel.SquareAbs(v)
		}
		out[c] = math.Sqrt(sum)
	}
	return out
}

// solveExponential is march.solve by steps of an interval of the grid halved least times or more often, whose errors, relative to the unknowns, add up to the tolerance over the whole time. Bounded
// by the tolerance alone, steps would be two to four times longer; but where their stability bounds them, what they leave in short waves would
// then look like an error of the grid.
func (s *semilinear) solveExponential(sample []float64, tolerance float64, least int, work *meter, out func(k int, u []float64)) (steps int, err error) {
	m := s.march
	w, err := m.initial(sample, nil)
	if err != nil {
		return 0, err
	}
	n, size := m.step.points, s.state*s.modes
	times := m.times
	x := newExponential(s, sample, times[1]-times[0])
	vector := func() []complex128 { return make([]complex128, size) }
	y, next := vector(), vector()
	for c, o := range s.orders {
		if o > 0 {
			x.forward(y[s.first[c]*s.modes:][:s.modes], w.u[c*n:(c+1)*n])
		}
		if o > 1 {
			x.forward(y[(s.first[c]+1)*s.modes:][:s.modes], w.rate[c*n:(c+1)*n])
		}
	}
	n1, n2, n3, n4, n5, half, stage, miss := vector(), vector(), vector(), vector(), vector(), vector(), vector(), vector()
	scale := x.norms(y)
	u := make([]float64, len(s.orders)*n)
	write := func(k int) {
		x.rest(n1, y, times[k]) // also what unknowns without a derivative in time are
		for c := range s.orders {
			x.fresh[c] = false
			copy(u[c*n:(c+1)*n], x.term(c, y))
		}
		out(k, u)
	}
	write(0)
	halving := least
	whole := times[len(times)-1] - times[0]
	for k := 1; k < len(times); k++ {
		done := 0 // of 2^mostHalvings parts of the interval
		for done < 1<<mostHalvings {
			t := times[k-1] + x.interval*math.Ldexp(float64(done), -mostHalvings)
			h := math.Ldexp(x.interval, -halving)
			if work.spent += x.cost(); work.most > 0 && work.spent > work.most {
				return steps, errWork
			}
			p := x.multipliers(halving)
			clear(next)
			p.whole.add(next, y)
			limit, worst := math.Max(tolerance*h/whole, 1e-15), 0.0
			if s.moves {
				clear(half)
				p.half.add(half, y)
				copy(stage, half)
				p.second.add(stage, n1)
				x.rest(n2, stage, t+h/2)
				copy(stage, half)
				p.third[0].add(stage, n1)
				p.third[1].add(stage, n2)
				x.rest(n3, stage, t+h/2)
				copy(stage, next)
				p.fourth[0].add(stage, n1)
				p.fourth[1].add(stage, n3)
				x.rest(n4, stage, t+h)
				p.sum[0].add(next, n1)
				for i := range n2 {
					n2[i] += n3[i]
				}
				p.sum[1].add(next, n2)
				p.sum[2].add(next, n4)
				x.rest(n5, next, t+h)
				for i := range n4 {
					n4[i] -= n5[i]
				}
				clear(miss)
				p.sum[2].add(miss, n4)
				now := x.norms(next)
				for c, e := range x.norms(miss) {
					most := math.Max(scale[c], now[c])
					if e > 0 || math.IsNaN(e) {
						worst = math.Max(worst, e/most)
					}
				}
				if !(worst <= limit) {
					if halving++; halving >= mostHalvings {
						return steps, errShortSteps
					}
					continue
				}
			}
			if steps++; steps > mostExponentialSteps {
				return steps, errShortSteps
			}
			y, next = next, y
			n1, n5 = n5, n1
			for c, v := range x.norms(y) {
				scale[c] = math.Max(scale[c], v)
			}
			done += 1 << (mostHalvings - halving)
			if worst < limit/10 && halving > least && done%(1<<(mostHalvings-halving+1)) == 0 {
				halving--
			}
		}
		write(k)
	}
	return steps, nil
}
