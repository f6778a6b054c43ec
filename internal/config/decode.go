package config

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// decoder walks a node tree and a Go value together and goes on after a
// mistake, so that all of them are found at once.
type decoder struct {
	doc      *Document
	schema   reflect.Type // of the outermost value, to say where a key belongs
	base     string       // path of the outermost value
	problems Errors
}

var positionType = reflect.TypeFor[Position]()

func (d *decoder) errorf(n *yaml.Node, format string, args ...any) *Mistake {
	p := d.doc.position(n).Errorf(format, args...)
	d.problems = append(d.problems, p)
	return p
}

func (d *decoder) decode(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind == yaml.AliasNode {
		d.errorf(n, "%saliases are not supported", prefix(path)).WithHint("write the value out in place of *%s", n.Value)
		return
	}
	if v.Kind() == reflect.Pointer {
		if isNull(n) {
			v.SetZero()
			return
		}
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.decode(n, v.Elem(), path)
		return
	}
	node := Node{d.doc, n, path, d}
	switch u := v.Addr().Interface().(type) {
	case *Node:
		*u = node
		return
	case Unmarshaler:
		d.collect(n, path, u.UnmarshalConfig(node))
		return
	case decoding:
		d.collect(n, path, u.UnmarshalConfig(node.Decode))
		return
	case encoding.TextUnmarshaler:
		if n.Kind != yaml.ScalarNode || isNull(n) {
			d.want(n, path, "a text")
			return
		}
		d.collect(n, path, u.UnmarshalText([]byte(n.Value)))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		d.bool(n, v, path)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		d.integer(n, v, path)
	case reflect.Float32, reflect.Float64:
		d.float(n, v, path)
	case reflect.String:
		d.text(n, v, path)
	case reflect.Slice, reflect.Array:
		d.list(n, v, path)
	case reflect.Map:
		d.mapping(n, v, path)
	case reflect.Struct:
		d.object(n, v, path)
	default:
		panic("config: cannot decode into a " + v.Kind().String())
	}
}

func (d *decoder) want(n *yaml.Node, path, what string) *Mistake {
	return d.errorf(n, "%swant %s, got %s", prefix(path), what, describe(n))
}

func (d *decoder) bool(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
		p := d.want(n, path, "true or false")
		switch strings.ToLower(n.Value) {
		case "yes", "y", "on", "1":
			p.Hint = "write true"
		case "no", "n", "off", "0":
			p.Hint = "write false"
		}
		return
	}
	v.SetBool(strings.EqualFold(n.Value, "true"))
}

func (d *decoder) integer(n *yaml.Node, v reflect.Value, path string) {
	signed, text := v.CanInt(), strings.ReplaceAll(n.Value, "_", "")
	i, noInt := strconv.ParseInt(text, base(text), 64)
	u, noUint := strconv.ParseUint(strings.TrimPrefix(text, "+"), base(text), 64)
	x, ok := parseFloat(text) // 4e3 and 4.0 are integers too, as far as they are exact
	switch {
	case !isNumber(n) || !ok || x != math.Trunc(x):
		d.want(n, path, "an integer")
	case signed && noInt == nil && !v.OverflowInt(i):
		v.SetInt(i)
	case !signed && noUint == nil && !v.OverflowUint(u):
		v.SetUint(u)
	case !signed && x < 0:
		d.want(n, path, "an integer of at least 0")
	case math.Abs(x) > 1<<53 || signed && v.OverflowInt(int64(x)) || !signed && v.OverflowUint(uint64(x)):
		d.errorf(n, "%s%s is too large", prefix(path), n.Value)
	case signed:
		v.SetInt(int64(x))
	default:
		v.SetUint(uint64(x))
	}
}

func (d *decoder) float(n *yaml.Node, v reflect.Value, path string) {
	if !isNumber(n) {
		p := d.want(n, path, "a number")
		if n.Kind == yaml.ScalarNode && strings.ContainsAny(n.Value, "0123456789") && strings.ContainsAny(n.Value, "+-*/^(") {
			p.Hint = "expressions are for PDE files: write the number itself"
		}
		return
	}
	x, ok := parseFloat(n.Value)
	if !ok || v.OverflowFloat(x) {
		d.want(n, path, "a finite number")
		return
	}
	v.SetFloat(x)
}

func (d *decoder) text(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode || isNull(n) || n.ShortTag() == "!!bool" {
		p := d.want(n, path, "a text")
		if n.Kind == yaml.ScalarNode && n.Value != "" {
			p.Hint = fmt.Sprintf("put it in quotes: %q", n.Value)
		}
		return
	}
	v.SetString(n.Value)
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) {
	if isNull(n) && v.Kind() == reflect.Slice {
		v.SetZero()
		return
	}
	if n.Kind != yaml.SequenceNode {
		p := d.want(n, path, "a list")
		if n.Kind == yaml.ScalarNode {
			p.Hint = fmt.Sprintf("write [%s]", n.Value)
		}
		return
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	} else if v.Len() != len(n.Content) {
		d.errorf(n, "%swant a list of %d, got %d", prefix(path), v.Len(), len(n.Content))
		return
	}
	for i, c := range n.Content {
		d.decode(c, v.Index(i), join(path, strconv.Itoa(i)))
	}
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	t := v.Type()
	if t.Key().Kind() != reflect.String {
		panic("config: a map must have text keys")
	}
	if isNull(n) {
		v.SetZero()
		return
	}
	if n.Kind != yaml.MappingNode {
		d.want(n, path, "a mapping (key: value)")
		return
	}
	v.Set(reflect.MakeMapWithSize(t, len(n.Content)/2))
	d.keys(n, func(key, value *yaml.Node) {
		e := reflect.New(t.Elem()).Elem()
		d.decode(value, e, join(path, key.Value))
		v.SetMapIndex(reflect.ValueOf(key.Value).Convert(t.Key()), e)
	})
}

