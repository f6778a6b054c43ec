package xla

import (
	"os"
	"testing"

	"pihc/internal/enginetest"
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
	}, "fno")
}
