package config

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// boundary stands for an enumeration that decodes itself from text.
type boundary int

func (b *boundary) UnmarshalText(text []byte) error {
	switch string(text) {
	case "periodic":
		*b = 1
	case "cells":
		*b = 2
	default:
		return fmt.Errorf("unknown boundary %q", text)
	}
	return nil
}

type axis struct {
	Range    [2]float64 `yaml:"range,flow"`
	Points   int        `yaml:"points" config:"required"`
	Boundary boundary   `yaml:"boundary" config:"required"`
	Pos      Position   `yaml:"-"`
}

type spec struct {
	Name    string      `yaml:"name"`
	Seed    uint64      `yaml:"seed"`
	Rate    float64     `yaml:"rate"`
	Fast    bool        `yaml:"fast"`
	Every   int         `yaml:"every"`
	Limit   *float64    `yaml:"limit,omitempty"`
	Axes    Map[axis]   `yaml:"axes"`
	Const   Map[Scalar] `yaml:"constants"`
	Network struct {
		Width int   `yaml:"width"`
		Modes []int `yaml:"modes,flow"`
	} `yaml:"network"`
	Train struct {
		Batch int            `yaml:"batch"`
		Steps int            `yaml:"steps"`
		Extra map[string]int `yaml:"extra,omitempty"`
	} `yaml:"train"`
}

const good = `# an experiment
name: demo
seed: 7
rate: 1e-3
fast: true
every: 4e3
axes:
  t: {range: [0, 500], points: 101, boundary: cells}
  x:
    range: [0, 1]
    points: 1_024
    boundary: periodic
constants:
  k: 3.5e-4
  D: 5.0e-4
  gamma: "2*D"
  plain: D/k
network: {width: 64, modes: [8, 8]}
train:
  batch: 6
  extra: {a: 1}
`

func TestDecode(t *testing.T) {
	var s spec
	s.Train.Steps = 4000 // a default
	if err := decode("good.yaml", []byte(good), &s); err != nil {
		t.Fatal(err)
	}
	if s.Name != "demo" || s.Seed != 7 || s.Rate != 1e-3 || !s.Fast || s.Every != 4000 {
		t.Errorf("scalars: %+v", s)
	}
	if s.Train.Batch != 6 || s.Train.Steps != 4000 || s.Network.Modes[1] != 8 || s.Limit != nil {
		t.Errorf("structs: %+v", s)
	}
	if got := strings.Join(s.Axes.Keys(), " ") + " " + strings.Join(s.Const.Keys(), " "); got != "t x k D gamma plain" {
		t.Errorf("order of keys: %s", got)
	}
	x, _ := s.Axes.Entry("x")
	if x.Value.Points != 1024 || x.Value.Boundary != 1 || x.Value.Range != [2]float64{0, 1} {
		t.Errorf("axis: %+v", x.Value)
	}
	if x.KeyPos.String() != "good.yaml:9:3" || x.Value.Pos.String() != "good.yaml:10:5" {
		t.Errorf("positions: %s %s", x.KeyPos, x.Value.Pos)
	}
	k, _ := s.Const.Get("k")
	gamma, _ := s.Const.Get("gamma")
	if v, ok := k.Number(); !ok || v != 3.5e-4 {
		t.Errorf("k = %v, %v", v, ok)
	}
	if _, ok := gamma.Number(); ok || gamma.Text != "2*D" {
		t.Errorf("gamma = %+v", gamma)
	}
}

