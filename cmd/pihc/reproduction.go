package main

import (
	"strings"

	"pihc/report"
	"pihc/score"
)

// reproduction is the JSON of reproduce.
type reproduction struct {
	Problem   string                       `json:"problem"`
	Scale     string                       `json:"scale,omitempty"` // of a built-in experiment
	Methods   map[string]*score.Evaluation `json:"methods"`
	OnePass   map[string]*score.Evaluation `json:"one_pass,omitempty"` // with --one-pass, by method
	Baselines map[string]*score.Evaluation `json:"baselines,omitempty"`
	Paired    []report.Difference          `json:"paired,omitempty"` // of the methods, by sample
	Cost      *report.Cost                 `json:"cost,omitempty"`   // against the classical solver
	Report    string                       `json:"report"`
	Seconds   float64                      `json:"total_seconds"`
}

func reproductionOf(page *report.Page, problem, scale, path string, seconds float64) reproduction {
	out := reproduction{
		Problem: problem, Scale: scale, Report: path, Seconds: seconds, Paired: page.Differences(), Cost: page.Cost,
		Methods: map[string]*score.Evaluation{}, OnePass: map[string]*score.Evaluation{}, Baselines: map[string]*score.Evaluation{},
	}
	for i := range page.Methods {
		m := &page.Methods[i]
		if method, one := strings.CutSuffix(m.Key, "_one_pass"); one {
			out.OnePass[method] = m.Evaluation.WithoutSamples()
		} else {
			out.Methods[m.Key] = m.Evaluation.WithoutSamples()
		}
	}
	for _, baseline := range page.Baselines {
		out.Baselines[baseline.Key] = baseline.Evaluation.WithoutSamples()
	}
	return out
}
