package model

import "math"

// Ramp is a value that changes during training: Start up to the fraction From
// of the steps, End after the fraction To, geometric in between, or linear where
// one of them is zero. Evaluation uses End.
type Ramp struct {
	Start float64 `yaml:"start"`
	End   float64 `yaml:"end"`
	From  float64 `yaml:"from"`
	To    float64 `yaml:"to"`
}

// At returns the value at a fraction of training.
func (r Ramp) At(progress float64) float64 {
	switch {
	case progress >= r.To || r.Start == r.End:
		return r.End
	case progress <= r.From:
		return r.Start
	}
	f := (progress - r.From) / (r.To - r.From)
	if r.Start == 0 || r.End == 0 {
		return r.Start + f*(r.End-r.Start)
	}
	return r.Start * math.Pow(r.End/r.Start, f)
}

// LearningRate is exponential decay from Initial to Final over the steps,
// smooth or in Stairs equal stairs, after Warmup linear steps.
type LearningRate struct {
	Initial float64 `yaml:"initial" want:"a positive number"`
	Final   float64 `yaml:"final" want:"a positive number"`
	Decay   string  `yaml:"decay" want:"exponential, cosine, constant"`
	Stairs  int     `yaml:"stairs" want:"at least 0"`
	Warmup  int     `yaml:"warmup" want:"at least 0"`
}

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

// ClipFactor is what a gradient of this norm is multiplied by.
func (t *TrainingSpec) ClipFactor(norm float64) float64 {
	if t.Clip > 0 && norm > t.Clip {
		return t.Clip / norm
	}
	return 1
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
	var rate float64
	switch r.Decay {
	case "exponential":
		rate = r.Initial * math.Pow(r.Final/r.Initial, progress)
	case "cosine":
		rate = r.Final + (r.Initial-r.Final)*0.5*(1+math.Cos(math.Pi*progress))
	case "constant":
		rate = r.Initial
	default:
		panic("model: LearningRate.At: no such decay")
	}
	if step < r.Warmup {
		rate *= float64(step+1) / float64(r.Warmup)
	}
	return rate
}
