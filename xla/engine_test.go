package xla

import (
	"os"
	"strings"
	"testing"

	"pihc/constraint"
	"pihc/engine"
	"pihc/engine/enginetest"
	"pihc/internal/check"
	"pihc/internal/pjrt"
	"pihc/model"
	"pihc/pde"
)

// The suite that every engine passes. Programs of a case are freed after it: a process can map only so much code.
func TestEngine(t *testing.T) {
	client(t)
	c, plugin, last := Constructors(), os.Getenv("PIHC_PJRT"), (*byte)(nil)
	begin := func(p *pde.Problem, o engine.Options) engine.Options {
		file := &p.Source[0] // which segments share with their problem
		if file != last {
			compiled.Range(func(key, program any) bool {
				program.(*pjrt.Program).Free()
				compiled.Delete(key)
				return true
			})
		}
		last, o.Plugin = file, plugin
		return o
	}
	enginetest.Run(t, engine.Constructors{
		Float32: func(s *model.Spec, p *pde.Problem, o engine.Options) (engine.Engine[float32], error) {
			return c.Float32(s, p, begin(p, o))
		},
		Float64: func(s *model.Spec, p *pde.Problem, o engine.Options) (engine.Engine[float64], error) {
			return c.Float64(s, p, begin(p, o))
		},
	}, enginetest.Factorised, enginetest.Stepped)
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
	made, err := Constructors().Float32(s, p, engine.Options{Plugin: os.Getenv("PIHC_PJRT")})
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	e := made.(*device[float32])
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

// Relative losses, and first passes, are of what fields begin with, as those of engine cpu.
func TestStart(t *testing.T) {
	client(t)
	p, err := pde.Load("scaled.yaml", []byte(`name: scaled
unknown: u
axes:
  t: {range: [0, 0.1], points: 5, boundary: nodes}
  x: {range: [0, 1], points: 8, boundary: periodic}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2}}
residual: {expression: u_t - 0.1*u_xx}
conditions: {initial: {at: {t: low}, expression: u - 2*u0*cos(x)}}
initial: {distribution: random-sines, low: -0.5, high: 0.5}
`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := model.LoadSpec("spec.yaml", []byte(`defaults: paper
problem: scaled.yaml
method: soft
loss: {relative: true}
network: {width: 2, layers: 1, modes: {t: 2, x: 2}, projection: 2, basis: 1, precision: float64, features: {u: 1, residual: 1}}
`))
	if err != nil {
		t.Fatal(err)
	}
	var losses []float64
	cpu := func(s *model.Spec, p *pde.Problem, _ engine.Options) (engine.Engine[float64], error) {
		return engine.New[float64](s, p, engine.Options{})
	}
	for _, c := range []engine.Constructors{Constructors(), {Float64: cpu}} {
		e, err := c.Float64(s, p, engine.Options{Plugin: os.Getenv("PIHC_PJRT")})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		params := engine.InitialParams[float64](e.Info())
		stats, err := e.LossAndGrad(make([]float64, len(params)), params, engine.Batch{Inputs: [][]float64{{1, 2, 3, 4, 3, 2, 1, 0}}, Seeds: make([]constraint.Seed, 1)})
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, stats.Loss)
	}
	check.Close(t, losses[:1], losses[1:], 1e-12, 0)
}
