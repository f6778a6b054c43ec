package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pihc/model"
	"pihc/pde"
)

// renamed loads the built-in problem's file, with pairs of texts replaced,
// under another file name.
func renamed(t testing.TB, name string, pairs ...string) *pde.Problem {
	t.Helper()
	p, err := pde.Open("diffusion-sorption")
	if err != nil {
		t.Fatal(err)
	}
	src := string(p.Source)
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(src, pairs[i]) {
			t.Fatalf("the built-in file has no %q", pairs[i])
		}
	}
	src = strings.NewReplacer(pairs...).Replace(src)
	if name == "" {
		name = p.Name
	}
	src = strings.Replace(src, "\nname: diffusion-sorption\n", "\nname: "+name+"\n", 1)
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte(src), 0o666); err != nil {
		t.Fatal(err)
	}
	if p, err = pde.Open(path); err != nil {
		t.Fatal(err)
	}
	return p
}

// A copy of the built-in PDE file under a new name, with constants of new names,
// trains to the same bits: nothing in the code knows the built-in problem.
// Another value of a constant does not.
func TestProblemIsData(t *testing.T) {
	last := filepath.Join("checkpoints", stepName(12)+".safetensors")
	params := func(p *pde.Problem, method string) string {
		e := newExperiment(t, "method="+method)
		if p != nil {
			e.problem, e.set = p, generate(t, e.spec, p)
		}
		dir, _ := e.train(t, Options{})
		return files(t, dir)[last]
	}
	mine := renamed(t, "my-sorption", "D: 5e-4", "diffusivity: 5e-4", "D/R*", "diffusivity/retardation*", "D*right", "diffusivity*right", "D: D", "D: diffusivity",
		"left_ghost", "outside", "R: 1", "retardation: 1")
	if mine.Name != "my-sorption" {
		t.Fatalf("the copy is called %s", mine.Name)
	}
	for _, method := range []string{model.Soft, model.MoE} {
		want := params(nil, method)
		if got := params(mine, method); got != want || want == "" {
			t.Errorf("%s: the renamed copy trains differently", method)
		}
		if got := params(renamed(t, "", "D: 5e-4", "D: 6e-4"), method); got == want {
			t.Errorf("%s: another constant trains the same", method)
		}
	}
}

// Viscous Burgers, a problem that is a file of the tests alone and has no
// classical solver: all methods train, and the loss falls.
func TestBurgersByFile(t *testing.T) {
	for _, method := range model.Methods {
		e := newExperiment(t, "method="+method, "problem=../pde/testdata/burgers.yaml", "grid.t=7", "network.initial_scale=1",
			"training.steps=150", "training.batch=3", "training.average=0", "training.validate=150", "constraint.experts={x: 2}", "data.train.count=3")
		dir, s := e.train(t, Options{})
		log := records(t, dir)
		first, last := float64(*log[0].Loss), 0.0
		for _, r := range log {
			if r.Loss != nil {
				last = float64(*r.Loss)
			}
			if r.ValidationError != nil {
				t.Errorf("%s: an error against solutions that do not exist", method)
			}
		}
		t.Logf("%s: loss %.3g to %.3g, best step %d", method, first, last, s.BestStep)
		if !(last < 0.7*first) {
			t.Errorf("%s: loss %.3g at first, %.3g at last", method, first, last)
		}
		if s.Skipped != 0 {
			t.Errorf("%s: %d steps skipped", method, s.Skipped)
		}
	}
}
