package experiment

import (
	"encoding/json"
	"testing"

	"pihc/internal/disk"
	"pihc/train"
)

// run.json, on any bytes.
func FuzzRunInfo(f *testing.F) {
	f.Add([]byte(`{"version": 1, "data": "/a", "data_from_run": "../a", "dataset_hash": "ab", "pihc": "v"}`))
	f.Add([]byte(`{"version": 1, "data_bytes": "/w==", "data_from_run_bytes": "//8="}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var info runInfo
		if disk.DecodeJSON(text, &info) != nil {
			return
		}
		again, err := json.Marshal(info)
		if err != nil {
			t.Fatal(err)
		}
		var same runInfo
		if err := disk.DecodeJSON(again, &same); err != nil || string(same.DataBytes) != string(info.DataBytes) || same.Data != info.Data {
			t.Errorf("%+v became %+v, %v", info, same, err)
		}
	})
}

// The clock of older logs starts again with every process.
func TestTrainSeconds(t *testing.T) {
	var records []train.Record
	for _, s := range []float64{1, 2, 3, 0.5, 2.5, 0.25} {
		records = append(records, train.Record{Seconds: s})
	}
	if got := trainSeconds(records); got != 5.75 {
		t.Errorf("%g seconds, want 5.75", got)
	}
}
