// Method is "Scaling physics-informed hard constraints with mixture-of-experts" (Chalapathi, Du and Krishnapriyan, ICLR
// 2024) in one file of plain loops. It trains a small network to solve diffusion-sorption for any constant initial
// condition, without solutions. It imports nothing of pihc; main_test.go holds its loss and gradient equal to pihc's.
//
//	go run ./method                  PI-HC-MoE, the paper's method, in 15 s on one core
//	go run ./method -experts 1       PI-HC: one solve for the whole domain
//	go run ./method -experts 0       PI-SC: no solve, the equation is a penalty in the loss
//
// Read addGradient first, which is the method; the sections before it are its steps. Of one initial condition u0:
//
//	b = network(u0)                  N basis functions on the grid       section 3: f_θ: φ → b
//	ω_k = argmin ‖rows_k(b·ω)‖²      one solve for each expert k         section 3: F_φ(b·ω_kᵀ) = 0
//	u(x) = b(x)·ω_k, x in Ω_k        the prediction                      section 3, figure 1
//	loss = ‖rows(u)‖²                on the whole grid                   section 3: ‖F_φ(f_θ(φ)·ωᵀ)‖²
//
// and back: ∂loss/∂u, through every solve to ∂loss/∂b (equations 1 to 3), through the network to ∂loss/∂θ.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"
)

// A method has sizes and weights, and what prepare derives from them. A field is nt·nx values, time by time.
type method struct {
	nt, nx                    int        // times, from 0 to 500 s, and cells of [0, 1]
	mt, mx                    int        // Fourier modes: frequencies -mt..mt-1 along time, 0..mx-1 along space
	width, fourier, hidden    int        // channels of Fourier layers, their number, channels of the layer after them
	basis, experts            int        // N, and K subdomains of equal length along x. PI-SC: 1 and 0
	scale                     float64    // the network reads u0 divided by this
	start, ridge, tolerance   float64    // of a solve: ω where it starts; ε of ½ε²‖ω‖²; where it ends: the largest
	iterations                int        // cosine of the residual with a column of its Jacobian; or after so many steps
	solveWeights, lossWeights [4]float64 // of the sets of rows
	borderRows                float64    // factor in the loss of residual rows that reach across a border of experts

	rows  []row
	count [4]float64  // of rows in each set
	waves [][]float64 // of the Fourier transform
	size  int         // number of parameters
}

// 1. The equation (section 4.1) as rows ------------------------------------------------------------------------------
//
//	u_t = D/R(u) u_xx,   R(u) = 1 + (1-φ)/φ ρ_s k n_f u^(n_f-1),   u(x, 0) = u0
//
// and, as PDEBench's data have it, u = 1 one step outside the left wall and u = -D u_x one step outside the right one.

const diffusion, exponent, duration, sorption = 5e-4, 0.874 - 1, 500.0, (1 - 0.29) / 0.29 * 2880 * 3.5e-4 * 0.874

// diffusivity returns f = D/R(u), f' and f". R, which is singular at 0, is constant below 1e-3: a basis may go there.
func diffusivity(u float64) (f, f1, f2 float64) {
	v := max(u, 1e-3) + 1e-6
	r := 1 + sorption*math.Pow(v, exponent)
	if u <= 1e-3 {
		return diffusion / r, 0, 0
	}
	r1 := sorption * exponent * math.Pow(v, exponent-1)
	return diffusion / r, -diffusion * r1 / (r * r), diffusion * (2*r1/r - (exponent-1)/v) * r1 / (r * r)
}

const residual, initial, left, right = 0, 1, 2, 3 // sets of rows

// A row is the residual or a condition at one point, (F_φ(u))(x_i), zero where it holds. It reads the field through
// linear terms z: u, u_t and u_xx of a residual, one of a condition. An entry adds c·u[at] to a term.
type row struct {
	set, point int
	weight     float64
	entries    []entry
}

type entry struct {
	term, at int
	c        float64
}

