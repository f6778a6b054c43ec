package main

import "testing"

// What a study changes at demo size comes before what a user sets.
func TestStudyAtDemoSize(t *testing.T) {
	for _, x := range []struct{ problem, scale, first string }{
		{"navier-stokes", "demo", "training.steps=400"},
		{"navier-stokes", "small", "training.steps=7"},
		{"diffusion-sorption", "demo", "training.steps=400"},
		{"diffusion-sorption", "small", "training.steps=7"},
	} {
		o := reproduceOptions{problem: x.problem, scale: x.scale, set: []string{"training.steps=7"}}
		if _, base, err := o.study("experts"); err != nil || base != x.problem {
			t.Fatalf("%s: %v", base, err)
		}
		if o.set[0] != x.first || o.set[len(o.set)-1] != "training.steps=7" {
			t.Errorf("%s, %s: %v", x.problem, x.scale, o.set)
		}
	}
}
