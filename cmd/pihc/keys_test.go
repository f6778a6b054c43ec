package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"pihc/experiment"
	"pihc/train"
)

// docs/reference/formats.md and metrics.md have every JSON key of bench, eval, reproduce and the log of a training.
func TestKeys(t *testing.T) {
	var doc string
	for _, page := range []string{"formats", "metrics"} {
		text, err := os.ReadFile("../../docs/reference/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		doc += string(text)
	}
	documented := func(what, key string) {
		t.Helper()
		if key != "" && key != "-" && !strings.Contains(doc, "`"+key+"`") {
			t.Errorf("%s has %q, docs/reference/formats.md and metrics.md have not", what, key)
		}
	}
	seen := map[reflect.Type]bool{}
	var check func(r reflect.Type)
	check = func(r reflect.Type) {
		for r.Kind() == reflect.Slice || r.Kind() == reflect.Map || r.Kind() == reflect.Pointer {
			r = r.Elem()
		}
		if r.Kind() != reflect.Struct || seen[r] {
			return
		}
		seen[r] = true
		for i := range r.NumField() {
			f := r.Field(i)
			check(f.Type)
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			documented(r.Name(), key)
		}
	}
	for _, x := range []any{networkBench{}, constraintBench{}, stepBench{}, solverBench{}, experiment.Metrics{}, reproduction{}, train.Record{}, train.Meta{}} {
		check(reflect.TypeOf(x))
	}
	for _, baseline := range []string{"zero", "mean_field", "interpolation", "persistence"} {
		documented("reproduce", baseline)
	}
}
