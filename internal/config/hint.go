package config

import (
	"reflect"
	"slices"
	"strings"
)

// field is one key a struct knows.
type field struct {
	name     string
	index    []int
	typ      reflect.Type
	required bool
	want     string // what values it may have, "" for any
}

// fieldsOf lists the keys of struct type t in order, those of inlined structs
// in place.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Type == positionType {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "-" {
			continue
		}
		if slices.Contains(strings.Split(options, ","), "inline") {
			if f.Type.Kind() != reflect.Struct {
				panic("config: only a struct can be inlined")
			}
			for _, g := range fieldsOf(f.Type) {
				g.index = append([]int{i}, g.index...)
				out = append(out, g)
			}
			continue
		}
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		out = append(out, field{name, []int{i}, f.Type, f.Tag.Get("config") == "required", f.Tag.Get("want")})
	}
	return out
}

// missing returns the required keys that are not present, in quotes.
func missing(fields []field, present map[string]bool) []string {
	var out []string
	for _, f := range fields {
		if f.required && !present[f.name] {
			out = append(out, `"`+f.name+`"`)
		}
	}
	return out
}

func names(fields []field) (out []string) {
	for _, f := range fields {
		out = append(out, f.name)
	}
	return out
}

// suggest returns a hint for an unknown key: the nearest key here, else where
// in the whole schema the key belongs, else the keys known here.
func (d *decoder) suggest(key, path string, fields []field) string {
	known := names(fields)
	if near := Nearest(key, known); near != "" {
		return `did you mean "` + near + `"?`
	}
	if place := belongs(d.schema, key, d.base, map[reflect.Type]bool{}); place != "" && place != path {
		return `"` + key + `" belongs in ` + place
	}
	if len(known) == 0 {
		return "no keys are known here"
	}
	return "known keys: " + strings.Join(known, ", ")
}

// belongs returns the path of the first struct under t that knows key, "" if
// none does or it is t itself.
func belongs(t reflect.Type, key, path string, seen map[reflect.Type]bool) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return ""
	}
	seen[t] = true
	if s, ok := reflect.Zero(t).Interface().(Schemer); ok {
		t = reflect.TypeOf(s.Schema())
	}
	fields := fieldsOf(t)
	if slices.Contains(names(fields), key) {
		return path
	}
	for _, f := range fields {
		if place := belongs(f.typ, key, join(path, f.name), seen); place != "" {
			return place
		}
	}
	return ""
}

// Nearest returns the candidate that word most likely stands for, by the number
// of letters inserted, left out, changed or swapped with a neighbour; "" if none
// is near.
func Nearest(word string, candidates []string) string {
	best, limit := "", 1+len(word)/4
	if len(word) <= 2 {
		limit = 1
	}
	for _, c := range candidates {
		if strings.EqualFold(strings.NewReplacer("-", "_", " ", "_").Replace(word), c) {
			return c
		}
		if n := distance(strings.ToLower(word), strings.ToLower(c)); n <= limit && n < len(c) {
			best, limit = c, n-1
		}
	}
	return best
}

// distance is the optimal string alignment distance (Damerau-Levenshtein
// without further edits to a swapped pair).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before := make([]int, len(t)+1) // row i-2
	last := make([]int, len(t)+1)   // row i-1
	row := make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}