// A document that is written and read back says the same.
func TestEncodeReadsBack(t *testing.T) {
	d, err := Parse("a", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []string{"limit=0.25", "constants.text=\"12\""} {
		if err := d.Override(o); err != nil {
			t.Fatal(err)
		}
	}
	var a, b spec
	if err := d.Decode(&a); err != nil {
		t.Fatal(err)
	}
	out, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := decode("b", out, &b); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if text, _ := b.Const.Get("text"); text.Text != "12" {
		t.Errorf("text = %+v", text)
	} else if _, ok := text.Number(); ok {
		t.Error(`the text "12" came back as a number`)
	}
	if *b.Limit != 0.25 || !reflect.DeepEqual(b.Network, a.Network) || !slices.Equal(b.Const.Keys(), a.Const.Keys()) {
		t.Errorf("%+v", b)
	}
}

// bad holds every mistake at once; all must be reported, in order.
const bad = `name: [a]
sede: 7
rate: fast
fast: yes
every: 2.5
width: 64
axes:
  t: {range: [0, 1, 2], points: 101}
  x: {range: [0, .inf], points: 10, boundary: cell, pints: 3}
constants: {k: [1], k: 2}
network:
  widht: 64
  modes: 8
train: 12
zzz: 1
`

func TestAllMistakesAtOnce(t *testing.T) {
	var s spec
	err := decode("bad.yaml", []byte(bad), &s)
	var all Errors
	if !errors.As(err, &all) {
		t.Fatalf("error is a %T", err)
	}
	var got []string
	for _, p := range all {
		line := p.Line()
		if p.Hint != "" {
			line += " | " + p.Hint
		}
		got = append(got, line)
	}
	want := []string{
		`bad.yaml:1:7: name: want a text, got a list`,
		`bad.yaml:2:1: unknown key "sede" | did you mean "seed"?`,
		`bad.yaml:3:7: rate: want a number, got the text "fast"`,
		`bad.yaml:4:7: fast: want true or false, got the text "yes" | write true`,
		`bad.yaml:5:8: every: want an integer, got 2.5`,
		`bad.yaml:6:1: unknown key "width" | "width" belongs in network`,
		`bad.yaml:8:14: axes.t.range: want a list of 2, got 3`,
		`bad.yaml:8:6: missing key "boundary" in axes.t`,
		`bad.yaml:9:18: axes.x.range.1: want a finite number, got .inf`,
		`bad.yaml:9:47: axes.x.boundary: unknown boundary "cell"`,
		`bad.yaml:9:53: unknown key "pints" in axes.x | did you mean "points"?`,
		`bad.yaml:10:16: constants.k: want a number or a text, got a list`,
		`bad.yaml:10:21: key "k" is given twice | it stands at bad.yaml:10:13 already`,
		`bad.yaml:12:3: unknown key "widht" in network | did you mean "width"?`,
		`bad.yaml:13:10: network.modes: want a list, got 8 | write [8]`,
		`bad.yaml:14:8: train: want a mapping (key: value), got 12 | known keys: batch, steps, extra`,
		`bad.yaml:15:1: unknown key "zzz" | known keys: name, seed, rate, fast, every, limit, axes, constants, network, train`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(all.Unwrap()) != len(all) {
		t.Error("Unwrap loses problems")
	}
	var one *Mistake
	if !errors.As(err, &one) || one != all[0] {
		t.Error("errors.As does not find the first problem")
	}
}

func TestProblemShowsTheLine(t *testing.T) {
	var s spec
	err := decode("demo.yaml", []byte("name: a\nnetwork:\n  widht: 64 # channels\n"), &s)
	want := `demo.yaml:3:3: unknown key "widht" in network
  3 |   widht: 64 # channels
    |   ^^^^^
hint: did you mean "width"?`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	long := "name: [" + strings.Repeat("é", 150) + "]\n"
	if err := decode("", []byte(long), &s); err == nil || len([]rune(err.Error())) > 300 {
		t.Errorf("a long line is shown as %v", err)
	}
}

func TestSyntaxErrors(t *testing.T) {
	for src, want := range map[string]string{
		"a: [1, 2\nb: 3":        "f:2:2: not valid YAML",
		"\tname: 1":             "f:1:1: not valid YAML",
		"name: a: b":            "f:1:8: not valid YAML",
		"name: a\n---\nseed: 1": "f:2:1: a second document",
		"seed: &x 1\nevery: *x": "f:2:8: every: aliases are not supported",
		"- 1\n":                 "f:1:1: want a mapping",
		"name: \xff":            "f:1:7: not valid UTF-8",
		"? [a]\n: 1":            "f:1:3: a key must be a plain text",
		"<<: {name: a}":         `f:1:1: unknown key "<<"`,
	} {
		var s spec
		err := decode("f", []byte(src), &s)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", src, err, want)
		}
	}
	var s spec
	for _, src := range []string{"", "# nothing\n", "---\n", "name: a\r\nseed: 1\r\n"} {
		if err := decode("f", []byte(src), &s); err != nil {
			t.Errorf("%q: %v", src, err)
		}
	}
}

// Where one key is all that is required, a bare value is told to stand behind it, and one with a comma to have quotes.
func TestBareValue(t *testing.T) {
	var s struct {
		Rows struct {
			Expression string `yaml:"expression" config:"required"`
			Weight     string `yaml:"weight"`
		} `yaml:"rows"`
	}
	err := decode("f", []byte("rows: u - 1\n"), &s)
	if want := "hint: write {expression: ...}; known keys: expression, weight"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	err = decode("f", []byte("rows: {expression: max(u, 0)/2}\n"), &s)
	if want := "hint: a comma inside {...} ends a value"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestIntegers(t *testing.T) {
	type ints struct {
		I8 int8    `yaml:"i8"`
		U  uint    `yaml:"u"`
		U6 uint64  `yaml:"u6"`
		F  float32 `yaml:"f"`
	}
	var v ints
	if err := decode("", []byte("i8: -128\nu: 0x10\nu6: 18446744073709551615\nf: 3"), &v); err != nil {
		t.Fatal(err)
	}
	if v != (ints{-128, 16, math.MaxUint64, 3}) {
		t.Errorf("%+v", v)
	}
	// Zeros in front are not octal: in YAML 1.2 they say nothing.
	if err := decode("", []byte("i8: -010\nu: 010\nu6: 0o10\nf: 010"), &v); err != nil || v != (ints{-10, 10, 8, 10}) {
		t.Errorf("%+v, %v", v, err)
	}
	for _, src := range []string{"i8: 128", "u: -1", "u: 1e30", "u6: 18446744073709551616", "f: 1e300", "f: .nan", "u: !!int x", "u:"} {
		if err := decode("", []byte(src), &v); err == nil {
			t.Errorf("%s is accepted: %+v", src, v)
		}
	}
}

func TestOverride(t *testing.T) {
	var s spec
	err := decode("good.yaml", []byte(good), &s, "network.width=32", "network.modes.1=4", "train.steps=10", "axes.x.points=128", "name=", "limit=2", "train.extra=")
	if err == nil || !strings.HasPrefix(err.Error(), "--set:1:6: name: want a text, got nothing") {
		t.Errorf("an empty value gives %v", err)
	}
	if s.Network.Width != 32 || s.Network.Modes[1] != 4 || s.Train.Steps != 10 || *s.Limit != 2 || s.Train.Extra != nil {
		t.Errorf("%+v", s)
	}
	if x, _ := s.Axes.Get("x"); x.Points != 128 {
		t.Errorf("%+v", x)
	}
	for set, want := range map[string]string{
		"width":             "--set:1:1: not of the form key=value",
		"=3":                "--set:1:1: not of the form key=value",
		"network.widht=3":   `--set:1:9: unknown key "widht" in network`,
		"network..width=3":  "--set:1:9: empty key",
		"network.modes.2=3": `--set:1:15: no element "2": the list has 2`,
		"seed.x=1":          `--set:1:6: "x" cannot be set inside 7`,
		"network.width=a b": `--set:1:15: network.width: want an integer, got the text "a b"`,
		"rate=[1":           "--set:1:8: not valid YAML",
		"new.key=1":         `--set:1:1: unknown key "new"`,
	} {
		var s spec
		err := decode("good.yaml", []byte(good), &s, set)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("--set %s: %v, want %s", set, err, want)
		}
	}
	out, err := Set([]byte(good), "network.width=16")
	if err != nil || !strings.Contains(string(out), "# an experiment") || !strings.Contains(string(out), "width: 16") {
		t.Errorf("Set: %v\n%s", err, out)
	}
}

func TestSemanticErrors(t *testing.T) {
	d, err := Parse("s.yaml", []byte("network:\n  modes: [8, 90]\nresidual: 'u_t - D*u_xx'\nblock: |\n  a\n  b\n"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"network.modes.1": "s.yaml:2:14", "network.modes": "s.yaml:2:3", "network.width": "s.yaml:1:1",
		"residual": "s.yaml:3:11", "nothing": "s.yaml", "block": "s.yaml:4:1",
	} {
		if got := d.At(path).String(); got != want {
			t.Errorf("At(%s) = %s, want %s", path, got, want)
		}
	}
	p := d.Errorf("network.modes.1", "%d modes do not fit", 90)
	if want := "s.yaml:2:14: 90 modes do not fit\n  2 |   modes: [8, 90]\n    |              ^^"; p.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", p.Error(), want)
	}
	var v struct {
		Residual Scalar   `yaml:"residual"`
		Block    Scalar   `yaml:"block"`
		Network  struct{} `yaml:"-"`
	}
	if err := d.Decode(&v); err == nil || !strings.Contains(err.Error(), `unknown key "network"`) {
		t.Error(err)
	}
	if got := v.Residual.At(6).String(); got != "s.yaml:3:18" {
		t.Errorf("offset 6 of the residual is at %s", got)
	}
	if got := v.Block.At(2); got.Line != 4 {
		t.Errorf("block at %s", got)
	}
	if Join(nil, nil) != nil || Join(nil, p) == nil {
		t.Error("Join")
	}
}

func TestNodesAndOwnDecoding(t *testing.T) {
	var v struct {
		Wall wall `yaml:"wall"`
	}
	for src, want := range map[string]wall{"wall: 1": {Value: 1}, "wall: {ghost: D*u}": {Ghost: "D*u"}} {
		v.Wall = wall{}
		if err := decode("", []byte(src), &v); err != nil || v.Wall != want {
			t.Errorf("%s: %+v %v", src, v.Wall, err)
		}
	}
	err := decode("", []byte("wall: {gost: 1}"), &v)
	if err == nil || !strings.HasPrefix(err.Error(), `1:8: unknown key "gost" in wall`) {
		t.Error(err)
	}
}

type wall struct {
	Value float64
	Ghost string `yaml:"ghost"`
}

func (w *wall) UnmarshalConfig(n Node) error {
	if !n.IsMapping() {
		return n.Decode(&w.Value)
	}
	type plain struct {
		Ghost string `yaml:"ghost"`
	}
	var p plain
	err := n.Decode(&p)
	w.Ghost = p.Ghost
	return err
}

func TestNearest(t *testing.T) {
	known := []string{"width", "layers", "modes", "projection", "last_activation", "u"}
	for word, want := range map[string]string{
		"widht": "width", "Width": "width", "layer": "layers", "last-activation": "last_activation",
		"projecton": "projection", "zebra": "", "x": "", "mode": "modes", "lastactivation": "last_activation",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%s) = %q, want %q", word, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringN(0, 8, -1).Draw(t, "a"), rapid.StringN(0, 8, -1).Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) || (d == 0) != (a == b) || d > max(len([]rune(a)), len([]rune(b))) {
			t.Fatalf("distance(%q, %q) = %d", a, b, d)
		}
	})
}

