package report

import (
	"fmt"
	"math"
	"math/rand/v2"

	"pihc/score"
)

// samplePage is a comparison made of synthetic numbers: fields that look like
// diffusion from a wall, three methods of decreasing error, two baselines.
func samplePage() Page {
	rng := rand.New(rand.NewPCG(3, 5))
	const nt, nx = 101, 128
	t, x := make([]float64, nt), make([]float64, nx)
	for i := range t {
		t[i] = 5 * float64(i)
	}
	for j := range x {
		x[j] = (float64(j) + 0.5) / nx
	}
	field := func(u0, error float64, experts int) []float64 {
		u := make([]float64, nt*nx)
		for i := range t {
			for j := range x {
				v := u0 + (1-u0)*math.Erfc(x[j]/(0.02+0.9*math.Sqrt(t[i]/500)))
				bump := math.Sin(7*x[j]+2*t[i]/500) * math.Exp(-t[i]/400)
				if experts > 1 {
					bump += 0.8 * float64(int(x[j]*float64(experts))%2)
				}
				u[i*nx+j] = v + error*bump
			}
		}
		return u
	}
	evaluation := func(method string, scale, spread float64, experts int) score.Evaluation {
		e := score.Evaluation{Method: method, Problem: "diffusion-sorption", Grid: []int{nt, nx}, Seconds: 2.5, TrainSeconds: 64.2, Parameters: 1_214_096}
		for i := range 200 {
			s := score.NewSample(i)
			s.InitialMean = 0.2 * rng.Float64()
			s.RelativeL2 = scale * math.Exp(spread*rng.NormFloat64()) * (1.2 - 2*s.InitialMean)
			s.NRMSE, s.Persistence = s.RelativeL2/2, 0.9-s.InitialMean
			s.RelativeResidual, s.TruthResidual, s.PersistenceResidual, s.Passes, s.Points = 2*s.RelativeL2, 0.01, 1.5, 6, 6144
			s.ErrorEstimate = 0.9 * s.RelativeL2
			s.ResidualRMS, s.ResidualOverRate, s.ConditionsOverSize, s.TruthConditions = s.RelativeL2*1e-3, 2*s.RelativeL2, s.RelativeL2/5, 0
			s.InitialError, s.BoundaryError = s.RelativeL2/7, s.RelativeL2/11
			if experts > 1 {
				s.BorderJump = s.RelativeL2 / 30
			}
			e.PerSample = append(e.PerSample, s)
		}
		for k := range experts {
			e.Experts = append(e.Experts, score.Expert{
				Iterations:    score.Summary{Mean: 9 + 2*float64(k), Std: 1.5, Median: 9, Max: 17 + float64(k)},
				Statuses:      map[string]int{"converged": 198 - k, "stalled": 2 + k},
				ConstraintRMS: score.Summary{Mean: 1e-4, Std: 3e-5, Median: 1e-4, Max: 4e-4},
			})
		}
		e.ErrorOverTime = &score.ErrorOverTime{Times: t, RelativeL2: []float64{1e-8}} // rounding at first
		for i := range t[1:] {
			e.ErrorOverTime.RelativeL2 = append(e.ErrorOverTime.RelativeL2, scale*math.Sqrt(0.05+float64(i)/nt))
		}
		e.Summarize()
		e.Verdict = score.Trusted
		return e
	}
	curves := func(floor float64) []Series {
		loss := Series{Name: "Training loss", Raw: true}
		residual, valid := Series{Name: "Validation residual"}, Series{Name: "Validation error", Unit: "%"}
		for step := 1.0; step <= 1300; step++ {
			v := floor*floor + math.Exp(-step/120)
			loss.Steps = append(loss.Steps, step)
			loss.Values = append(loss.Values, v*math.Exp(0.5*rng.NormFloat64()))
			if int(step)%50 == 0 {
				residual.Steps, valid.Steps = append(residual.Steps, step), append(valid.Steps, step)
				residual.Values = append(residual.Values, math.Sqrt(v)*0.02)
				valid.Values = append(valid.Values, 100*math.Sqrt(v))
			}
		}
		return []Series{loss, residual, valid}
	}
	p := Page{
		Title:    "Diffusion-sorption: three ways to keep to the physics",
		Subtitle: "Scaling physics-informed hard constraints with mixture-of-experts, at demo scale",
		Summary: []string{
			"A neural operator maps an initial concentration to the whole space-time solution. It is trained on initial conditions and the equation alone; the classical solution serves only to score it. " +
				"PI-SC penalises the residual, PI-HC solves one least-squares problem over the domain, and PI-HC-MoE solves one per subdomain.",
		},
		Equations: []string{"R(u) u_t = D u_xx", "R(u) = 1 + (1 − φ)/φ · ρ_s k n_f u^(n_f − 1)", "u(t, 0) = 1,   u(t, 1) = D u_x(t, 1),   u(0, x) = u₀"},
		Methods: []Method{
			{Key: "soft", Label: "PI-SC", Note: "penalty in the loss", Evaluation: evaluation("soft", 0.2, 0.3, 0), Published: &Score{0.8593, 0.0507}, Curves: curves(0.2)},
			{Key: "hard", Label: "PI-HC", Note: "1 expert × 80 000 points", Evaluation: evaluation("hard", 0.055, 0.35, 1), Published: &Score{0.0755, 0.0810}, Curves: curves(0.055)},
			{
				Key: "moe", Label: "PI-HC-MoE", Note: "4 experts × 20 000 points", Evaluation: evaluation("moe", 0.028, 0.4, 4), Published: &Score{0.0360, 0.0293}, Curves: curves(0.028),
				Borders: [][]float64{{0, 500}, {0, 0.25, 0.5, 0.75, 1}},
			},
		},
		Baselines: []Method{
			{Label: "mean of the solutions", Evaluation: evaluation("mean", 0.09, 0.4, 0)},
			{Label: "interpolation in u₀", Evaluation: evaluation("linear", 0.0011, 0.5, 0)},
		},
		Caveats:   []string{"One seed."},
		Constants: []Fact{{"φ", "0.29"}, {"ρ_s", "2880"}, {"k", "3.5e-4"}},
		Levels:    []Level{{"discretisation floor", 0.002}}, ErrorCurve: "Validation error",
		Cost: &Cost{
			Machine: "2 cores, AVX-512", Workers: 2, Batch: 16, Samples: 32,
			Methods: []MethodCost{
				{Method: "soft", Label: "PI-SC", Error: 0.2065, Seconds: 0.00812, PerSecond: 151.2, Train: 64},
				{Method: "hard", Label: "PI-HC", Error: 0.062, Seconds: 0.012, PerSecond: 2500, Train: 64},
				{Method: "moe", Label: "PI-HC-MoE", Error: 0.0008, Seconds: 0.014, PerSecond: 74, Train: 64},
			},
			Classical: []ClassicalRun{{[]int{101, 8}, 0.15, 7e-5, 12345.6}, {[]int{101, 16}, 0.0489, 6.789e-4, 1999}},
			Uses:      Uses{List: []Use{{"fit of phi, D", 2, 30, 8}, {"field inversion, u0", 16, 110, 5}}},
		},
		Published: "Chalapathi, Du and Krishnapriyan, ICLR 2024, table 1",
		Field:     "concentration u",
		Axes:      []FieldAxis{{Name: "t", Unit: "days", Values: t}, {Name: "x", Unit: "m", Values: x}},
		Facts:     []Fact{{"Grid", "101 × 128 (t × x)"}, {"Training set", "8 000 initial conditions, no solutions"}, {"Test set", "200 samples"}, {"Machine", "2 cores, AVX-512"}, {"Seed", "1"}},
		Notes:     []string{"Checkpoints are chosen by validation residual, never by an error against solutions."},
		Specs:     []Spec{{"PI-HC-MoE", "problem: diffusion-sorption\ngrid: {t: 101, x: 128}\nnetwork:\n  width: 64\n  modes: [8, 8]\n  note: <script>alert(\"&\")</script>\n"}},
		Generated: "pihc, synthetic data",
	}
	p.Cost.Match()
	for i := range p.Baselines {
		p.Baselines[i].Evaluation.TrainSeconds = 0
	}
	for i, u0 := range []float64{0.02, 0.11, 0.19} {
		p.Cases = append(p.Cases, Case{
			Title: fmt.Sprintf("u₀ = %.2f", u0), Truth: field(u0, 0, 1),
			Predictions: [][]float64{field(u0, 0.11-0.02*float64(i), 1), field(u0, 0.04, 1), field(u0, 0.02, 4)},
		})
	}
	return p
}