// read returns the values of the row's terms of u.
func (r *row) read(u []float64) (z [3]float64) {
	for _, x := range r.entries {
		z[x.term] += x.c * u[x.at]
	}
	return z
}

// scatter adds the transpose of read, of a·s, to ubar.
func (r *row) scatter(ubar []float64, a float64, s [3]float64) {
	for _, x := range r.entries {
		ubar[x.at] += a * s[x.term] * x.c
	}
}

// evaluate returns the row at values z of its terms, with its first and second derivatives by them.
func (r *row) evaluate(z [3]float64, u0 []float64) (value float64, d [3]float64, h [3][3]float64) {
	if v := r.weight; r.set == residual {
		f, f1, f2 := diffusivity(z[0])
		h[0][0], h[0][2], h[2][0] = -v*f2*z[2], -v*f1, -v*f1
		return v * (z[1] - f*z[2]), [3]float64{-v * f1 * z[2], v, -v * f}, h
	}
	target := [4]float64{initial: u0[r.point%len(u0)], left: 1}
	return z[0] - target[r.set], [3]float64{1}, h
}

// sixth are the differences of sixth order for a first derivative at each of seven points, times 60.
var sixth = [7][7]float64{
	{-147, 360, -450, 400, -225, 72, -10},
	{-10, -77, 150, -100, 50, -15, 2},
	{2, -24, -35, 80, -30, 8, -1},
	{-1, 9, -45, 0, 45, -9, 1},
	{1, -8, 30, -80, 35, 24, -2},
	{-2, 15, -50, 100, -150, 77, 10},
	{10, -72, 225, -400, 450, -360, 147},
}

// prepare lists the rows, with finite differences for derivatives, and the waves √f cos θ and -√f sin θ of every mode.
func (m *method) prepare() *method {
	if m.experts == 0 {
		m.basis = 1
	}
	dt, dx, modes := duration/float64(m.nt-1), 1/float64(m.nx), 2*m.mt*m.mx
	m.waves = fields(2*modes, m.nt*m.nx)
	for p := range m.nt * m.nx {
		i, j, e := p/m.nx, p%m.nx, p+m.nx-1
		switch first := min(max(i-3, 0), m.nt-7); {
		case i == 0:
			m.rows = append(m.rows, row{initial, p, 1, []entry{{0, p, 1}}})
		case j == 0: // the value one step outside a wall is 3u_1 - 3u_2 + u_3 of the cells nearest to it
			m.rows = append(m.rows, row{left, p, 1, []entry{{0, p, 3}, {0, p + 1, -3}, {0, p + 2, 1}}})
			m.rows = append(m.rows, row{right, e, 1, []entry{{0, e, 3 + diffusion/dx}, {0, e - 1, -3 - diffusion/dx}, {0, e - 2, 1}}})
		case j < m.nx-1: // early times have large residuals that no smooth basis removes: later ones count more
			r := row{residual, p, math.Sqrt(500 * (float64(i)*dt + 40)), []entry{{0, p, 1}}}
			for k, c := range sixth[i-first] {
				r.entries = append(r.entries, entry{1, (first+k)*m.nx + j, c / (60 * dt)})
			}
			r.entries = append(r.entries, entry{2, p - 1, 1 / (dx * dx)}, entry{2, p, -2 / (dx * dx)}, entry{2, p + 1, 1 / (dx * dx)})
			m.rows = append(m.rows, r)
		}
		for mode := range modes { // q is 0..mt-1, -mt..-1; a mode with k > 0 stands for its conjugate too
			q, k, f := (mode/m.mx+m.mt)%(2*m.mt)-m.mt, mode%m.mx, 2/float64(m.nt*m.nx)
			if k == 0 || 2*k == m.nx {
				f /= 2
			}
			sin, cos := math.Sincos(2 * math.Pi * (float64(q*i)/float64(m.nt) + float64(k*j)/float64(m.nx)))
			m.waves[mode][p], m.waves[modes+mode][p] = math.Sqrt(f)*cos, -math.Sqrt(f)*sin
		}
	}
	for _, r := range m.rows {
		m.count[r.set]++
	}
	w, h := m.width, m.hidden
	m.size = 4*w + m.fourier*(2*modes*w*w+(w+1)*w) + (w+1)*h + (h+1)*m.basis
	return m
}

