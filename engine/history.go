package engine

import "pihc/model"

// A History is the field that the passes of a sample have led to, and the corrections that led to it.
type History struct {
	Field []float64 // (C, P)
	// Directions are the last corrections (C, P), over the unit of weights, the newest first: as many
	// as there have been, and as solves of the spec have room for.
	Directions [][]float64

	memory [][]float64 // of Directions
	unit   float64
}

// NewHistory makes the memory of a history: a field of zeros, and no corrections.
func (i *Info) NewHistory() History { return newHistory(i.Spec, i.FieldSize()) }

func newHistory(s *model.Spec, size int) History {
	h := History{Field: make([]float64, size), memory: make([][]float64, s.Directions()), unit: s.Constraint.SoftWeight}
	for i := range h.memory {
		h.memory[i] = make([]float64, size)
	}
	return h
}

// Add takes the field of a further pass.
func (h *History) Add(field []float64) {
	if len(h.memory) > 0 {
		h.Directions = h.memory[:min(len(h.Directions)+1, len(h.memory))]
		last := len(h.Directions) - 1
		newest := h.Directions[last]
		copy(h.Directions[1:], h.Directions[:last])
		h.Directions[0] = newest
		for p, v := range field {
			newest[p] = (v - h.Field[p]) / h.unit
		}
	}
	copy(h.Field, field)
}