// keys calls visit for every key of a mapping that is a plain text and stands
// there for the first time, and reports the others.
func (d *decoder) keys(n *yaml.Node, visit func(key, value *yaml.Node)) {
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			d.errorf(key, "a key must be a plain text, not %s", describe(key))
			continue
		}
		if first, ok := seen[key.Value]; ok {
			d.errorf(key, "key %q is given twice", key.Value).WithHint("it stands at %s already", d.doc.position(first))
			continue
		}
		seen[key.Value] = key
		visit(key, value)
	}
}

func (d *decoder) object(n *yaml.Node, v reflect.Value, path string) {
	fields := fieldsOf(v.Type())
	for i := range v.NumField() {
		if v.Type().Field(i).Type == positionType && v.Field(i).CanSet() {
			v.Field(i).Set(reflect.ValueOf(d.doc.position(n)))
		}
	}
	if n.Kind != yaml.MappingNode {
		need := missing(fields, nil)
		if isNull(n) && len(need) == 0 {
			return
		}
		hint := "known keys: " + strings.Join(names(fields), ", ")
		if len(need) == 1 && n.Kind == yaml.ScalarNode {
			hint = fmt.Sprintf("write {%s: ...}; %s", strings.Trim(need[0], `"`), hint)
		}
		d.want(n, path, "a mapping (key: value)").WithHint("%s", hint)
		return
	}
	where := ""
	if path != "" {
		where = " in " + path
	}
	present := map[string]bool{}
	d.keys(n, func(key, value *yaml.Node) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key.Value })
		if i < 0 {
			p := d.errorf(key, "unknown key %q%s", key.Value, where)
			p.Hint, p.key = d.suggest(key.Value, path, fields), true
			if strings.ContainsAny(key.Value, "()") {
				p.Hint = "a comma inside {...} ends a value: an expression that has one wants quotes"
			}
			return
		}
		f := fields[i]
		present[key.Value] = true
		before := len(d.problems)
		d.decode(value, v.FieldByIndex(f.index), join(path, key.Value))
		if f.want != "" && len(d.problems) == before {
			d.check(value, v.FieldByIndex(f.index), join(path, key.Value), f.want)
		}
	})
	if lacking := missing(fields, present); len(lacking) > 0 {
		what := "key"
		if len(lacking) > 1 {
			what = "keys"
		}
		d.errorf(n, "missing %s %s%s", what, strings.Join(lacking, ", "), where)
	}
}

// check reports a decoded value that is not what its tag wants.
func (d *decoder) check(n *yaml.Node, v reflect.Value, path, want string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			d.check(n, v.Elem(), path, want)
		}
	case reflect.Slice:
		for i := range v.Len() {
			d.check(n.Content[i], v.Index(i), join(path, strconv.Itoa(i)), want)
		}
	case reflect.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			d.check(n.Content[i+1], v.MapIndex(reflect.ValueOf(key)), join(path, key), want)
		}
	default:
		if !allowed(v, want) {
			text := fmt.Sprint(v)
			if v.Kind() == reflect.String {
				text = strconv.Quote(text)
			}
			d.errorf(n, "%s: %s: want %s", path, text, want)
		}
	}
}

// allowed reports whether a value is what a tag wants.
func allowed(v reflect.Value, want string) bool {
	if v.Kind() == reflect.String {
		return slices.Contains(strings.Split(want, ", "), v.String())
	}
	if least, ok := strings.CutPrefix(want, "at least "); ok {
		n, _ := strconv.ParseInt(least, 10, 64)
		return v.Int() >= n
	}
	switch x := v.Float(); want {
	case "a positive number":
		return x > 0
	case "zero or a positive number":
		return x >= 0
	case "a number in [0, 1)":
		return x >= 0 && x < 1
	}
	panic("config: no such values: " + want)
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func isNumber(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!int" || n.ShortTag() == "!!float")
}

// base is that of an integer by its prefix. Zeros in front are none: 010 is 10, as in YAML 1.2, where 1.1 has 8.
func base(text string) int {
	if digits := strings.TrimLeft(text, "+-"); len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return 10
	}
	return 0
}

// parseFloat accepts what YAML calls a number and is finite.
func parseFloat(text string) (float64, bool) {
	text = strings.ReplaceAll(text, "_", "")
	if i, err := strconv.ParseInt(text, base(text), 64); err == nil {
		return float64(i), true
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// describe says what a node is, for "want X, got Y".
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool", "!!int", "!!float":
		return n.Value
	}
	text := []rune(n.Value)
	if len(text) > 40 {
		text = append(text[:37], []rune("...")...)
	}
	return fmt.Sprintf("the text %q", string(text))
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func prefix(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}