// 2. The network: a Fourier neural operator (Li et al. 2021) ---------------------------------------------------------
//
// Every layer is v·weight + bias at every point. Fourier layers add K v: each kept mode of v times a complex matrix of
// its own, transformed back. All but the first and the last layer end with GELU.

// A layer has views of the parameters, or of their gradient: weight (in + 1, out), whose last row is the bias, and in
// Fourier layers spectral (2mt, mx, 2, in, out), real before imaginary parts. It keeps what its backward pass reads: the
// input, with a channel of ones for the bias, its modes, and the derivative of GELU.
type layer struct {
	in, out          int
	spectral, weight []float64
	v, modes, slope  [][]float64
}

// layers cuts parameters into layers.
func (m *method) layers(flat []float64) (all []layer) {
	cut := func(n int) (part []float64) {
		part, flat = flat[:n], flat[n:]
		return part
	}
	in := 3 // t, x and u0
	for i, out := range append(slices.Repeat([]int{m.width}, m.fourier+1), m.hidden, m.basis) {
		l := layer{in: in, out: out}
		if 0 < i && i <= m.fourier {
			l.spectral = cut(len(m.waves) * in * out)
		}
		l.weight = cut((in + 1) * out)
		all, in = append(all, l), out
	}
	return all
}

// transform returns the modes of a field, real before imaginary parts. Its transpose transforms back.
func (m *method) transform(v []float64) (modes []float64) {
	for _, wave := range m.waves {
		modes = append(modes, dot(wave, v))
	}
	return modes
}

// addTransposed adds the transpose of transform, of modes, to a field.
func (m *method) addTransposed(v, modes []float64) {
	for q, wave := range m.waves {
		axpy(v, modes[q], wave)
	}
}

// forward returns the basis b (N, nt·nx), and the layers for backward.
func (m *method) forward(params, u0 []float64) (b [][]float64, all []layer) {
	v, ones := fields(3, m.nt*m.nx), slices.Repeat([]float64{1}, m.nt*m.nx)
	for p := range ones {
		v[0][p], v[1][p], v[2][p] = float64(p/m.nx)/float64(m.nt-1), (float64(p%m.nx)+0.5)/float64(m.nx), u0[p%m.nx]/m.scale
	}
	all = m.layers(params)
	for n := range all {
		l, y, half := &all[n], fields(all[n].out, len(ones)), len(m.waves)/2
		for i := 0; l.spectral != nil && i < l.in; i++ {
			l.modes = append(l.modes, m.transform(v[i]))
		}
		l.v = append(v, ones)
		for o := range y {
			for i, x := range l.v {
				axpy(y[o], l.weight[i*l.out+o], x)
			}
			if l.spectral == nil {
				continue
			}
			mixed := make([]float64, len(m.waves))
			for i, x := range l.modes {
				for q := range half {
					at := (2*q*l.in+i)*l.out + o // of entry (i, o) of this mode's matrix
					re, im := l.spectral[at], l.spectral[at+l.in*l.out]
					mixed[q] += re*x[q] - im*x[half+q]
					mixed[half+q] += re*x[half+q] + im*x[q]
				}
			}
			m.addTransposed(y[o], mixed)
		}
		if v = y; 0 < n && n < len(all)-1 {
			l.slope = gelu(v)
		}
	}
	return v, all
}

