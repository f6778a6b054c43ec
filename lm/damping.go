package lm

import "math"

// Damping is the rule by which [LevenbergMarquardt] changes μ: [Nielsen],
// [Classical] or one of the caller's. It keeps no state, so that solvers can
// share it.
type Damping interface {
	// Start returns the first μ of a run; mu is InitialDamping·max_j A_jj/D_j².
	Start(mu float64) float64
	// Accept returns μ after an accepted trial; ratio is its actual over its
	// predicted reduction of the cost.
	Accept(mu, ratio float64) float64
	// Reject returns μ after the k-th rejected trial in a row, k = 1, 2, ...
	Reject(mu float64, k int) float64
	// AcceptFrom returns the ratio from which a trial is accepted.
	AcceptFrom() float64
	// String returns the name of the rule, in lower case.
	String() string
}

// Nielsen is the rule of Madsen, Nielsen and Tingleff (2004), eq. 2.21:
// μ·max(1/3, 1−(2ρ−1)³) after success, μ·ν and ν·2 after failure, ν = 2 at
// first. Trials are accepted from 1e-4, as in MINPACK.
type Nielsen struct{}

func (Nielsen) String() string           { return "nielsen" }
func (Nielsen) AcceptFrom() float64      { return acceptRatio }
func (Nielsen) Start(mu float64) float64 { return mu }

func (Nielsen) Accept(mu, ratio float64) float64 {
	u := 2*ratio - 1
	return mu * max(1./3, 1-u*u*u)
}

func (Nielsen) Reject(mu float64, k int) float64 { return mu * math.Ldexp(1, k) }

// Classical is the rule of Optimistix: 1/μ starts at 1 whatever the initial
// damping, grows 3.5 times when ρ >= 0.99 and shrinks to a quarter after a
// failure; a trial is accepted from ρ >= 0.01.
type Classical struct{}

func (Classical) String() string        { return "classical" }
func (Classical) AcceptFrom() float64   { return 0.01 }
func (Classical) Start(float64) float64 { return 1 }

func (Classical) Accept(mu, ratio float64) float64 {
	if ratio >= 0.99 {
		return mu / 3.5
	}
	return mu
}

func (Classical) Reject(mu float64, _ int) float64 { return 4 * mu }
