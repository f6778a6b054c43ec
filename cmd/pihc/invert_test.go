package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// endsAt is a standard error that interrupts once a text is written to it.
type endsAt struct {
	text      string
	interrupt func()
	bytes.Buffer
}

func (w *endsAt) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.text) {
		w.interrupt()
	}
	return w.Buffer.Write(b)
}

// TestInvertFieldInterrupted ends the search of a field after its first grid, which is then printed without a band.
func TestInvertFieldInterrupted(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	problem := file("heat.yaml", `
name: heat
unknown: u
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 16, boundary: periodic}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2, order: 4}}
residual: {expression: u_t - 0.01*u_xx}
conditions: {start: {kind: initial, at: {t: low}, expression: u - u0}}
initial: {distribution: random-series, series: periodic, parameters: {modes: 2, decay: 1}}
`)
	// exp(-0.01 (2π)² t) sin(2π x)
	observations := file("obs.csv", "t,x,value,sigma\n0.5,0.25,0.8209,1e-3\n0.5,0.75,-0.8209,1e-3\n0.5,0.5,0,1e-3\n0.5,0,0,1e-3\n")
	for _, form := range []string{"", "--json"} {
		ctx, cancel := context.WithCancel(context.Background())
		signals := &interruption{Context: ctx}
		signals.status.Store(130)
		var out bytes.Buffer
		errs := &endsAt{text: "chi-squared", interrupt: cancel}
		folder := filepath.Join(dir, "fit")
		args := []string{"invert", problem, "--observe", observations, "--free", "u0", "--model-error", "0.01", "--out", folder}
		if form != "" {
			args = append(args, form)
		}
		_, status := run(signals, args, streams{Out: &out, Err: errs})
		cancel()
		if status != 130 || !strings.HasSuffix(errs.String(), "pihc: invert: interrupted\n") {
			t.Errorf("status %d, standard error %q", status, errs.String())
		}
		if _, err := os.Stat(folder); !os.IsNotExist(err) {
			t.Errorf("the folder of an interrupted fit: %v", err)
		}
		if form == "" {
			if text := out.String(); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "interrupted, not converged: ") {
				t.Errorf("standard output %q", text)
			}
			continue
		}
		var got struct {
			Converged *bool
			Field     struct{ X, Value, Low []float64 }
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Converged == nil || *got.Converged || got.Field.Low != nil || len(got.Field.Value) != 16 {
			t.Fatalf("%v in %s", err, out.String())
		}
		if v := got.Field.Value[4]; !(v > 0.9 && v < 1.1) {
			t.Errorf("%g at x = %g, where the field is 1", v, got.Field.X[4])
		}
	}
}

// TestInvertInterrupted ends a fit after its first grid: the numbers of the last step are printed, without intervals, no folder is
// written, and the status is that of an interrupt.
func TestInvertInterrupted(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	problem := file("heat.yaml", `
name: heat
unknown: u
axes:
  t: {range: [0, 1], points: 9, boundary: nodes}
  x: {range: [0, 1], points: 17, boundary: nodes}
constants: {a: 0.05}
terms: {u_t: {axis: t, derivative: 1}, u_xx: {axis: x, derivative: 2, order: 4, closure: one-sided}}
residual: {expression: u_t - a*u_xx, rows: {t: [1, 0], x: [1, 1]}}
conditions:
  start: {kind: initial, at: {t: low}, expression: u - sin(3.141592653589793*x)}
  left: {at: {x: low}, rows: {t: [1, 0]}, expression: u}
  right: {at: {x: high}, rows: {t: [1, 0]}, expression: u}
`)
	// exp(-a π² t) sin(π x) of a = 0.1, to seven digits
	observations := file("obs.csv", "t,x,value,sigma\n0.5,0.5,0.6104985,1e-7\n1,0.5,0.3727084,1e-7\n")
	for _, form := range []string{"", "--json"} {
		ctx, cancel := context.WithCancel(context.Background())
		signals := &interruption{Context: ctx}
		signals.status.Store(130)
		var out bytes.Buffer
		errs := &endsAt{text: "chi-squared", interrupt: cancel}
		folder := filepath.Join(dir, "fit")
		args := []string{"invert", problem, "--observe", observations, "--free", "a", "--out", folder}
		if form != "" {
			args = append(args, form)
		}
		_, status := run(signals, args, streams{Out: &out, Err: errs})
		cancel()
		if status != 130 || !strings.HasSuffix(errs.String(), "pihc: invert: interrupted\n") {
			t.Errorf("status %d, standard error %q", status, errs.String())
		}
		if _, err := os.Stat(folder); !os.IsNotExist(err) {
			t.Errorf("the folder of an interrupted fit: %v", err)
		}
		if form == "" {
			if lines := strings.Split(out.String(), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "interrupted, not converged: ") || !strings.HasPrefix(lines[1], "a  0.1") || !strings.HasSuffix(lines[1], "not converged") {
				t.Errorf("standard output %q", out.String())
			}
			continue
		}
		var got struct {
			Converged *bool
			Estimates map[string]struct {
				Value     float64
				Low, High *float64
			}
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Converged == nil || *got.Converged {
			t.Fatalf("%v in %s", err, out.String())
		}
		if a := got.Estimates["a"]; !(a.Value > 0.09 && a.Value < 0.11) || a.Low != nil || a.High != nil {
			t.Errorf("estimates %+v", got.Estimates)
		}
	}
}
