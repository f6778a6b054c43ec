package main

import (
	"fmt"
	"strings"
	"testing"

	"pihc/internal/discrete"
)

// What discrete reports of solutions it cannot find has a hint wherever it comes up.
func TestHintOfSolutions(t *testing.T) {
	for err, want := range map[error]string{discrete.ErrNotConverged: "does a solution exist", discrete.ErrTooLarge: "fewer points"} {
		if got := hintOf(nil, fmt.Errorf("problem p: %w at t = 1", err)); !strings.Contains(got, want) {
			t.Errorf("%v: hint %q, want %q", err, got, want)
		}
	}
}