// backward adds the gradient by the parameters to grad, from bar = ∂loss/∂b, which it overwrites.
func (m *method) backward(grad []float64, all []layer, bar [][]float64) {
	grads, half := m.layers(grad), len(m.waves)/2
	for n := len(all) - 1; n >= 0; n-- {
		l, g := all[n], grads[n]
		vbar, modesbar := fields(l.in+1, m.nt*m.nx), fields(len(l.modes), len(m.waves))
		for o, y := range bar[:l.out] {
			for p := 0; l.slope != nil && p < len(y); p++ {
				y[p] *= l.slope[o][p]
			}
			for i, x := range l.v {
				g.weight[i*l.out+o] += dot(x, y)
				axpy(vbar[i], l.weight[i*l.out+o], y)
			}
			if l.spectral == nil {
				continue
			}
			z := m.transform(y)
			for i, x := range l.modes {
				for q := range half {
					at := (2*q*l.in+i)*l.out + o
					re, im := l.spectral[at], l.spectral[at+l.in*l.out]
					g.spectral[at] += x[q]*z[q] + x[half+q]*z[half+q]
					g.spectral[at+l.in*l.out] += x[q]*z[half+q] - x[half+q]*z[q]
					modesbar[i][q] += re*z[q] + im*z[half+q]
					modesbar[i][half+q] += re*z[half+q] - im*z[q]
				}
			}
		}
		for i := range modesbar {
			m.addTransposed(vbar[i], modesbar[i])
		}
		bar = vbar
	}
}

// gelu replaces x by x·s(x) (Hendrycks and Gimpel 2016, with a hyperbolic tangent) and returns the derivative.
func gelu(x [][]float64) [][]float64 {
	slope, c := fields(len(x), len(x[0])), 2*math.Sqrt(2/math.Pi)
	for i := range x {
		for p, v := range x[i] {
			s := 1 / (1 + math.Exp(-c*(v+0.044715*v*v*v)))
			x[i][p], slope[i][p] = v*s, s+v*s*(1-s)*c*(1+3*0.044715*v*v)
		}
	}
	return slope
}

// 3. Router and solve ------------------------------------------------------------------------------------------------

// owner is the expert of a point: the subdomains Ω_k divide x.
func (m *method) owner(point int) int { return (2*(point%m.nx) + 1) * m.experts / (2 * m.nx) }

// route gives every expert its rows: the residual at so many random points of its subdomain (0: at all of them), and
// all conditions ("each expert is also provided with the global initial and boundary conditions").
func (m *method) route(points int, rng *rand.Rand) [][]*row {
	rows, drawn := make([][]*row, m.experts), make([]int, m.experts)
	for _, i := range rng.Perm(len(m.rows)) {
		r := &m.rows[i]
		for k := range rows {
			if r.set == residual {
				if m.owner(r.point) != k || points > 0 && drawn[k] == points {
					continue
				}
				drawn[k]++
			}
			rows[k] = append(rows[k], r)
		}
	}
	return rows
}

// An expert is the least squares of its rows, C(ω) = ½Σ σ r(b·ω)² + ½ε²‖ω‖².
type expert struct {
	*method
	index int
	u0    []float64
	rows  []*row
	sigma []float64      // the square of a set's weight over the number of its rows here
	b     [][3][]float64 // per row and term: its values of the N basis functions
	omega []float64
}

func (m *method) newExpert(k int, rows []*row, basis [][]float64, u0 []float64) *expert {
	e := &expert{m, k, u0, rows, nil, make([][3][]float64, len(rows)), slices.Repeat([]float64{m.start}, len(basis))}
	count := m.count
	count[residual] = float64(len(rows)) - count[initial] - count[left] - count[right]
	for i, r := range rows {
		e.sigma = append(e.sigma, m.solveWeights[r.set]*m.solveWeights[r.set]/count[r.set])
		for _, b := range basis {
			for j, z := range r.read(b) {
				e.b[i][j] = append(e.b[i][j], z)
			}
		}
	}
	return e
}

// read returns the values of the terms of row i of b·w.
func (e *expert) read(i int, w []float64) [3]float64 {
	return [3]float64{dot(e.b[i][0], w), dot(e.b[i][1], w), dot(e.b[i][2], w)}
}

