package xla

import (
	"pihc/engine"
	"pihc/internal/pjrt"
	"pihc/model"
)

// history is the corrections that passes have made, in memory of the host.
type history struct {
	directions, spare [][]float64
	field, before     []float64
	spec              *model.Spec
}

// history is empty, or what a batch gives for its sample i.
func (e *device[T]) history(batch engine.Batch, i int) *history {
	n, size := e.Earlier.Options.Directions, e.FieldSize()
	if n == 0 {
		return &history{}
	}
	h := &history{spec: e.Spec, field: make([]float64, size), before: make([]float64, size)}
	for range n {
		h.spare = append(h.spare, make([]float64, size))
	}
	if batch.Previous == nil {
		e.System.Offset(h.before, batch.Initial[i])
	} else if batch.Directions != nil {
		given := batch.Directions[i]
		h.directions = given[:min(n, len(given))]
	}
	return h
}

// add takes the field that a pass has led to.
func (h *history) add(field *pjrt.Buffer) error {
	if h.spare == nil {
		return nil
	}
	if err := pjrt.Download(field, h.field); err != nil {
		return err
	}
	h.directions = engine.PushDirection(h.spec.Constraint.SoftWeight, h.spare, h.directions, h.field, h.before)
	copy(h.before, h.field)
	return nil
}
