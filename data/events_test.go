package data

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The bytes are those of tensorboard 2.21's RecordWriter with its protocol buffers.
func TestEventsAreTensorBoards(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	begin := time.Unix(1700000000, 250e6)
	e, err := createEvents(dir, begin)
	if err != nil {
		t.Fatal(err)
	}
	write := func(e *Events, step int, scalars ...Scalar) {
		t.Helper()
		if err := e.Write(time.Unix(1700000001+int64(step), 500e6), step, scalars); err != nil {
			t.Fatal(err)
		}
	}
	write(e, 1, Scalar{"loss", 0.5}, Scalar{"mean_squares/residual", 0.1})
	write(e, 300, Scalar{"loss", math.NaN()})
	write(e, 100000, Scalar{"seconds_per_step", 1e-3})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "events.out.tfevents.1700000000.pihc"))
	if err != nil {
		t.Fatal(err)
	}
	if want := golden(t, "tensorboard.events"); !bytes.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	// The next file comes after it, also within a second and where a clock went back.
	for _, want := range []string{"1700000001", "1700000002"} {
		e, err := createEvents(dir, begin.Add(-time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		e.Close()
		if _, err := os.Stat(filepath.Join(dir, "events.out.tfevents."+want+".pihc")); err != nil {
			t.Error(err)
		}
	}
	if _, err := CreateEvents(filepath.Join(dir, "events.out.tfevents.1700000000.pihc")); err == nil {
		t.Error("a file for a folder")
	}
}
