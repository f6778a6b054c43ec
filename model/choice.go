package model

import (
	"fmt"
	"math"

	"pihc/lm"
)

// choices is what a key stands for by each of the names it may have.
type choices[V any] []choice[V]

type choice[V any] struct {
	name  string
	value V
}

func (c choices[V]) names() []string {
	var names []string
	for _, x := range c {
		names = append(names, x.name)
	}
	return names
}

// get returns what a name stands for, which validate has let through.
func (c choices[V]) get(name string) (v V, err error) {
	for _, x := range c {
		if x.name == name {
			return x.value, nil
		}
	}
	return v, fmt.Errorf("%q: want one of %v", name, c.names())
}

// named makes choices of values that know their names.
func named[V fmt.Stringer](values ...V) choices[V] {
	var c choices[V]
	for _, v := range values {
		c = append(c, choice[V]{v.String(), v})
	}
	return c
}

var (
	dampings = named[lm.Damping](lm.Nielsen{}, lm.Classical{})
	scalings = named(lm.ScalingMore, lm.ScalingCurrent, lm.ScalingIdentity)
	adjoints = named(lm.AdjointExact, lm.AdjointGaussNewton, lm.AdjointPaper)

	// decays are learning rates by the fraction of the way.
	decays = choices[func(r LearningRate, progress float64) float64]{
		{"exponential", func(r LearningRate, progress float64) float64 {
			return r.Initial * math.Pow(r.Final/r.Initial, progress)
		}},
		{"cosine", func(r LearningRate, progress float64) float64 {
			return r.Final + (r.Initial-r.Final)*0.5*(1+math.Cos(math.Pi*progress))
		}},
		{"constant", func(r LearningRate, _ float64) float64 { return r.Initial }},
	}
)

// Rate returns the learning rate of a step in [0, Steps): from each restart on that of
// a run which begins there.
func (t *TrainingSpec) Rate(step int) float64 {
	from, end := 0, t.Steps
	for _, n := range t.Restarts {
		if step < n {
			end = n
			break
		}
		from = n
	}
	return t.LearningRate.At(step-from, end-from)
}

// Progress returns the fraction of the way at a step, for what changes during
// training: restarts do not begin it anew.
func (t *TrainingSpec) Progress(step int) float64 {
	steps := t.Steps
	if len(t.Restarts) > 0 {
		steps = t.Restarts[0]
	}
	return min(1, float64(step)/float64(steps))
}

// At returns the learning rate of a step in [0, steps):
//
//	exponential  initial·(final/initial)^(step/(steps-1)), or in equal stairs
//	cosine       from initial to final along half a cosine
//	constant     initial
//
// after Warmup steps in which it rises linearly to that value. It panics if Decay
// is none of these.
func (r LearningRate) At(step, steps int) float64 {
	progress := 0.0
	if steps > 1 {
		progress = float64(step) / float64(steps-1)
	}
	if r.Stairs > 1 {
		progress = float64(step*r.Stairs/steps) / float64(r.Stairs-1)
	}
	decay, err := decays.get(r.Decay)
	if err != nil {
		panic("model: LearningRate.At: no such decay")
	}
	rate := decay(r, progress)
	if step < r.Warmup {
		rate *= float64(step+1) / float64(r.Warmup)
	}
	return rate
}
