package experiment

import (
	"fmt"
	"slices"
	"testing"

	"pihc/data"
)

// Samples that are drawn and those that are solved are counted apart.
func TestSplitStages(t *testing.T) {
	var got []string
	o := Options{Progress: func(p Progress) {
		if p.Done > 0 && !p.Ended {
			got = append(got, fmt.Sprintf("%s %d/%d", p.Stage, p.Done, p.Total))
		}
	}}
	s := splitStages{o: o, splits: []data.Split{{Count: 3}, {Count: 1, Solve: true}, {Count: 2, Solve: true}, {Count: 1}}}
	for done := range 8 {
		s.set(done)
	}
	s.end()
	want := []string{"draw 1/3", "draw 2/3", "draw 3/3", "solve 1/3", "solve 2/3", "solve 3/3", "draw 1/1"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
