package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pihc/data"
	"pihc/experiment"
	"pihc/internal/dataset"
	"pihc/internal/disk"
	"pihc/internal/machine"
	"pihc/internal/words"
)

// longestRequest is the most bytes of a request's line.
const longestRequest = 1 << 20

func newServe(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "serve RUN",
		Short: "Predict again and again for another program, over a pipe",
		Long: `serve reads requests from standard input and answers each on standard output, until
the input ends. It is what the Python package predicts with: the network is loaded
once. A request is a line of JSON and the values of its arrays, float64, little-endian,
row by row:

  {"call": "predict", "args": ["--passes", "4"], "inputs": [{"name": "u0", "shape": [1, 128]}], "bytes": 1024}

args are flags of ` + "`pihc predict`" + `, but for --initial, --out, --json and --force; inputs are
the arrays that its file of inputs would have, of an initial condition alone under any
name; bytes is the length of their values. Call "open" has no inputs.

An answer is a line and values in the same form: arrays and bytes; of "predict" also verdict,
warnings and seconds (of the prediction), of "open" problem, title, method, unknowns, axes
and their units, and shapes of inputs, with the coordinates of the axes as arrays. What is wrong with a request is answered by error and hint in their
place, and the next request is read. A run folder that has changed is read again.`,
		Example: "  pihc serve runs/moe",
		Args:    positional("RUN", 1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			predict, _, err := c.Root().Find([]string{"predict"})
			if err != nil {
				return err
			}
			return (&server{app: a, dir: args[0], predict: predict}).serve(c.Context(), os.Stdin, a.Out)
		},
	}
}

// header is what a request or an answer says of one of its arrays.
type header struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

type request struct {
	Call   string   `json:"call"`
	Args   []string `json:"args"`
	Inputs []header `json:"inputs"`
	Bytes  int64    `json:"bytes"`
}

