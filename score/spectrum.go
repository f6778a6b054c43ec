package score

import (
	"math"
	"slices"

	"pihc/grid"
	"pihc/internal/fft"
	"pihc/pde"
)

// Spectra are isotropic spectra of fields over time and two periodic axes of
// space, means over samples, at a few times. Entry k of a list is the sum over the
// modes whose wavenumber, in periods across the longer side of the domain, rounds
// to k. With û the coefficients of u = Σ û exp(iκ·x), a mode counts
//
//	energy   |û|²/(2|κ|²), kinetic energy, where u is a vorticity; κ = 0 has none
//	power    |û|²/2 otherwise
//
// so that a list sums to half the mean square of the velocity, or of u.
type Spectra struct {
	Quantity string       `json:"quantity"` // energy | power
	At       []SpectrumAt `json:"at"`
	// Complete is the number of entries whose shells lie inside the spectrum; of
	// those after them only the corners do.
	Complete int `json:"complete"`
}

// A SpectrumAt holds the spectra at one time. Truth is empty where there is none.
type SpectrumAt struct {
	Time       float64   `json:"time"`
	Prediction []float64 `json:"prediction"`
	Truth      []float64 `json:"truth,omitempty"`
}

// A SpectrumSum adds up the spectra of fields on one grid.
type SpectrumSum struct {
	out           Spectra
	slices        []int // of the times
	count         int
	transform     *fft.Real
	re, im        []float64
	shell         []int
	weight        []float64
	shells, plane int
}

// NewSpectrum prepares the spectra of a problem's fields at the first, the middle
// and the last time; nil unless the grid has time and two periodic axes, and the problem one
// unknown.
func NewSpectrum(p *pde.Problem, g *grid.Grid) *SpectrumSum {
	if len(p.Unknowns) > 1 || len(g.Axes) != 3 || g.Axes[1].Boundary != grid.Periodic || g.Axes[2].Boundary != grid.Periodic {
		return nil
	}
	energy := slices.ContainsFunc(p.Terms, func(t pde.Term) bool { return t.Spectral != nil && t.Spectral.Kind == "velocity" })
	s := &SpectrumSum{out: Spectra{Quantity: "power"}}
	if energy {
		s.out.Quantity = "energy"
	}
	last := g.Axes[0].Points - 1
	for _, i := range []int{0, (last + 1) / 2, last} {
		if !slices.Contains(s.slices, i) {
			s.slices = append(s.slices, i)
			s.out.At = append(s.out.At, SpectrumAt{Time: g.Axes[0].Coordinate(i)})
		}
	}
	s.prepare(g.Axes[1], g.Axes[2], energy)
	return s
}

// prepare finds the shell and the weight of every stored coefficient.
func (s *SpectrumSum) prepare(x, y grid.Axis, energy bool) {
	n, m := x.Points, y.Points
	s.plane = n * m
	s.transform = fft.NewReal([]int{n, m}, 1)
	modes := s.transform.Modes()
	s.re, s.im = make([]float64, modes), make([]float64, modes)
	s.shell, s.weight = make([]int, modes), make([]float64, modes)
	lx, ly := x.Hi-x.Lo, y.Hi-y.Lo
	side := max(lx, ly)
	half := m/2 + 1
	for i := range modes {
		a, b := float64(fft.Frequency(i/half, n))*side/lx, float64(i%half)*side/ly
		k := math.Hypot(a, b)
		s.shell[i] = int(math.Round(k))
		s.shells = max(s.shells, s.shell[i]+1)
		w := 1.0
		if j := i % half; j > 0 && 2*j != m {
			w = 2 // for the conjugate, which is not stored
		}
		w /= 2 * float64(s.plane) * float64(s.plane)
		if energy {
			if k == 0 {
				w = 0
			} else {
				kappa := 2 * math.Pi * k / side
				w /= kappa * kappa
			}
		}
		s.weight[i] = w
	}
	s.out.Complete = min(s.shells, 1+int(min(float64(n/2)*side/lx, float64(m/2)*side/ly)))
}

// addPlane adds the spectrum of one field over space to dst.
func (s *SpectrumSum) addPlane(dst, u []float64) {
	s.transform.Forward(s.re, s.im, u)
	for i, k := range s.shell {
		dst[k] += s.weight[i] * (s.re[i]*s.re[i] + s.im[i]*s.im[i])
	}
}

// Add counts one sample; truth may be nil.
func (s *SpectrumSum) Add(prediction, truth []float64) {
	if s == nil {
		return
	}
	s.count++
	for i, at := range s.slices {
		a := &s.out.At[i]
		if a.Prediction == nil {
			a.Prediction = make([]float64, s.shells)
		}
		s.addPlane(a.Prediction, prediction[at*s.plane:(at+1)*s.plane])
		if truth == nil {
			continue
		}
		if a.Truth == nil {
			a.Truth = make([]float64, s.shells)
		}
		s.addPlane(a.Truth, truth[at*s.plane:(at+1)*s.plane])
	}
}

// Mean returns the means over the samples counted, nil without any. Values that
// are not finite, which JSON lacks, are left out with their list.
func (s *SpectrumSum) Mean() *Spectra {
	if s == nil || s.count == 0 {
		return nil
	}
	for i := range s.out.At {
		a := &s.out.At[i]
		for _, list := range []*[]float64{&a.Prediction, &a.Truth} {
			for k := range *list {
				(*list)[k] /= float64(s.count)
				if math.IsNaN((*list)[k]) || math.IsInf((*list)[k], 0) {
					*list = nil
					break
				}
			}
		}
	}
	return &s.out
}
