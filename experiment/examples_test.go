package experiment

import (
	"path/filepath"
	"strings"
	"testing"

	"pihc/model"
	"pihc/pde"
)

// Every example and every template of a problem is read, fits its grid and is
// complete: it has a reference, and an ansatz where one meets its conditions.
func TestExamples(t *testing.T) {
	specs, err := filepath.Glob("../examples/*/spec.yaml")
	if err != nil || len(specs) < 16 {
		t.Fatalf("%d examples, %v", len(specs), err)
	}
	templates, err := filepath.Glob("templates/*.yaml")
	if err != nil || len(templates) < 7 {
		t.Fatalf("%d templates, %v", len(templates), err)
	}
	check := func(p *pde.Problem, s *model.Spec) {
		t.Helper()
		if err := s.Fit(p); err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		if p.Reference.Solver == "" {
			t.Errorf("%s has no reference", p.Name)
		}
		_, misfit, err := model.Misfit(p)
		for c := range p.Unknowns {
			if _, met := p.ExactAnsatz(c, nil, nil); err != nil || len(met) > 0 && misfit <= compatibleMisfit {
				t.Errorf("%s lacks the ansatz that meets its conditions (%v)", p.Name, err)
			}
		}
		if x, err := examine(p); err != nil || len(x.Faults) > 0 {
			t.Errorf("%s: %+v, %v", p.Name, x, err)
		}
		g, err := p.Grid(s.Grid)
		if err != nil {
			t.Fatal(err)
		}
		if notes, fault, err := unresolved(p, g); err != nil || fault != nil || len(notes) > 0 {
			t.Errorf("%s: %v, %v, %v", p.Name, notes, fault, err)
		}
		net, err := s.NewNetwork(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := model.CheckNetwork(net, g); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if _, err := s.Options(p); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	for _, path := range specs {
		s, err := model.OpenSpec(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := pde.Open(filepath.Join(filepath.Dir(path), s.Problem))
		if err != nil {
			t.Fatal(err)
		}
		check(p, s)
	}
	for _, path := range templates {
		p, err := pde.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.TrimSuffix(filepath.Base(path), ".yaml"); p.Name != want {
			t.Errorf("template %s calls its problem %s", want, p.Name)
		}
		s, err := model.LoadSpec("spec.yaml", []byte("problem: problem.yaml\n"))
		if err != nil {
			t.Fatal(err)
		}
		check(p, s)
	}
}
