package main

import (
	"bytes"
	"testing"
	"time"
)

// A plain line projects the time left from the pace since the meter was first set,
// which after a resumption is not the beginning.
func TestMeterProjects(t *testing.T) {
	var out bytes.Buffer
	m := (&app{console: &console{out: &out}}).newMeter("PI-SC", 100)
	m.set(40, "")
	m.line()
	m.begun = m.begun.Add(-time.Minute)
	m.set(60, "loss 1")
	m.line()
	m.line() // the same again says nothing
	m.set(100, "loss 0.5")
	m.line()
	want := "PI-SC: 40/100\nPI-SC: 60/100: loss 1 (2 min 00 s left)\nPI-SC: 100/100: loss 0.5\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
