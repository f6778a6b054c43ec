package config

import (
	"errors"
	"iter"
	"reflect"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

// An Unmarshaler decodes itself from a node. A *Mistake or Errors it returns is
// reported as it is, any other error at the position of the node.
type Unmarshaler interface {
	UnmarshalConfig(n Node) error
}

// A decoding is an Unmarshaler for types that users of the module see: decode stores the value in what it is
// given, a *Node too.
type decoding interface {
	UnmarshalConfig(decode func(dst any) error) error
}

// A Schemer is an Unmarshaler that knows the keys of a struct, for hints where a
// key belongs.
type Schemer interface {
	Schema() any // the struct
}

// A Node is a value in a document, for types that decode themselves.
type Node struct {
	doc  *Document
	n    *yaml.Node
	path string
	from *decoder // that came upon the node; nil for a document's root
}

// IsList reports whether the node is a sequence.
func (n Node) IsList() bool { return n.n.Kind == yaml.SequenceNode }

// IsMapping reports whether the node has keys and values.
func (n Node) IsMapping() bool { return n.n.Kind == yaml.MappingNode }

// Position returns where the node stands.
func (n Node) Position() Position { return n.doc.position(n.n) }

// Path returns the dotted path of the node in its document, "" for the root.
func (n Node) Path() string { return n.path }

// Errorf makes a Mistake at the node.
func (n Node) Errorf(format string, args ...any) *Mistake {
	return n.Position().Errorf(format, args...)
}

// Decode stores the node in dst, a non-nil pointer. The error is an [Errors].
func (n Node) Decode(dst any) error {
	v := reflect.ValueOf(dst).Elem()
	d := &decoder{doc: n.doc, schema: v.Type(), base: n.path}
	if n.from != nil {
		d.schema, d.base = n.from.schema, n.from.base
	}
	d.decode(n.n, v, n.path)
	return Join(d.problems...)
}

// Lookup returns the value of a key of a mapping.
func (n Node) Lookup(key string) (Node, bool) {
	if n.IsMapping() {
		if i := valueOf(n.n, key); i >= 0 {
			return Node{n.doc, n.n.Content[i], join(n.path, key), n.from}, true
		}
	}
	return Node{}, false
}

// Find returns the value at a dotted path of keys.
func (n Node) Find(path string) (_ Node, ok bool) {
	for key := range strings.SplitSeq(path, ".") {
		if n, ok = n.Lookup(key); !ok {
			break
		}
	}
	return n, ok
}

// Unique reports keys that a mapping, or one below it, has twice.
func (n Node) Unique() error {
	d := &decoder{doc: n.doc}
	var look func(n *yaml.Node)
	look = func(n *yaml.Node) {
		if n.Kind == yaml.MappingNode {
			d.keys(n, func(_, value *yaml.Node) { look(value) })
		}
	}
	look(n.n)
	return Join(d.problems...)
}

// Keys returns the keys of a mapping, in order.
func (n Node) Keys() (keys []string) {
	if n.n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.n.Content); i += 2 {
			keys = append(keys, n.n.Content[i].Value)
		}
	}
	return keys
}

// A Scalar is a number or a text, with its position: a constant that may be an
// expression, or an expression whose syntax errors want a caret.
type Scalar struct {
	Text   string // as written, without quotes
	Pos    Position
	quoted bool
	inner  bool // Text stands verbatim in one line at Pos
}

// Number returns the value if the scalar is written as a finite number and not
// in quotes.
func (s Scalar) Number() (float64, bool) {
	if s.quoted {
		return 0, false
	}
	return parseFloat(s.Text)
}

// String returns the text.
func (s Scalar) String() string { return s.Text }

// At returns the position of the character with the given offset in Text, or of
// the whole scalar if it is folded or escaped.
func (s Scalar) At(offset int) Position {
	p := s.Pos
	if s.inner && offset >= 0 && offset <= utf8.RuneCountInString(s.Text) {
		p.Column += offset
		if s.quoted {
			p.Column++
		}
		p.width = 1
	}
	return p
}

