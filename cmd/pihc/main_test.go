package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"syscall"
	"testing"

	"pihc/grid"
	"pihc/model"
	"pihc/train"
)

// Linear functions are resampled exactly, inside and past the outermost points;
// periodic axes wrap.
func TestResample(t *testing.T) {
	for _, tc := range []struct {
		from, to grid.Boundary
	}{{grid.Cells, grid.Cells}, {grid.Nodes, grid.Nodes}, {grid.Nodes, grid.Cells}} {
		axis := func(b grid.Boundary, n int) grid.Axis {
			return grid.Axis{Name: "x", Lo: -1, Hi: 2, Points: n, Boundary: b}
		}
		from := []grid.Axis{axis(tc.from, 7), {Name: "y", Lo: 0, Hi: 1, Points: 5, Boundary: grid.Nodes}}
		to := []grid.Axis{axis(tc.to, 16), {Name: "y", Lo: 0, Hi: 1, Points: 9, Boundary: grid.Nodes}}
		fill := func(axes []grid.Axis) []float64 {
			var u []float64
			for i := range axes[0].Points {
				for j := range axes[1].Points {
					u = append(u, 1+2*axes[0].Coordinate(i)-3*axes[1].Coordinate(j))
				}
			}
			return u
		}
		got, want := model.Resample(fill(from), from, to), fill(to)
		if len(got) != len(want) {
			t.Fatalf("%d values, want %d", len(got), len(want))
		}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Fatalf("%v to %v: value %d is %g, want %g", tc.from, tc.to, i, got[i], want[i])
			}
		}
	}
	// Between the last and the first point of a periodic axis, beside one that is
	// not.
	wall := grid.Axis{Name: "y", Lo: 0, Hi: 1, Points: 1, Boundary: grid.Cells}
	from := grid.Axis{Name: "x", Lo: 0, Hi: 1, Points: 4, Boundary: grid.Periodic}
	to := grid.Axis{Name: "x", Lo: 0, Hi: 1, Points: 8, Boundary: grid.Periodic}
	got := model.Resample([]float64{0, 1, 2, 3}, []grid.Axis{from, wall}, []grid.Axis{to, wall})
	for i, want := range []float64{0, 0.5, 1, 1.5, 2, 2.5, 3, 1.5} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("periodic: value %d is %g, want %g", i, got[i], want)
		}
	}
	// Where all axes are periodic, waves stay waves.
	got = model.Resample([]float64{1, 2, 1, 0}, []grid.Axis{from}, []grid.Axis{to})
	for i := range got {
		if want := 1 + math.Sin(2*math.Pi*float64(i)/8); math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("wave: value %d is %g, want %g", i, got[i], want)
		}
	}
}

// The clock of the log starts again with every process.
func TestTrainSeconds(t *testing.T) {
	var records []train.Record
	for _, s := range []float64{1, 2, 3, 0.5, 2.5, 0.25} {
		records = append(records, train.Record{Seconds: s})
	}
	if got := trainSeconds(records); got != 5.75 {
		t.Errorf("%g seconds, want 5.75", got)
	}
}

func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		err    error
		status int
		text   string
	}{
		{usagef("no"), 2, "pihc: no\nhint: see `pihc --help`\n"},
		{withHint(fmt.Errorf("left: %w", fs.ErrPermission), "ask %s", "them"), 1, "pihc: left: permission denied\nhint: ask them\n"},
		{&fs.PathError{Op: "write", Path: "u.npz", Err: syscall.ENOSPC}, 1, "pihc: write u.npz: no space left on device\nhint: the disk is full: free some space; the same command again starts anew, or continues what was begun\n"},
		{&fs.PathError{Op: "write", Path: "u.npz", Err: syscall.EFBIG}, 1, "pihc: write u.npz: file too large\nhint: files may not be this large here: raise the limit of the shell (ulimit -f), or choose another file system; the same command again starts anew, or continues what was begun\n"},
		{fmt.Errorf("lock run: %w", fs.ErrPermission), 1, "pihc: lock run: permission denied\nhint: it needs the right to write there; a copy of the folder will do\n"},
		{fmt.Errorf("sample 3: %w", context.Canceled), 130, "pihc: interrupted\nhint: the same command again continues where that is possible\n"},
		{fmt.Errorf("%w at step 3", train.ErrInterrupted), 130, "pihc: training interrupted; a checkpoint was written at step 3\n"},
	} {
		var b bytes.Buffer
		root := newRoot(&app{})
		printError(&b, root, tc.err)
		if b.String() != tc.text {
			t.Errorf("%v prints\n%s\nwant\n%s", tc.err, b.String(), tc.text)
		}
		if got := exitStatus(tc.err); got != tc.status {
			t.Errorf("%v: exit status %d, want %d", tc.err, got, tc.status)
		}
	}
}

// Every command is described, with an example that calls it.
func TestHelp(t *testing.T) {
	root := newRoot(&app{})
	for _, c := range root.Commands() {
		if c.Short == "" || c.Long == "" || !strings.Contains(c.Example, "pihc "+c.Name()) {
			t.Errorf("%s lacks a description or an example", c.Name())
		}
	}
}
