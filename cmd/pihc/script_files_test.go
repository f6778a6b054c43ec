package main

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"pihc/data"
	"pihc/internal/words"
)

// npy FILE VALUE SHAPE...: writes an array filled with VALUE.
func npyCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: npy FILE VALUE SHAPE...")
	}
	value, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	size := 1
	for _, arg := range args[2:] {
		n, err := strconv.Atoi(arg)
		ts.Check(err)
		size *= n
	}
	dict := fmt.Sprintf("%-117s\n", "{'descr': '<f8', 'fortran_order': False, 'shape': ("+strings.Join(args[2:], ", ")+",)}")
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(dict)), byte(len(dict)>>8))
	file, err = binary.Append(append(file, dict...), binary.LittleEndian, slices.Repeat([]float64{value}, size))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), file, 0o666))
}

// npz FILE NAME SHAPE: requires an array of that shape without NaN or Inf.
func npzCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: npz FILE NAME SHAPE")
	}
	arrays, err := data.ReadNPZ(ts.MkAbs(args[0]))
	ts.Check(err)
	a := data.Find(arrays, args[1])
	if a == nil {
		ts.Fatalf("%s has no array %s", args[0], args[1])
	}
	if got := words.Shape(a.Shape); got != args[2] {
		ts.Fatalf("%s: %s has shape %s, want %s", args[0], args[1], got, args[2])
	}
	ts.Check(a.CheckFinite())
}

func readJSON(ts *testscript.TestScript, file string) (object any) {
	if err := json.Unmarshal([]byte(ts.ReadFile(file)), &object); err != nil {
		ts.Fatalf("%s: %v", file, err)
	}
	return object
}

// at returns what stands at a dotted path of a JSON object.
func at(ts *testscript.TestScript, file string, v any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		switch holder := v.(type) {
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(holder) {
				ts.Fatalf("%s: nothing at %s", file, path)
			}
			v = holder[i]
		case map[string]any:
			v = holder[key]
		default:
			v = nil
		}
		if v == nil {
			ts.Fatalf("%s: nothing at %s", file, path)
		}
	}
	return v
}

// near FILE OTHER PATH TOLERANCE: requires that the numbers at a path of two JSON files differ by
// no more than this share of the second.
func nearCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: near FILE OTHER PATH TOLERANCE")
	}
	tolerance, err := strconv.ParseFloat(args[3], 64)
	ts.Check(err)
	var v [2]float64
	for i, file := range args[:2] {
		var ok bool
		if v[i], ok = at(ts, file, readJSON(ts, file), args[2]).(float64); !ok {
			ts.Fatalf("%s: %s is not a number", file, args[2])
		}
	}
	if !(math.Abs(v[0]-v[1]) <= tolerance*math.Abs(v[1])) {
		ts.Fatalf("%s is %v in %s and %v in %s", args[2], v[0], args[0], v[1], args[1])
	}
}

// close FILE OTHER TOLERANCE: requires the same arrays in two NPZ files, with numbers that differ by
// no more than this share of the largest of their array. OTHER may have names of before.
func closeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: close FILE OTHER TOLERANCE")
	}
	tolerance, err := strconv.ParseFloat(args[2], 64)
	ts.Check(err)
	got, err := data.ReadNPZ(ts.MkAbs(args[0]))
	ts.Check(err)
	want, err := data.ReadNPZ(ts.MkAbs(args[1]))
	ts.Check(err)
	if len(got) != len(want) {
		ts.Fatalf("%s has %d arrays, %s has %d", args[0], len(got), args[1], len(want))
	}
	for i, array := range want {
		array.Name = cmp.Or(map[string]string{"relative_residual": "residual_over_rate", "residual": "relative_loss"}[array.Name], array.Name)
		if got[i].Name != array.Name || !slices.Equal(got[i].Array.Shape, array.Array.Shape) {
			ts.Fatalf("%s has %s %v, want %s %v", args[0], got[i].Name, got[i].Array.Shape, array.Name, array.Array.Shape)
		}
		values := array.Array.Float64()
		largest := 0.0
		for _, v := range values {
			largest = max(largest, math.Abs(v))
		}
		for j, v := range got[i].Array.Float64() {
			if !(math.Abs(v-values[j]) <= tolerance*largest) {
				ts.Fatalf("%s: value %d of %s is %v, want %v", args[0], j, array.Name, v, values[j])
			}
		}
	}
}

// quotient FILE RESULT NUMERATOR DENOMINATOR...: requires of the numbers of a JSON
// file that RESULT is NUMERATOR over the DENOMINATORs; each is a number, or paths
// joined by +.
func quotientCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: quotient FILE RESULT NUMERATOR DENOMINATOR...")
	}
	object := readJSON(ts, args[0])
	value := func(text string) float64 {
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return v
		}
		sum := 0.0
		for path := range strings.SplitSeq(text, "+") {
			v, ok := at(ts, args[0], object, path).(float64)
			if !ok {
				ts.Fatalf("%s: %s is not a number", args[0], path)
			}
			sum += v
		}
		return sum
	}
	want := value(args[2])
	for _, d := range args[3:] {
		want /= value(d)
	}
	if got := value(args[1]); !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
		ts.Fatalf("%s: %s is %v, want %v", args[0], args[1], got, want)
	}
}

// json FILE PATH[=VALUE[~TOLERANCE]]...: requires FILE (stdout for standard
// output) to be one JSON object in which every dotted path holds something: a
// VALUE where one is given, a number within the relative TOLERANCE (default 0).
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: json FILE PATH[=VALUE[~TOLERANCE]]...")
	}
	object := readJSON(ts, args[0])
	for _, arg := range args[1:] {
		path, want, compare := strings.Cut(arg, "=")
		v := at(ts, args[0], object, path)
		if !compare {
			continue
		}
		number, isNumber := v.(float64)
		if !isNumber {
			if got := fmt.Sprint(v); got != want {
				ts.Fatalf("%s: %s is %s, want %s", args[0], path, got, want)
			}
			continue
		}
		text, tolerance, _ := strings.Cut(want, "~")
		value, err := strconv.ParseFloat(text, 64)
		ts.Check(err)
		var within float64
		if tolerance != "" {
			within, err = strconv.ParseFloat(tolerance, 64)
			ts.Check(err)
		}
		if !(math.Abs(number-value) <= within*math.Abs(value)) {
			ts.Fatalf("%s: %s is %v, want %s", args[0], path, number, want)
		}
	}
}

// theFile is the one file that a pattern matches.
func theFile(ts *testscript.TestScript, pattern string) string {
	found, err := filepath.Glob(ts.MkAbs(pattern))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%d files match %s", len(found), pattern)
	}
	return found[0]
}

// alter FILE: changes one byte in the middle, or changes it back.
func alterCommand(ts *testscript.TestScript, neg bool, args []string) {
	path := theFile(ts, args[0])
	content, err := os.ReadFile(path)
	ts.Check(err)
	content[len(content)/2] ^= 1
	ts.Check(os.WriteFile(path, content, 0o666))
}

// cut FILE: keeps the first half.
func cutCommand(ts *testscript.TestScript, neg bool, args []string) {
	path := theFile(ts, args[0])
	content, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(os.WriteFile(path, content[:len(content)/2], 0o666))
}

// edit FILE OLD NEW: replaces the first OLD, which must be there.
func editCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	path := ts.MkAbs(args[0])
	content := ts.ReadFile(args[0])
	if !strings.Contains(content, args[1]) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, []byte(strings.Replace(content, args[1], args[2], 1)), 0o666))
}
