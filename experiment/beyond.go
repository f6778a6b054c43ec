package experiment

import (
	"fmt"
	"slices"

	"pihc/grid"
	"pihc/internal/dataset"
	"pihc/pde"
)

// beyond looks at what segments after the problem's time begin with.
type beyond struct {
	problem *pde.Problem
	like    *dataset.Range // of what training draws, and what segments up to the problem's end begin with; nil: not known
	timed   bool           // rows contain the time
	trained int            // segments of training
	steps   int            // of a segment
	slice   int            // points of space
	end     float64        // of the problem's time
	samples int            // of those that begin otherwise
	first   string         // one of them
}

// newBeyond returns nil where a prediction has no such segments.
func (r *Run) newBeyond(g *grid.Grid) (*beyond, error) {
	b := &beyond{problem: r.Problem, trained: r.Spec.Segments(), end: r.Problem.Axes[0].Hi}
	axis := g.Axes[0]
	if b.trained == 1 || axis.Hi <= b.end {
		return nil, nil
	}
	b.steps, b.slice = int((b.end-axis.Lo)/axis.Step()+0.5)/b.trained, g.Size()/axis.Points
	_, q, err := r.Spec.Segment(r.Problem)
	if err != nil {
		return nil, err
	}
	b.timed = slices.Contains(q.InputNames(), pde.SegmentBegin)
	b.like, err = dataset.NewRange(r.Problem, g)
	return b, err
}

// add looks at the prediction (C, P) of sample i.
func (b *beyond) add(i int, field, inputs []float64) {
	if b == nil || b.like == nil {
		return
	}
	start := slices.Clone(inputs)
	all := b.problem.Unknowns
	size := len(field) / len(all)
	n := b.slice
	if b.problem.Initials() == 0 {
		return
	}
	for k := range (size/n - 1) / b.steps {
		for c, u := range all {
			if u.Initial >= 0 {
				copy(start[u.Initial*n:(u.Initial+1)*n], field[c*size+k*b.steps*n:])
			}
		}
		if k < b.trained {
			b.like.Add(start)
		} else if what := b.like.Outside(start); what != "" {
			b.samples++
			if b.first == "" {
				b.first = fmt.Sprintf("sample %d at the beginning of segment %d has %s", i, k+1, what)
			}
			return
		}
	}
}

// warnings are those of so many samples.
func (b *beyond) warnings(samples int) (out []string) {
	if b == nil {
		return nil
	}
	time := b.problem.Axes[0].Name
	if b.timed {
		out = append(out, fmt.Sprintf("the equation, or a condition, contains %s, and training ended at %g: what it is later the network has not seen", time, b.end))
	}
	if b.samples > 0 {
		out = append(out, fmt.Sprintf("%d of %d samples go on beyond %s = %g, where training ended, from fields unlike those of training, and their predictions may be far off; %s", b.samples, samples, time, b.end, b.first))
	}
	return out
}
