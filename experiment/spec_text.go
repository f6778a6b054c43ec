package experiment

import (
	"fmt"
	"strings"

	"pihc/internal/words"
	"pihc/pde"
)

// spec is the text of the spec.
func (s *sizes) spec(p *pde.Problem) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# An experiment on problem.yaml, by pihc init. What is left out fits the problem")
	line("# (docs/reference/spec-files.md): experts, weights of the rows, what the network sees. A run")
	line("# folder's spec.yaml has it written out.")
	line("defaults: fitted")
	line("problem: problem.yaml")
	var points []string
	for _, axis := range p.Axes {
		n := axis.Points
		if s.given != nil {
			n = s.given.points[axis.Name]
		}
		points = append(points, fmt.Sprintf("%s: %d", axis.Name, n))
	}
	about, train, use := "more are nearer to the equation, and slower.", 4000, "Initial conditions to train with, never solved, and samples that are solved."
	if s.given != nil {
		about, train, use = "those of the file of solutions.", s.given.train, s.given.use
	}
	line("\n# Points along each axis: %s", about)
	line("grid: {%s}", strings.Join(points, ", "))
	if s.segments > 1 {
		line("\n# Segments of the time, each begun with the end of the one before (docs/reference/spec-files.md).")
		line("rollout: %d", s.segments)
	}
	line("\n# A wider network can do more, and a step takes longer.")
	scales := ""
	if s.scales != "" {
		line("# What is drawn does not say how large some unknowns become: their sizes in solutions.")
		scales = ", " + s.scales
	}
	line("network: {width: %d, layers: %d%s}", s.width, s.layers, scales)
	line("")
	if s.step > 0 {
		line("# About %.2g s a step on %s here.", s.step, words.Threads(s.workers))
	}
	every := s.every()
	line("training: {steps: %d, batch: %d, validate: %d, checkpoint: %d}", s.steps, s.batch, every, every)
	if s.newton {
		line("\n# Predictions take steps of Newton's method beside the network's own functions.")
		if s.converges {
			line("# They converge before anything is learnt: training adds little.")
		}
		line("evaluation: {newton: true}")
	}
	line("\n# %s", use)
	line("data:")
	line("  train: {count: %d, seed: 1}", train)
	line("  validation: {count: %d, seed: 2}", s.validation())
	line("  test: {count: %d, seed: 3}", s.tests)
	return []byte(b.String())
}
