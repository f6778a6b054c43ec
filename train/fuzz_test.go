package train

import (
	"encoding/json"
	"testing"
)

// The JSON of a checkpoint, on any bytes: it is refused, or it reads the same when
// written again, and the tensors it names are in its own folder.
func FuzzMeta(f *testing.F) {
	m := Meta{Version: 1, Step: 3, Precision: "float32", counts: counts{BestResidual: 0.5}, Tensors: "step-00000003.safetensors", TensorsHash: "ab", Borders: [][]float64{{0, 1}, {0, 0.5, 1}}}
	m.Checksum, _ = m.sum()
	text, err := json.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, false)
	f.Add(text, true)
	f.Add([]byte(`{"version": 1, "best_residual": "+Inf", "tensors": "../a.safetensors"}`), true)
	f.Fuzz(func(t *testing.T, text []byte, sign bool) {
		if sign {
			// With a valid checksum, so that what follows it is reached.
			var m Meta
			if json.Unmarshal(text, &m) != nil {
				return
			}
			var err error
			if m.Checksum, err = m.sum(); err != nil {
				t.Fatal(err)
			}
			text, _ = json.Marshal(m)
		}
		m, err := decodeMeta("a.json", text)
		if err != nil {
			return
		}
		for _, r := range m.Tensors {
			if r == '/' {
				t.Errorf("tensors %q", m.Tensors)
			}
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		n, err := decodeMeta("a.json", again)
		if err != nil || n.Checksum != m.Checksum {
			t.Errorf("read again: %v", err)
		}
	})
}
