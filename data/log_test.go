package data

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/internal/disk"
)

type record struct {
	Step int   `json:"step"`
	Loss Float `json:"loss"`
}

func steps(t *testing.T, path string) []int {
	t.Helper()
	records, err := disk.ReadLogAs[record](path)
	if err != nil {
		t.Fatal(err)
	}
	var s []int
	for _, r := range records {
		s = append(s, r.Step)
	}
	return s
}

func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	log, err := disk.CreateLog(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{0.5, math.NaN(), math.Inf(1), math.Inf(-1), 1e-300}
	for i, x := range want {
		if err := log.Write(record{i, Float(x)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(log.Sync(), log.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := disk.ReadLogAs[record](path)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range want {
		if y := float64(got[i].Loss); y != x && !(math.IsNaN(x) && math.IsNaN(y)) {
			t.Errorf("record %d: loss %v, want %v", i, y, x)
		}
	}
	if _, err := disk.CreateLog(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second CreateLog: %v, want ErrExist", err)
	}
}

// A log goes on after the lines that are kept; part of a line, which a killed
// process leaves, is not seen by readers.
func TestAppendLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	for _, c := range []struct {
		text string
		size int64
		want int // records kept
	}{
		{"", 0, 0},
		{"{\"step\":0}\n{\"step\":1}\n", 22, 2},
		{"{\"step\":0}\n{\"step\":1}\n{\"st", 22, 2},
		{"{\"step\":0}\n{\"step\":1}\n{\"step\":2}\n", 22, 2},
		{"{\"step\":0}\n{\"step\":1}\n", 0, 0},
	} {
		os.WriteFile(path, []byte(c.text), 0o666)
		if n := len(steps(t, path)); n < c.want {
			t.Errorf("%q: %d records before", c.text, n)
		}
		log, err := disk.AppendLog(path, c.size)
		if err != nil {
			t.Fatal(err)
		}
		log.Write(record{Step: 9})
		log.Write(record{Step: 10})
		log.Close()
		got := steps(t, path)
		if len(got) != c.want+2 || got[c.want] != 9 {
			t.Errorf("%q: steps %v, want %d kept and 9, 10", c.text, got, c.want)
		}
	}
	fresh := filepath.Join(t.TempDir(), "none.jsonl")
	log, err := disk.AppendLog(fresh, 0)
	if err != nil {
		t.Fatal(err)
	}
	log.Close()
}

// Any byte of a log that changes is found, and its line named; so is a line that
// is taken away, added or moved. Lines from before there were chains are covered
// by the first chain after them.
func TestLogChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	os.WriteFile(path, []byte("{\"step\":7}\n"), 0o666)
	log, err := disk.AppendLog(path, 11)
	if err != nil {
		t.Fatal(err)
	}
	log.Write(struct{}{})
	for step := range 3 {
		log.Write(record{Step: step, Loss: Float(step) / 3})
	}
	log.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := disk.ReadLogAs[record](path); err != nil {
		t.Fatal(err)
	}
	check := func(what string, text []byte, lines ...int) {
		t.Helper()
		os.WriteFile(path, text, 0o666)
		_, err := disk.ReadLogAs[record](path)
		var format *disk.FormatError
		if !errors.As(err, &format) || !slices.Contains(lines, format.Line) {
			t.Errorf("%s: %v, want line %v", what, err, lines)
		}
	}
	for i := range whole[:len(whole)-1] { // without the last line feed the last line is unfinished
		text := slices.Clone(whole)
		text[i] ^= 1
		line := 1 + bytes.Count(whole[:i], []byte("\n"))
		check(fmt.Sprintf("byte %d", i), text, line, line+1)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	check("a line less", slices.Concat(lines[0], lines[1], lines[3], lines[4]), 3)
	check("a line twice", slices.Concat(lines[0], lines[1], lines[2], lines[2], lines[3]), 4)
	check("two lines swapped", slices.Concat(lines[0], lines[1], lines[3], lines[2], lines[4]), 3)
	check("a line without a chain", slices.Concat(lines[0], lines[1], []byte("{\"step\":1}\n"), lines[3]), 3)
}

func TestLogErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	for text, want := range map[string]string{
		"{\"step\":0}\nnot json\n{\"step\":1}\n": "line 2: not a JSON object",
		"{\"step\":0}\n\n":                       "line 2: not a JSON object",
		"{\"step\":0}\n[1]\n":                    "line 2: not a JSON object",
		"{\"step\":0}\n{\"step\":\"x\"}\n":       "line 2: json: cannot unmarshal",
	} {
		os.WriteFile(path, []byte(text), 0o666)
		_, err := disk.ReadLogAs[record](path)
		var format *disk.FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), path+": log: "+want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}