// UnmarshalConfig implements [Unmarshaler].
func (s *Scalar) UnmarshalConfig(n Node) error {
	if n.n.Kind != yaml.ScalarNode || isNull(n.n) || n.n.ShortTag() == "!!bool" {
		return n.Errorf("%swant a number or a text, got %s", prefix(n.path), describe(n.n))
	}
	if _, ok := parseFloat(n.n.Value); isNumber(n.n) && !ok {
		return n.Errorf("%swant a finite number, got %s", prefix(n.path), n.n.Value)
	}
	style := n.n.Style
	*s = Scalar{
		Text:   n.n.Value,
		Pos:    n.Position(),
		quoted: style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0,
	}
	if at := s.Pos; at.src != nil && at.Line >= 1 && at.Line <= len(at.src.lines) {
		line := []rune(at.src.lines[at.Line-1])
		from := at.Column - 1
		if s.quoted {
			from++
		}
		text := []rune(s.Text)
		s.inner = from >= 0 && from+len(text) <= len(line) && string(line[from:from+len(text)]) == s.Text
	}
	return nil
}

// A Map is a mapping with text keys that keeps the order of the file and where
// each entry stands. The zero value is empty and ready to use.
type Map[V any] struct {
	entries []Entry[V]
}

// An Entry is one key of a [Map].
type Entry[V any] struct {
	Key    string
	Value  V
	KeyPos Position // of the key
	Pos    Position // of the value
}

// Len returns the number of entries.
func (m Map[V]) Len() int { return len(m.entries) }

// Entries returns the entries in file order.
func (m Map[V]) Entries() []Entry[V] { return m.entries }

// Keys returns the keys in file order.
func (m Map[V]) Keys() []string {
	keys := make([]string, len(m.entries))
	for i, e := range m.entries {
		keys[i] = e.Key
	}
	return keys
}

// Get returns the value of a key.
func (m Map[V]) Get(key string) (V, bool) {
	e, ok := m.Entry(key)
	return e.Value, ok
}

// Entry returns the entry of a key.
func (m Map[V]) Entry(key string) (Entry[V], bool) {
	for _, e := range m.entries {
		if e.Key == key {
			return e, true
		}
	}
	return Entry[V]{}, false
}

// Set replaces the value of a key, or adds it at the end.
func (m *Map[V]) Set(key string, value V) {
	for i := range m.entries {
		if m.entries[i].Key == key {
			m.entries[i].Value = value
			return
		}
	}
	m.entries = append(m.entries, Entry[V]{Key: key, Value: value})
}

// All iterates over keys and values in file order.
func (m Map[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, e := range m.entries {
			if !yield(e.Key, e.Value) {
				return
			}
		}
	}
}

// UnmarshalConfig implements [Unmarshaler]. The former entries are dropped.
func (m *Map[V]) UnmarshalConfig(n Node) error {
	m.entries = nil
	if isNull(n.n) {
		return nil
	}
	if !n.IsMapping() {
		return n.Errorf("%swant a mapping (key: value), got %s", prefix(n.path), describe(n.n))
	}
	d := &decoder{doc: n.doc, schema: reflect.TypeFor[V]()}
	d.keys(n.n, func(key, value *yaml.Node) {
		e := Entry[V]{Key: key.Value, KeyPos: n.doc.position(key), Pos: n.doc.position(value)}
		d.decode(value, reflect.ValueOf(&e.Value).Elem(), join(n.path, key.Value))
		m.entries = append(m.entries, e)
	})
	return Join(d.problems...)
}

// collect adds err, found at n, to the problems.
func (d *decoder) collect(n *yaml.Node, path string, err error) {
	var many Errors
	var one *Mistake
	switch {
	case err == nil:
	case errors.As(err, &many):
		d.problems = append(d.problems, many...)
	case errors.As(err, &one):
		d.problems = append(d.problems, one)
	default:
		d.errorf(n, "%s%v", prefix(path), err)
	}
}
