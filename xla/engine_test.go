package xla

import (
	"os"
	"strings"
	"testing"

	"pihc/internal/enginetest"
	"pihc/internal/pjrt"
	"pihc/model"
	"pihc/pde"
)

// The suite that every engine passes.
func TestEngine(t *testing.T) {
	client(t)
	c, plugin := Constructors(), os.Getenv("PIHC_PJRT")
	enginetest.Run(t, model.Constructors{
		Float32: func(s *model.Spec, p *pde.Problem, o model.EngineOptions) (model.Engine[float32], error) {
			o.Plugin = plugin
			return c.Float32(s, p, o)
		},
		Float64: func(s *model.Spec, p *pde.Problem, o model.EngineOptions) (model.Engine[float64], error) {
			o.Plugin = plugin
			return c.Float64(s, p, o)
		},
	}, enginetest.Factorised)
}

// Want of device memory is told with the estimate and the key to lower, anything else
// as it is.
func TestOutOfMemory(t *testing.T) {
	client(t)
	s, err := model.OpenSpec("navier-stokes-demo")
	if err != nil {
		t.Fatal(err)
	}
	p, err := pde.Open(s.Problem)
	if err != nil {
		t.Fatal(err)
	}
	made, err := Constructors().Float32(s, p, model.EngineOptions{Plugin: os.Getenv("PIHC_PJRT")})
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	e := made.(*engine[float32])
	full := e.explain("run a program", &pjrt.Error{Code: 8, Message: "RESOURCE_EXHAUSTED: 3 GiB\nand more"}).Error()
	for _, want := range []string{"engine xla on cpu: cannot run a program: out of device memory (about ", "iB are needed; most of it depends on ", "RESOURCE_EXHAUSTED: 3 GiB"} {
		if !strings.Contains(full, want) {
			t.Errorf("%q: want %q", full, want)
		}
	}
	other := e.explain("run a program", &pjrt.Error{Code: 13, Message: "INTERNAL: it broke"}).Error()
	if other != "engine xla on cpu: cannot run a program: INTERNAL: it broke" || strings.Contains(full, "\n") {
		t.Errorf("%q, %q", other, full)
	}
}
