package data

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type record struct {
	Step int   `json:"step"`
	Loss Float `json:"loss"`
}

func steps(t *testing.T, path string) []int {
	t.Helper()
	records, err := ReadLogAs[record](path)
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
	log, err := CreateLog(path)
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
	got, err := ReadLogAs[record](path)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range want {
		if y := float64(got[i].Loss); y != x && !(math.IsNaN(x) && math.IsNaN(y)) {
			t.Errorf("record %d: loss %v, want %v", i, y, x)
		}
	}
	if _, err := CreateLog(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second CreateLog: %v, want ErrExist", err)
	}
}

// A killed process leaves part of a line: readers ignore it, a resumed run
// removes it, together with records after its checkpoint.
func TestAppendLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	for _, c := range []struct {
		text string
		keep func([]byte) bool
		want int // records kept
	}{
		{"", nil, 0},
		{"{\"step\":0}\n{\"step\":1}\n", nil, 2},
		{"{\"step\":0}\n{\"step\":1}\n{\"st", nil, 2},
		{"{\"step\":0}\n{\"step\":1}\n{\"step\":2}\n", func(b []byte) bool {
			var r record
			return json.Unmarshal(b, &r) == nil && r.Step < 2
		}, 2},
	} {
		os.WriteFile(path, []byte(c.text), 0o666)
		if n := len(steps(t, path)); n < c.want {
			t.Errorf("%q: %d records before", c.text, n)
		}
		log, err := AppendLog(path, c.keep)
		if err != nil {
			t.Fatal(err)
		}
		log.Write(record{Step: 9})
		log.Close()
		got := steps(t, path)
		if len(got) != c.want+1 || got[c.want] != 9 {
			t.Errorf("%q: steps %v, want %d kept and 9", c.text, got, c.want)
		}
	}
	fresh := filepath.Join(t.TempDir(), "none.jsonl")
	log, err := AppendLog(fresh, nil)
	if err != nil {
		t.Fatal(err)
	}
	log.Close()
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
		_, err := ReadLogAs[record](path)
		var format *FormatError
		if !errors.As(err, &format) || !strings.Contains(err.Error(), path+": log: "+want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}