// at returns C at some ω with its gradient g = Σ σ r J + ε²ω, the matrix of Gauss and Newton A = JᵀJ + ε²I, and the
// exact Hessian H = A + Σ σ r ∇²r.
func (e *expert) at(omega []float64) (c float64, g []float64, a, h [][]float64) {
	n, e2 := len(omega), e.ridge*e.ridge
	c, g, a, h = 0.5*e2*dot(omega, omega), make([]float64, n), fields(n, n), fields(n, n)
	for k, v := range omega {
		g[k], a[k][k], h[k][k] = e2*v, e2, e2
	}
	for i, r := range e.rows {
		value, d, second := r.evaluate(e.read(i, omega), e.u0)
		s, jacobian := e.sigma[i], make([]float64, n)
		for j, b := range e.b[i] {
			axpy(jacobian, d[j], b)
		}
		c += 0.5 * s * value * value
		axpy(g, s*value, jacobian)
		for k, v := range jacobian {
			axpy(a[k], s*v, jacobian)
			axpy(h[k], s*v, jacobian)
			for j := range 9 {
				axpy(h[k], s*value*second[j/3][j%3]*e.b[i][j/3][k], e.b[i][j%3])
			}
		}
	}
	return c, g, a, h
}

// solve is Levenberg-Marquardt (Madsen, Nielsen and Tingleff 2004), steps of (A + μ diag A) δ = -g with μ small while
// the cost falls as predicted. Its last step is Newton's: what is differentiated below is a minimum, and that squares
// the distance to it.
func (e *expert) solve() {
	c, g, a, h := e.at(e.omega)
	mu, nu := 1e-6, 2.0
	for range e.iterations {
		cosine, damped := 0.0, fields(len(g), len(g))
		for k, v := range g {
			cosine = max(cosine, math.Abs(v)/math.Sqrt(2*c*a[k][k]))
			copy(damped[k], a[k])
			damped[k][k] *= 1 + mu
		}
		if cosine <= e.tolerance || mu > 1e10 {
			break
		}
		step, predicted, trial := solveSymmetric(damped, g), 0.0, slices.Clone(e.omega)
		for k, v := range step {
			predicted += v * (g[k] - 0.5*dot(a[k], step))
			trial[k] -= v
		}
		if c1, g1, a1, h1 := e.at(trial); step != nil && c-c1 > 1e-4*predicted {
			mu, nu = mu*max(1./3, 1-math.Pow(2*(c-c1)/predicted-1, 3)), 2
			e.omega, c, g, a, h = trial, c1, g1, a1, h1
		} else {
			mu, nu = mu*nu, 2*nu
		}
	}
	trial := slices.Clone(e.omega)
	axpy(trial, -1, solveSymmetric(h, g))
	if c1, _, _, _ := e.at(trial); c1 <= c*(1+1e-13) {
		e.omega = trial
	}
}

// solveSymmetric solves a x = b by elimination; it returns nil if a pivot is not positive: then a is not positive definite.
func solveSymmetric(a [][]float64, b []float64) []float64 {
	u, x := fields(len(b), len(b)), slices.Clone(b)
	for i := range b {
		copy(u[i], a[i])
		for k := range i {
			f := u[i][k] / u[k][k]
			axpy(u[i], -f, u[k])
			x[i] -= f * x[k]
		}
		if !(u[i][i] > 0) {
			return nil
		}
	}
	for i := len(b) - 1; i >= 0; i-- {
		x[i] = (x[i] - dot(u[i][i+1:], x[i+1:])) / u[i][i]
	}
	return x
}

// 4. Loss and gradient -----------------------------------------------------------------------------------------------