// FuzzDecode: decoding never panics, places errors inside the text, and what it
// accepts survives a round trip.
func FuzzDecode(f *testing.F) {
	f.Add(good, "network.width=3")
	f.Add(bad, "a.b.0=[1]")
	f.Add("rate: !!float x\nconstants: {a: ! 1, b: 'it''s', c: \"\\n\"}", "constants.a=*x")
	f.Add("? - a\n: b", "=")
	f.Fuzz(func(t *testing.T, src, set string) {
		var s spec
		lines := len(newSource("", []byte(src)).lines)
		if err := decode("f", []byte(src), &s); err != nil {
			var all Errors
			if !errors.As(err, &all) || len(all) == 0 || err.Error() == "" {
				t.Fatalf("error %T %v", err, err)
			}
			for _, p := range all {
				if p.Pos.Line > lines+1 {
					t.Fatalf("line %d of %d: %v", p.Pos.Line, lines, p)
				}
			}
		} else {
			d, err := Parse("f", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			out, err := d.Encode()
			if err != nil {
				t.Fatal(err)
			}
			var again spec
			if err := decode("g", out, &again); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if again.Name != s.Name || again.Rate != s.Rate || !reflect.DeepEqual(again.Const.Keys(), s.Const.Keys()) {
				t.Fatalf("%+v\n%+v", s, again)
			}
		}
		var o spec
		if err := decode("f", []byte(src), &o, set); err != nil && err.Error() == "" {
			t.Fatal("empty error")
		}
	})
}

// decode parses the document src, applies overrides in order, and stores the result in
// dst.
func decode(name string, src []byte, dst any, overrides ...string) error {
	d, err := Parse(name, src)
	if err != nil {
		return err
	}
	for _, o := range overrides {
		if err := d.Override(o); err != nil {
			return err
		}
	}
	return d.Decode(dst)
}

// One word in the place of another, or with a new key after another, leaves all else as it is;
// anything else is written anew.
func TestSet(t *testing.T) {
	src := "a: {b: 2,   c: [1, 0]}  # why\n\nd:   öl # x\n"
	for _, c := range [][2]string{
		{"a.b=6", "a: {b: 6,   c: [1, 0]}  # why\n\nd:   öl # x\n"},
		{"a.c.0= 0", "a: {b: 2,   c: [0, 0]}  # why\n\nd:   öl # x\n"},
		{"d=1e-3", "a: {b: 2,   c: [1, 0]}  # why\n\nd:   1e-3 # x\n"},
		{"e=0.5", "a: {b: 2,   c: [1, 0]}  # why\n\nd:   öl # x\ne: 0.5\n"},
		{"d=[1, 2]", "a: {b: 2, c: [1, 0]} # why\nd: [1, 2]\n"},
	} {
		got, err := Set([]byte(src), c[0])
		if err != nil || string(got) != c[1] {
			t.Errorf("%s: %q, %v; want %q", c[0], got, err, c[1])
		}
	}
	nested := "t:\n  # first\n  u:\n    axis: t # x\n\n  v: {axis: t, derivative: 1}  # y\n"
	for _, c := range [][2]string{
		{"t.u.order=4", "t:\n  # first\n  u:\n    axis: t # x\n    order: 4\n\n  v: {axis: t, derivative: 1}  # y\n"},
		{"t.v.order=4", "t:\n  # first\n  u:\n    axis: t # x\n\n  v: {axis: t, derivative: 1, order: 4}  # y\n"},
	} {
		got, err := Set([]byte(nested), c[0])
		if err != nil || string(got) != c[1] {
			t.Errorf("%s: %q, %v; want %q", c[0], got, err, c[1])
		}
	}
	if got, err := Set([]byte("a: 1"), "b=2"); err != nil || string(got) != "a: 1\nb: 2\n" {
		t.Errorf("a last line without an end: %q, %v", got, err)
	}
	if _, err := Set([]byte(src), "a.c.7=1"); err == nil {
		t.Error("an element that is not there was set")
	}
}

// Of many mistakes an error says ten, and counts the others.
func TestManyMistakes(t *testing.T) {
	var many Errors
	for range 50_000 {
		many = append(many, &Mistake{Message: "wrong"})
	}
	if got, want := many.Error(), strings.Repeat("wrong\n", 10)+"and 49990 more"; got != want {
		t.Errorf("got %.300q", got)
	}
	if got, want := many[:11].Error(), strings.TrimSuffix(strings.Repeat("wrong\n", 11), "\n"); got != want {
		t.Errorf("got %q", got)
	}
}

// A file that no person wrote is refused before it is parsed.
func TestLargeFile(t *testing.T) {
	src := append([]byte("a: ["), bytes.Repeat([]byte("[],"), maxFile/3)...)
	if _, err := Parse("spec.yaml", src); err == nil || err.Error() != "spec.yaml: it has more than 4 MiB, which no spec or PDE file has" {
		t.Errorf("error %v", err)
	}
	// Deep nesting and aliases of aliases take no time.
	for _, text := range []string{"a: " + strings.Repeat("[", 1<<20), "a: &a [1, 1]\nb: &b [*a, *a]\nc: [*b, *b]"} {
		var v struct{ A []int }
		d, err := Parse("spec.yaml", []byte(text))
		if err == nil {
			err = d.Decode(&v)
		}
		if err == nil {
			t.Errorf("%.20s: no error", text)
		}
	}
}