// answer is one to any request.
type answer struct {
	Error    string   `json:"error,omitempty"`
	Hint     string   `json:"hint,omitempty"`
	Problem  string   `json:"problem,omitempty"`
	Title    string   `json:"title,omitempty"`
	Method   string   `json:"method,omitempty"`
	Unknowns []string `json:"unknowns,omitempty"`
	Axes     []string `json:"axes,omitempty"`
	Units    []string `json:"units,omitempty"`  // of axes, "" for none
	Inputs   []header `json:"inputs,omitempty"` // shapes of one sample
	Arrays   []header `json:"arrays"`
	Bytes    int64    `json:"bytes"`
	Verdict  string   `json:"verdict,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Seconds  float64  `json:"seconds,omitempty"`

	values []data.Named // float64
}

// server answers requests on one run.
type server struct {
	app     *app
	dir     string
	predict *cobra.Command // whose help hints name
	key     string         // of the session: flags, and state of the run folder
	session *experiment.Session
	run     *experiment.Run
}

// serve answers requests until there are no more.
func (s *server) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.end()
	r, w := bufio.NewReaderSize(in, longestRequest), bufio.NewWriterSize(out, 1<<16)
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case err == io.EOF && len(line) == 0:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("standard input: a line of more than %d bytes is no request", longestRequest)
		case err != nil:
			return fmt.Errorf("standard input: %w", err)
		}
		asked, arrays, err := read(line, r)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("standard input: %w", err)
		}
		said := &answer{}
		if err == nil {
			said, err = s.answer(ctx, asked, arrays)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			said = &answer{Error: strings.ReplaceAll(err.Error(), "\n", "; "), Hint: hintOf(s.predict, err)}
		}
		if err := said.write(w); err != nil {
			return err
		}
	}
}

// read reads a request, and the values that follow its line whether or not it makes sense.
func read(line []byte, r io.Reader) (*request, []data.Named, error) {
	var length struct {
		Bytes int64 `json:"bytes"`
	}
	if err := json.Unmarshal(line, &length); err != nil {
		return nil, nil, fmt.Errorf("request: %w", err)
	}
	var asked request
	arrays, err := []data.Named(nil), disk.DecodeJSON(line, &asked)
	if err == nil {
		arrays, err = places(&asked)
	}
	if err != nil {
		if _, short := io.CopyN(io.Discard, r, max(0, length.Bytes)); short != nil {
			return nil, nil, io.ErrUnexpectedEOF
		}
		return nil, nil, fmt.Errorf("request: %w", err)
	}
	for _, a := range arrays {
		if err := binary.Read(r, binary.LittleEndian, a.Array.Data); err != nil {
			return nil, nil, io.ErrUnexpectedEOF
		}
	}
	return &asked, arrays, nil
}

// places are the arrays of a request, still without their values.
func places(asked *request) ([]data.Named, error) {
	total := 0.0
	for i, h := range asked.Inputs {
		if slices.ContainsFunc(asked.Inputs[:i], func(o header) bool { return o.Name == h.Name }) {
			return nil, fmt.Errorf("two arrays %q", h.Name)
		}
		count := 1.0
		for _, n := range h.Shape {
			if n < 1 {
				return nil, fmt.Errorf("array %q has shape %s", h.Name, words.Shape(h.Shape))
			}
			count *= float64(n)
		}
		total += count
	}
	if 8*total != float64(asked.Bytes) {
		return nil, fmt.Errorf("%d bytes for inputs of %g values; want 8 for each", asked.Bytes, total)
	}
	if err := machine.CheckValues(total); err != nil {
		return nil, err
	}
	var out []data.Named
	for _, h := range asked.Inputs {
		count := 1
		for _, n := range h.Shape {
			count *= n
		}
		out = append(out, data.Named{Name: h.Name, Array: data.NewArray(h.Shape, make([]float64, count))})
	}
	return out, nil
}

// answer does what a request asks for.
func (s *server) answer(ctx context.Context, asked *request, arrays []data.Named) (*answer, error) {
	if asked.Call != "open" && asked.Call != "predict" {
		return nil, usagef("call %q: want open or predict", asked.Call)
	}
	if err := s.prepare(asked.Args); err != nil {
		return nil, err
	}
	p, g := s.run.Problem, s.session.Grid()
	if asked.Call == "open" {
		said := &answer{Problem: p.Name, Title: p.Title, Method: s.run.Spec.Method, Unknowns: p.UnknownNames(), Axes: p.AxisNames()}
		for i, a := range g.Axes {
			said.Units = append(said.Units, p.Axes[i].Unit)
			said.values = append(said.values, data.Named{Name: a.Name, Array: data.NewArray([]int{a.Points}, a.Coordinates())})
		}
		for _, in := range p.PlaceInputs(g) {
			said.Inputs = append(said.Inputs, header{dataset.InputArray(p, in.Name), in.Shape()})
		}
		return said, nil
	}
	began := time.Now()
	inputs, err := experiment.Inputs("inputs", arrays, p, g)
	if err != nil {
		return nil, err
	}
	out, err := s.session.Predict(ctx, inputs)
	if err != nil {
		return nil, err
	}
	return &answer{Verdict: out.Verdict, Warnings: out.Warnings, Seconds: time.Since(began).Seconds(), values: out.Arrays()}, nil
}

// prepare makes the session for flags, unless it is there and the run folder is as it was.
func (s *server) prepare(args []string) error {
	key := fmt.Sprintf("%q %s", args, stateOf(s.dir))
	if s.session != nil && s.key == key {
		return nil
	}
	o := &predictOptions{}
	c := &cobra.Command{Use: "predict"}
	o.addPredict(c)
	if err := c.ParseFlags(args); err != nil {
		return &experiment.UsageError{Err: err}
	}
	if rest := c.Flags().Args(); len(rest) > 0 {
		return usagef("unexpected argument %q", rest[0])
	}
	e, err := o.evaluation(s.app, c)
	if err != nil {
		return err
	}
	e.Progress = nil
	if c.Flags().Changed("until") {
		e.Until = &o.until
	}
	run, err := experiment.OpenRun(s.dir, o.set...)
	if err != nil {
		return err
	}
	s.end() // before the next one takes memory
	session, err := run.Session(experiment.PredictOptions{Evaluation: e, RemoveMean: o.removeMean})
	if err == nil {
		s.run, s.session, s.key = run, session, key
	}
	return err
}

// end ends the session.
func (s *server) end() {
	if s.session != nil {
		s.session.Close()
		s.session = nil
	}
}

// stateOf tells states of a run folder apart: its files and its folder of checkpoints are replaced, never changed in place.
func stateOf(dir string) string {
	var text strings.Builder
	for _, name := range []string{"spec.yaml", "problem.yaml", "run.json", "checkpoints", "checkpoints/best.json"} {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			fmt.Fprintf(&text, "%s %d %d;", name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return text.String()
}

// write sends an answer.
func (s *answer) write(w *bufio.Writer) error {
	s.Arrays = []header{}
	for _, a := range s.values {
		s.Arrays = append(s.Arrays, header{a.Name, a.Array.Shape})
		s.Bytes += 8 * int64(a.Array.Len())
	}
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return err
	}
	var value [8]byte
	for _, a := range s.values {
		for _, v := range a.Array.Float64() {
			binary.LittleEndian.PutUint64(value[:], math.Float64bits(v))
			if _, err := w.Write(value[:]); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}