// loss is a weighted sum of the mean squares of the sets of rows, on the whole grid; ubar is ∂loss/∂u. A jump d between
// two experts is a residual of about d/dx² in the rows beside it, which borderRows keeps from ruling the loss.
func (m *method) loss(u, u0 []float64) (loss float64, ubar []float64) {
	ubar = make([]float64, len(u))
	for _, r := range m.rows {
		factor := m.lossWeights[r.set] / m.count[r.set]
		if p := r.point; r.set == residual && m.owner(p-1) != m.owner(p+1) {
			factor *= m.borderRows * m.borderRows
		}
		value, d, _ := r.evaluate(r.read(u), u0)
		loss += factor * value * value
		r.scatter(ubar, 2*factor*value, d)
	}
	return loss, ubar
}

// addBackward adds to bbar = ∂loss/∂b what goes through this expert, from ubar. In Ω_k u is b·ω, and ω = z*(b).
// Equation 1 differentiates F(b·z*(b)) = 0. With more rows than weights no ω makes all rows zero; what is zero at the
// minimum is the gradient of the cost, g(ω, b). The same theorem for g gives dω = -H⁻¹ (∂g/∂b) db, so that
//
//	H λ = ω̄ = Σ b ubar over Ω_k,   bbar += ω ubar - (∂g/∂b)ᵀ λ:
//
// one linear system in place of the matrix inverse of equation 5 (appendix A). g = Σ σ r J, and r and J depend on b.
func (e *expert) addBackward(bbar, basis [][]float64, ubar []float64) {
	alpha, beta, omegabar := make([]float64, len(ubar)), make([]float64, len(ubar)), make([]float64, len(basis))
	for p, v := range ubar {
		if e.owner(p) == e.index { // the indicator function of equation 3
			alpha[p] = v
			for n, b := range basis {
				omegabar[n] += b[p] * v
			}
		}
	}
	_, _, a, h := e.at(e.omega)
	lambda := solveSymmetric(h, omegabar)
	if lambda == nil { // H is not positive definite, so this is no minimum; A is in any case
		lambda = solveSymmetric(a, omegabar)
	}
	for i, r := range e.rows {
		value, d, h := r.evaluate(e.read(i, e.omega), e.u0)
		y := e.read(i, lambda)
		r.scatter(beta, -e.sigma[i]*value, d)
		r.scatter(alpha, -e.sigma[i]*dot(d[:], y[:]), d)
		for j := range y {
			r.scatter(alpha, -e.sigma[i]*value*y[j], h[j])
		}
	}
	for n := range bbar {
		axpy(bbar[n], e.omega[n], alpha)
		axpy(bbar[n], lambda[n], beta)
	}
}

// predict solves for every expert, by its rows, and returns u. PI-SC has no expert: u is what the network says.
func (m *method) predict(basis [][]float64, u0 []float64, rows [][]*row) (u []float64, experts []*expert) {
	if m.experts == 0 {
		return basis[0], nil
	}
	for k := range rows {
		experts = append(experts, m.newExpert(k, rows[k], basis, u0))
		experts[k].solve()
	}
	u = make([]float64, m.nt*m.nx)
	for p := range u {
		for n, w := range experts[m.owner(p)].omega {
			u[p] += basis[n][p] * w
		}
	}
	return u, experts
}

// addGradient is the method: it returns the loss of one initial condition and adds its gradient by the parameters.
func (m *method) addGradient(grad, params, u0 []float64, rows [][]*row) float64 {
	basis, layers := m.forward(params, u0)
	u, experts := m.predict(basis, u0, rows)
	loss, ubar := m.loss(u, u0)
	bbar := fields(len(basis), len(u))
	if m.experts == 0 {
		bbar[0] = ubar
	}
	for _, e := range experts {
		e.addBackward(bbar, basis, ubar)
	}
	m.backward(grad, layers, bbar)
	return loss
}

// 5. Training --------------------------------------------------------------------------------------------------------

