package report

import (
	"math"
	"math/rand/v2"

	"pihc/grid"
	"pihc/pde"
	"pihc/score"
)

// planePage is a comparison of three methods on fields over time and two periodic
// axes of space, made of synthetic numbers: waves that travel, predictions that lag
// behind, three evaluation grids.
func planePage() Page {
	rng := rand.New(rand.NewPCG(7, 9))
	const nt, n = 11, 24
	p := Page{Title: "Waves", Field: "w", Generated: "pihc, synthetic data"}
	p.Axes = []FieldAxis{{Name: "t", Unit: "s"}, {Name: "x", Unit: "m", Periodic: true}, {Name: "y", Unit: "m", Periodic: true}}
	for i := range nt {
		p.Axes[0].Values = append(p.Axes[0].Values, 0.5*float64(i))
	}
	for i := range n {
		p.Axes[1].Values = append(p.Axes[1].Values, float64(i)/n)
		p.Axes[2].Values = append(p.Axes[2].Values, float64(i)/n)
	}
	field := func(lag float64, experts int) []float64 {
		u := make([]float64, nt*n*n)
		for i := range u {
			t, x, y := 0.5*float64(i/(n*n))*(1-lag), float64(i/n%n)/n, float64(i%n)/n
			u[i] = math.Sin(2*math.Pi*(x+0.1*t))*math.Cos(2*math.Pi*(2*y-0.05*t)) + 0.4*math.Exp(0.2*t)*math.Cos(2*math.Pi*(3*x-y))/2
			if experts > 1 && x < 0.5 {
				u[i] += 0.1 * t * lag * 5
			}
		}
		return u
	}
	g := &grid.Grid{Axes: []grid.Axis{
		{Name: "t", Lo: 0, Hi: 5, Points: nt, Boundary: grid.Nodes},
		{Name: "x", Lo: 0, Hi: 1, Points: n, Boundary: grid.Periodic},
		{Name: "y", Lo: 0, Hi: 1, Points: n, Boundary: grid.Periodic},
	}}
	velocity := &pde.Problem{Terms: []pde.Term{{Name: "v", Spectral: &pde.Spectral{Kind: "velocity", Axis: "x"}}}}
	truth := field(0, 1)
	evaluation := func(method string, shape []int, scale float64, prediction []float64) score.Evaluation {
		e := score.Evaluation{Method: method, Problem: "waves", Grid: shape}
		for i := range 60 {
			s := score.NewSample(i)
			s.InitialMean = 0
			s.RelativeL2 = scale * math.Exp(0.3*rng.NormFloat64())
			s.Persistence = 0.8 * math.Exp(0.1*rng.NormFloat64())
			s.ResidualRMS = s.RelativeL2 / 10
			e.PerSample = append(e.PerSample, s)
		}
		e.Summarize()
		spectra := score.NewSpectrum(velocity, g)
		spectra.Add(prediction, truth)
		e.Spectra = spectra.Mean()
		return e
	}
	c := Case{Title: "test sample 4", Truth: truth}
	for i, method := range []string{"soft", "hard", "moe"} {
		u := field(0.3-0.1*float64(i), i)
		e := evaluation(method, []int{nt, n, n}, 0.3/float64(i+1), u)
		for _, k := range []int{4, 2} {
			other := evaluation(method, []int{nt, k * n, k * n}, 0.3/float64(i+1)*(1+0.1*float64(k)), u)
			other.Spectra = nil
			e.Grids = append(e.Grids, other)
		}
		e.TrainSeconds = 60
		p.Methods = append(p.Methods, Method{Key: method, Label: []string{"PI-SC", "PI-HC", "PI-HC-MoE"}[i], Evaluation: e})
		c.Predictions = append(c.Predictions, u)
	}
	p.Methods[2].Borders = [][]float64{{0, 5}, {0, 0.5, 1}, {0, 0.5, 1}}
	p.Cases = []Case{c}
	persistence, err := new(score.Samples).PersistenceBaseline(&p.Methods[0].Evaluation, nil, nil)
	if err != nil {
		panic(err)
	}
	p.Baselines = []Method{{Key: "persistence", Label: "persistence", Evaluation: *persistence}}
	return p
}
