package main

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// docs/formats.md has every JSON key of bench.
func TestBenchKeys(t *testing.T) {
	text, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	var check func(r reflect.Type)
	check = func(r reflect.Type) {
		if r.Kind() == reflect.Slice {
			r = r.Elem()
		}
		if r.Kind() != reflect.Struct {
			return
		}
		for i := range r.NumField() {
			f := r.Field(i)
			check(f.Type)
			if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" && !strings.Contains(doc, "`"+key+"`") {
				t.Errorf("%s has %q, docs/formats.md has not", r.Name(), key)
			}
		}
	}
	for _, x := range []any{networkBench{}, constraintBench{}, stepBench{}, exchangeBench{}, termsBench{}, solverBench{}} {
		check(reflect.TypeOf(x))
	}
}
