package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/data"
	"pihc/dist"
	"pihc/experiment"
	"pihc/model"
)

// pipe is a server of a run in another goroutine.
type pipe struct {
	t   *testing.T
	in  *io.PipeWriter
	out *bufio.Reader
	end chan error
}

func newPipe(t *testing.T, run string) *pipe {
	a := &app{streams: streams{Err: io.Discard}, comm: dist.Alone{}, slabs: 1, log: slog.New(slog.DiscardHandler)}
	predict, _, err := newRoot(a).Find([]string{"predict"})
	if err != nil {
		t.Fatal(err)
	}
	inR, in := io.Pipe()
	outR, out := io.Pipe()
	p := &pipe{t, in, bufio.NewReader(outR), make(chan error, 1)}
	go func() {
		p.end <- (&server{app: a, dir: run, predict: predict}).serve(context.Background(), inR, out)
		out.Close()
	}()
	return p
}

// ask sends a line with values, and returns the answer with those of its arrays.
func (p *pipe) ask(line string, values ...float64) (answer, map[string][]float64) {
	p.t.Helper()
	go func() {
		fmt.Fprintln(p.in, line)
		_ = binary.Write(p.in, binary.LittleEndian, values)
	}()
	text, err := p.out.ReadBytes('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	var said answer
	if err := json.Unmarshal(text, &said); err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
	arrays := map[string][]float64{}
	for _, h := range said.Arrays {
		count := 1
		for _, n := range h.Shape {
			count *= n
		}
		got := make([]float64, count)
		if err := binary.Read(p.out, binary.LittleEndian, got); err != nil {
			p.t.Fatal(err)
		}
		said.Bytes -= 8 * int64(count)
		arrays[h.Name] = got
	}
	if said.Bytes != 0 {
		p.t.Errorf("bytes and shapes differ by %d", said.Bytes)
	}
	return said, arrays
}

// What is served is what predict writes, to the bit, request after request; a bad request is answered, and changes nothing of the next.
func TestServe(t *testing.T) {
	fixture := filepath.Join(t.TempDir(), "fixture")
	if err := os.CopyFS(fixture, os.DirFS("testdata/fixture-0f74648")); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(fixture, "passes")
	u0, err := data.ReadArray(filepath.Join(fixture, "u0.npy"), "", nil, func([]int, data.Arrays) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	values := u0.Float64()
	want := func(e experiment.Evaluation) map[string][]float64 {
		t.Helper()
		r, err := experiment.OpenRun(run)
		if err != nil {
			t.Fatal(err)
		}
		g, err := r.Grid(e)
		if err != nil {
			t.Fatal(err)
		}
		inputs, err := experiment.ReadInputs(filepath.Join(fixture, "u0.npy"), r.Problem, g)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Predict(t.Context(), inputs, experiment.PredictOptions{Evaluation: e})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string][]float64{}
		for _, a := range p.Arrays() {
			out[a.Name] = a.Array.Float64()
		}
		return out
	}
	same := func(what string, got, want map[string][]float64) {
		t.Helper()
		if len(got) != len(want) {
			t.Errorf("%s: %d arrays, want %d", what, len(got), len(want))
		}
		for name, w := range want {
			if !slices.Equal(got[name], w) {
				t.Errorf("%s: %s differs", what, name)
			}
		}
	}
	auto, one := want(experiment.Evaluation{}), want(experiment.Evaluation{Passes: model.Passes(1)})
	shape, _ := json.Marshal(u0.Shape)
	ask := func(args string) string {
		return fmt.Sprintf(`{"call": "predict", "args": [%s], "inputs": [{"name": "u0", "shape": %s}], "bytes": %d}`, args, shape, 8*len(values))
	}

	p := newPipe(t, run)
	said, at := p.ask(`{"call": "open"}`)
	if !slices.Equal(at["t"], auto["t"]) || !slices.Equal(at["x"], auto["x"]) || len(at) != 2 || !slices.Equal(said.Units, []string{"", ""}) || said.Title == "" {
		t.Errorf("open: %+v with coordinates %v", said, at)
	}
	if said.Problem == "" || len(said.Inputs) != 1 || !slices.Equal(said.Inputs[0].Shape, u0.Shape[1:]) {
		t.Errorf("open: %+v", said)
	}
	for range 2 {
		said, got := p.ask(ask(""), values...)
		if same("auto", got, auto); said.Verdict == "" || said.Error != "" {
			t.Errorf("%+v", said)
		}
		_, got = p.ask(ask(`"--passes", "1"`), values...)
		same("one pass", got, one)
	}
	for _, tc := range []struct {
		line   string
		values int
		want   string
	}{
		{"garbage", 0, "request"},
		{`{"call": "fit"}`, 0, `call "fit": want open or predict`},
		{`{"call": "predict", "no": 1, "bytes": 16}`, 2, `unknown field "no"`},
		{`{"call": "predict", "inputs": [{"name": "u0", "shape": [3]}], "bytes": 16}`, 2, "16 bytes for inputs of 3 values"},
		{`{"call": "predict", "inputs": [{"name": "u0", "shape": [4611686018427387904, 4]}], "bytes": 0}`, 0, "0 bytes for inputs of"},
		{`{"call": "predict", "inputs": [{"name": "u0", "shape": [-1, -2]}], "bytes": 16}`, 2, `array "u0" has shape`},
		{`{"call": "predict", "inputs": [{"name": "u0", "shape": [1]}, {"name": "u0", "shape": [1]}], "bytes": 16}`, 2, `two arrays "u0"`},
		{`{"call": "predict", "inputs": [{"name": "u0", "shape": [2]}], "bytes": 16}`, 2, "u0 has shape 2; want "},
		{`{"call": "predict"}`, 0, "inputs: 0 arrays"},
		{`{"call": "predict", "args": ["--passes", "no"]}`, 0, "--passes"},
		{`{"call": "predict", "args": ["--out", "u.npz"]}`, 0, "unknown flag: --out"},
		{`{"call": "predict", "args": ["u0.npy"]}`, 0, `unexpected argument "u0.npy"`},
		{`{"call": "predict", "args": ["--set", "network.width=3"]}`, 0, "width"},
	} {
		said, _ := p.ask(tc.line, values[:tc.values]...)
		if !strings.Contains(said.Error, tc.want) || said.Verdict != "" {
			t.Errorf("%s is answered by %+v, want %q", tc.line, said, tc.want)
		}
	}
	_, got := p.ask(ask(""), values...)
	same("after mistakes", got, auto)

	// Another run in the place of the first is another session.
	other := filepath.Join(fixture, "passes", "spec.yaml")
	if err := os.Rename(other, other+".away"); err != nil {
		t.Fatal(err)
	}
	if said, _ := p.ask(ask(""), values...); !strings.Contains(said.Error, "spec.yaml") {
		t.Errorf("a run without spec.yaml is answered by %+v", said)
	}
	if err := os.Rename(other+".away", other); err != nil {
		t.Fatal(err)
	}
	_, got = p.ask(ask(""), values...)
	same("again", got, auto)
	p.in.Close()
	if err := <-p.end; err != nil {
		t.Errorf("the end of input: %v", err)
	}

	p = newPipe(t, run)
	go func() { fmt.Fprintln(p.in, ask("")); p.in.Close() }()
	if err := <-p.end; err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("a request without its values: %v", err)
	}
}

// Requests are read without a panic, whatever they are.
func FuzzRequest(f *testing.F) {
	f.Add([]byte("{\"call\": \"predict\", \"args\": [\"--points\", \"0\"], \"inputs\": [{\"name\": \"u0\", \"shape\": [1, 2]}], \"bytes\": 16}\n0123456789abcdef"))
	f.Add([]byte("{\"bytes\": 0, \"inputs\": [{\"shape\": [0, 9999999999999999, 9999999999999999]}]}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		asked, arrays, err := read(line, bytes.NewReader(rest))
		if (err == nil) != (asked != nil) {
			t.Errorf("%v and %v", asked, err)
		}
		for i, a := range arrays {
			if err == nil && !slices.Equal(a.Array.Shape, asked.Inputs[i].Shape) {
				t.Errorf("shape %v of %v", a.Array.Shape, asked.Inputs[i])
			}
		}
	})
}
