package lm

import "math"

// damper holds what a rejected trial makes stricter and an accepted one
// laxer: μ of Levenberg-Marquardt, the radius of dogleg, the step length of
// Gauss-Newton.
type damper struct {
	mu, nu     float64
	radius     float64
	length     float64
	rejections int  // since the last accepted trial
	solvable   bool // the last damped system could be factored
}

func (t *damper) init(s *Solver) {
	n, largest := s.n, 0.0
	for j := range n {
		largest = max(largest, s.a[j*n+j]/(s.d[j]*s.d[j]))
	}
	*t = damper{mu: s.opt.InitialDamping * largest, nu: 2, length: 1}
	if s.opt.Damping == Classical || t.mu == 0 {
		t.mu = 1
	}
	t.radius = initialTrustSize * scaledNorm(s.d[:n], s.w)
	if t.radius == 0 {
		t.radius = initialTrustSize
	}
}

// accept loosens after an accepted trial of ratio ρ and scaled length size.
func (t *damper) accept(s *Solver, ratio, size float64) {
	t.rejections = 0
	switch s.opt.Descent {
	case GaussNewton:
		t.length = min(1, 2*t.length)
	case Dogleg:
		// Ceres dogleg_strategy.cc.
		if ratio < 0.25 {
			t.radius *= 0.5
		} else if ratio > 0.75 {
			t.radius = min(max(t.radius, 3*size), maxTrustRegion)
		}
	default:
		if s.opt.Damping == Classical {
			if ratio >= classicalGood {
				t.mu /= 3.5
			}
			return
		}
		u := 2*ratio - 1
		t.mu *= max(1./3, 1-u*u*u)
		t.nu = 2
	}
}

// reject tightens after a rejected trial and reports whether going on makes
// sense: false once the trials are too short to change w.
func (t *damper) reject(s *Solver, size float64) bool {
	t.rejections++
	limit := epsilon * scaledNorm(s.d[:s.n], s.w)
	switch s.opt.Descent {
	case GaussNewton:
		t.length *= 0.5
		return t.length > epsilon
	case Dogleg:
		t.radius = 0.5 * min(t.radius, max(size, 0.5*t.radius))
		return t.radius > limit && t.radius > 0
	}
	if s.opt.Damping == Classical {
		t.mu *= 4
	} else {
		t.mu *= t.nu
		t.nu *= 2
	}
	if !s.solvable {
		// The system broke down: below this μ no Cholesky can succeed.
		n, largest := s.n, 0.0
		for j := range n {
			largest = max(largest, s.a[j*n+j]/(s.d[j]*s.d[j]))
		}
		t.mu = max(t.mu, float64(n)*epsilon*largest)
		return !math.IsInf(t.mu, 1)
	}
	return size > limit && !math.IsInf(t.mu, 1)
}
