package lm

// paramJacobian writes ∂r/∂θ (Rows x Params) at w.
func (d *Dense) paramJacobian(jac, w []float64) {
	if d.f.ParamJacobian != nil {
		d.f.ParamJacobian(jac, w)
		return
	}
	p := d.f.Params
	for k, v := range d.f.Theta {
		h := differenceStep(v)
		d.f.Theta[k] = v + h
		d.f.Residual(d.r1, w)
		up := d.f.Theta[k]
		d.f.Theta[k] = v - h
		d.f.Residual(d.r2, w)
		inv := 1 / (up - d.f.Theta[k])
		d.f.Theta[k] = v
		for i := range d.r1 {
			jac[i*p+k] = (d.r1[i] - d.r2[i]) * inv
		}
	}
}

func (d *Dense) paramBuffers() {
	if size := d.f.Rows * d.f.Params; d.pj1 == nil {
		d.pj1, d.pj2 = make([]float64, size), make([]float64, size)
		d.theta = make([]float64, d.f.Params)
	}
}

// PullGradient implements [Parametric]. The mixed derivative uses
// (∂g/∂θ)ᵀλ = d/dε [(∂r/∂θ)ᵀr](w + ελ) at ε = 0, split into
// (∂r/∂θ)ᵀ(Jλ), exact, and a central difference of ∂r/∂θ along λ.
func (d *Dense) PullGradient(thetaBar, w, lambda []float64, residualOnly bool) {
	d.paramBuffers()
	n, p := d.f.Dim, d.f.Params
	clear(thetaBar)
	d.linearise(w)
	d.paramJacobian(d.pj1, w)
	for i := range d.r {
		axpy(thetaBar, dot(d.jac[i*n:(i+1)*n], lambda), d.pj1[i*p:(i+1)*p])
	}
	if residualOnly {
		return
	}
	inv := d.alongLambda(w, lambda)
	if inv == 0 {
		return
	}
	d.f.Residual(d.r, w)
	for i, ri := range d.r {
		for k := range p {
			thetaBar[k] += ri * inv * (d.pj1[i*p+k] - d.pj2[i*p+k])
		}
	}
}

// alongLambda evaluates ∂r/∂θ at w ± hλ and returns 1/2h, or 0 if λ = 0.
func (d *Dense) alongLambda(w, lambda []float64) float64 {
	size := norm(lambda)
	if size == 0 {
		return 0
	}
	h := 20 * differenceStep(norm(w)) / size
	x := d.probe
	copy(x, w)
	axpy(x, h, lambda)
	d.paramJacobian(d.pj1, x)
	axpy(x, -2*h, lambda)
	d.paramJacobian(d.pj2, x)
	return 1 / (2 * h)
}

// PushGradient implements [Parametric]: gdot = Jᵀ(∂r/∂θ)θdot + (dJ/dθ)ᵀr, the
// second term by a central difference of J along θdot.
func (d *Dense) PushGradient(gdot, w, thetaDot []float64, residualOnly bool) {
	d.paramBuffers()
	m, n, p := d.f.Rows, d.f.Dim, d.f.Params
	clear(gdot)
	d.linearise(w)
	d.paramJacobian(d.pj1, w)
	for i := range m {
		axpy(gdot, dot(d.pj1[i*p:(i+1)*p], thetaDot), d.jac[i*n:(i+1)*n])
	}
	size := norm(thetaDot)
	if residualOnly || size == 0 {
		return
	}
	d.jacobianBuffers()
	h := 20 * differenceStep(norm(d.f.Theta)) / size
	copy(d.theta, d.f.Theta)
	axpy(d.f.Theta, h, thetaDot)
	d.Jacobian(d.jac1, w)
	axpy(d.f.Theta, -2*h, thetaDot)
	d.Jacobian(d.jac2, w)
	copy(d.f.Theta, d.theta)
	d.f.Residual(d.r, w)
	for i, ri := range d.r {
		for j := range n {
			gdot[j] += ri * (d.jac1[i*n+j] - d.jac2[i*n+j]) / (2 * h)
		}
	}
}
