//go:build unix

package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pihc/data"
	"pihc/internal/disk"
	"pihc/train"
)

// values are numbers by their names.
type values map[string][]float64

// arrays adds the arrays of a file.
func (v values) arrays(prefix string, list []data.Named) {
	for _, a := range list {
		v[prefix+a.Name] = a.Array.Float64()
	}
}

// dataset is all of a dataset's files, by name.
func dataset(t *testing.T, dir string) values {
	t.Helper()
	out := values{}
	files, err := filepath.Glob(filepath.Join(dir, "*.npz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no shards: %v", dir, err)
	}
	for _, file := range files {
		list, err := data.ReadNPZ(file)
		if err != nil {
			t.Fatal(err)
		}
		out.arrays(filepath.Base(file)+" ", list)
	}
	return out
}

// parameters are those of the last checkpoint.
func parameters(t *testing.T, run string) values {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(run, "checkpoints", "step-*.safetensors"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no checkpoints: %v", run, err)
	}
	list, _, err := data.ReadSafetensors(slices.Max(files), "")
	if err != nil {
		t.Fatal(err)
	}
	out := values{}
	out.arrays("", list)
	return out
}

// losses are the numbers of the log but for seconds: loss and gradient of the first step alone, before any update, and all.
func losses(t *testing.T, run string) (first, all values) {
	t.Helper()
	records, err := disk.ReadLogAs[train.Record](train.Folder(run).LogFile())
	if err != nil {
		t.Fatal(err)
	}
	first, all = values{}, values{}
	for i, r := range records {
		r.Seconds = 0
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		now := numbers(t, text)
		for name, x := range now {
			if all[name] = append(all[name], x...); i == 0 && (name == "loss" || name == "gradient_norm") {
				first[name] = x
			}
		}
	}
	return first, all
}

// moved leaves out of parameters the tensors whose gradient is rounding alone, less than 1e-5 of the others' (a bias of outputs whose
// mean is removed): Adam divides it by its own size, so that such a tensor moves at random.
func moved(v values) values {
	rms := func(x []float64) float64 {
		sum := 0.0
		for _, a := range x {
			sum += a * a
		}
		return math.Sqrt(sum / float64(max(1, len(x))))
	}
	most := 0.0
	for name, x := range v {
		if strings.HasPrefix(name, firstMoment) {
			most = max(most, rms(x))
		}
	}
	out := maps.Clone(v)
	for name, x := range v {
		if tensor, ok := strings.CutPrefix(name, firstMoment); ok && rms(x) < 1e-5*most {
			maps.DeleteFunc(out, func(name string, _ []float64) bool { return strings.HasSuffix(name, "."+tensor) })
		}
	}
	return out
}

const firstMoment = "adam_first."

// predictions are the arrays of `pihc predict`.
func predictions(t *testing.T, file string) values {
	t.Helper()
	list, err := data.ReadNPZ(file)
	if err != nil {
		t.Fatal(err)
	}
	out := values{}
	out.arrays("", list)
	return out
}

// scores are the numbers of a file of metrics, but for times and hashes.
func scores(t *testing.T, file string) values {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := numbers(t, text)
	maps.DeleteFunc(out, func(name string, _ []float64) bool { return strings.Contains(name, "seconds") })
	return out
}

// numbers are those of a JSON object, and of its objects and lists, by their paths; a list of numbers is one vector.
func numbers(t *testing.T, text []byte) values {
	t.Helper()
	var object any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	out := values{}
	var walk func(path string, x any)
	walk = func(path string, x any) {
		switch x := x.(type) {
		case map[string]any:
			for name, y := range x {
				walk(strings.TrimPrefix(path+"."+name, "."), y)
			}
		case []any:
			for i, y := range x {
				if v, ok := y.(float64); ok {
					out[path] = append(out[path], v)
				} else {
					walk(fmt.Sprintf("%s.%d", path, i), y)
				}
			}
		case float64:
			out[path] = []float64{x}
		case bool, nil:
		case string:
			if v, ok := map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[x]; ok {
				out[path] = []float64{v}
			}
		}
	}
	walk("", object)
	return out
}

// round leaves out of values that need not be equal what has no digits of its own: deviations of two samples, counts of
// iterations, checks of bits.
func round(v values, exact bool) values {
	if exact {
		return v
	}
	maps.DeleteFunc(v, func(name string, _ []float64) bool {
		return strings.HasSuffix(name, ".std") || strings.Contains(name, "iterations") || strings.Contains(name, "status")
	})
	return v
}

// difference is the largest relative L2 distance between values of one name, and where it is; ∞ where one lacks
// what the other has. Equal bits are 0.
func difference(got, want values) (most float64, where string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		g, w := got[name], want[name]
		if len(g) != len(w) {
			return math.Inf(1), name + " missing"
		}
		var distance, size float64
		for i := range w {
			if math.Float64bits(g[i]) != math.Float64bits(w[i]) {
				distance += (g[i] - w[i]) * (g[i] - w[i])
			}
			size += w[i] * w[i]
		}
		if d := math.Sqrt(distance / size); distance != 0 && !(d <= most) {
			most, where = d, name
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			return math.Inf(1), name + " besides"
		}
	}
	return most, where
}

// compare is the log's text of one comparison, and fails the test where it is beyond the bound.
func compare(t *testing.T, what string, got, want values, bound float64) string {
	t.Helper()
	d, where := difference(got, want)
	switch {
	case len(want) == 0:
		t.Errorf("%s: nothing to compare", what)
	case !(d <= bound):
		t.Errorf("%s: %s differs by %.2g, want at most %.0e", what, where, d, bound)
	case d == 0:
		return what + " equal"
	case bound == 0:
		return what + " DIFFER"
	}
	return fmt.Sprintf("%s %.1e (bound %.0e)", what, d, bound)
}