// train runs Adam (Kingma and Ba 2015) on gradients of norm 0.1 at most, at a rate that rises in 20 steps and falls. It
// returns the error that the last step begins with.
func (m *method) train(steps int) (wrong float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	params, first, second := make([]float64, m.size), make([]float64, m.size), make([]float64, m.size)
	for _, l := range m.layers(params) { // biases and spectral weights begin at zero
		for i := range l.in * l.out {
			l.weight[i] = rng.NormFloat64() / math.Sqrt(float64(l.in))
		}
	}
	for step := range steps {
		grad, t, loss := make([]float64, m.size), float64(step+1), 0.0
		for range 4 {
			loss += m.addGradient(grad, params, slices.Repeat([]float64{0.2 * rng.Float64()}, m.nx), m.route(300, rng)) / 4
		}
		if step%20 == 0 || step == steps-1 {
			wrong = m.wrong(params)
			fmt.Printf("step %4d   loss %9.2e   error %6.2f %%\n", step, loss, 100*wrong)
		}
		scale, rate := min(0.25, 0.1/math.Sqrt(dot(grad, grad))), 3e-3*min(1, t/20)*(1+math.Cos(math.Pi*t/float64(steps+1)))/2
		for i, g := range grad {
			first[i] += 0.1 * (scale*g - first[i])
			second[i] += 0.001 * (scale*g*scale*g - second[i])
			params[i] -= rate * first[i] / (1 - math.Pow(0.9, t)) / (math.Sqrt(second[i]/(1-math.Pow(0.999, t))) + 1e-8)
		}
	}
	return wrong
}

// wrong is the mean relative L2 error of three initial conditions, with solves on all rows.
func (m *method) wrong(params []float64) (mean float64) {
	for _, v := range []float64{0.03, 0.1, 0.17} {
		u0 := slices.Repeat([]float64{v}, m.nx)
		basis, _ := m.forward(params, u0)
		u, _ := m.predict(basis, u0, m.route(0, rand.New(rand.NewPCG(3, 4))))
		truth := m.classical(u0)
		axpy(u, -1, truth)
		mean += math.Sqrt(dot(u, u)/dot(truth, truth)) / 3
	}
	return mean
}

// classical solves the same cells by short steps of Euler's method: what predictions are compared with.
func (m *method) classical(u0 []float64) []float64 {
	u, out, dx := slices.Clone(u0), slices.Clone(u0), 1/float64(m.nx)
	for range m.nt - 1 {
		for range 200 {
			w := slices.Concat([]float64{1}, u, []float64{diffusion * (u[m.nx-2] - u[m.nx-1]) / dx})
			for j, v := range u {
				f, _, _ := diffusivity(v)
				u[j] += duration / float64(200*(m.nt-1)) * f * (w[j] - 2*v + w[j+2]) / (dx * dx)
			}
		}
		out = append(out, u...)
	}
	return out
}

func main() {
	m := &method{
		nt: 51, nx: 32, mt: 4, mx: 5, width: 12, fourier: 3, hidden: 24, basis: 8, scale: 0.2, start: 0.3, ridge: 1e-4, tolerance: 1e-4,
		iterations: 50, solveWeights: [4]float64{0.14, 1, 1, 1}, lossWeights: [4]float64{2, 10, 10, 10}, borderRows: 0.1,
	}
	flag.IntVar(&m.experts, "experts", 2, "subdomains, 0 to 4: 1 is PI-HC, 0 is PI-SC")
	log.SetFlags(0)
	flag.Parse()
	if m.experts < 0 || m.experts > 4 || flag.NArg() > 0 {
		log.Fatalf("%d experts, and %q: want -experts 0 to 4, and nothing else", m.experts, flag.Args())
	}
	m.prepare()
	fmt.Printf("%d experts, %d basis functions, %d parameters\n", m.experts, m.basis, m.size)
	fmt.Println("loss: of four random initial conditions; error: of three others, against a classical solver")
	m.train(200)
}

func fields(n, size int) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, size)
	}
	return all
}

func dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// axpy adds a·x to y.
func axpy(y []float64, a float64, x []float64) {
	for i, v := range x {
		y[i] += a * v
	}
}
