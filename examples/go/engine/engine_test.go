package plain

import (
	"testing"

	"pihc/engine/enginetest"
	"pihc/model"
	"pihc/pde"
)

// The suite of engines: what the engine runs is right, and the rest it refuses in words.
func TestEngine(t *testing.T) {
	enginetest.Run(t, Constructors, enginetest.Refusal{Words: "engine plain runs", Of: func(s *model.Spec, p *pde.Problem) bool { return Refused(s, p) != "" }})
}
