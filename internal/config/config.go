// Package config reads and writes the YAML files of pihc: experiment specs and
// PDE files. It is strict and it is helpful: every unknown key and every value
// of a wrong type in a file is reported in one go, each with file, line and
// column, the source line, a caret and, where one is near, the right key.
//
// A file is decoded into Go structs with yaml tags:
//
//	type Network struct {
//		Width int             `yaml:"width" config:"required"`
//		Modes []int           `yaml:"modes,flow"`
//		Pos   config.Position `yaml:"-"`
//	}
//	var n Network
//	err := config.Decode("spec.yaml", src, &n, "width=64")
//
// Rules of decoding:
//
//   - Keys absent from the file leave the destination as it is, so defaults are
//     set beforehand; config:"required" makes absence an error. Structs are
//     merged; slices and maps are replaced as a whole.
//   - A field takes the key of its yaml tag, or its name in lower case;
//     "-" is never read; ",inline" lifts the keys of a nested struct.
//   - A tag want says which values a file may have, in the words of the error: of an integer
//     "at least 1"; of a number "a positive number", "zero or a positive number" or
//     "a number in [0, 1)"; of a text those there are, as in "mean, none". Of a pointer, a
//     list or a map it is about what is in it.
//   - Numbers are finite. An integer may be written 4e3 when it is exact. Text
//     may be written as a bare number, but not as true, false or null.
//   - A field of type [Position] receives the place of the struct's mapping.
//   - [Map] keeps the order of its keys and the position of each; [Scalar] is a
//     number or a text with its position.
//   - A type may decode itself by [Unmarshaler] or encoding.TextUnmarshaler.
//   - Anchors with aliases, duplicate keys and second documents are errors.
//
// Values that are well formed but make no sense are reported by the owner of the
// struct with [Position.Errorf] or [Document.Errorf], in the same shape.
package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

// Encode returns v as YAML: two spaces of indentation, no line wrapping.
func Encode(v any) ([]byte, error) {
	out, err := yaml.Dump(v, yaml.WithIndent(2), yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble))
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return out, nil
}

// A Document is a parsed YAML file that still knows where everything stands.
type Document struct {
	src     *source
	root    *yaml.Node
	grafted map[*yaml.Node]*source // nodes that came from an override
}

// Parse parses one YAML document. An empty one is an empty mapping. name is
// for messages. The error is an [Errors].
func Parse(name string, src []byte) (*Document, error) {
	s := newSource(name, src)
	root, err := parse(s, src)
	if err != nil {
		return nil, err
	}
	if root == nil {
		root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	return &Document{src: s, root: root}, nil
}

// maxFile is the most bytes of a file: those that people write have some thousand, and parsed they take 75 times as many.
const maxFile = 4 << 20

// parse returns the content node of the only document in src, nil if there is
// none, and syntax errors as Errors.
func parse(s *source, src []byte) (*yaml.Node, error) {
	if len(src) > maxFile {
		return nil, Errors{Position{src: s}.Errorf("it has more than %d MiB, which no spec or PDE file has", maxFile>>20)}
	}
	for i, line := range s.lines {
		if at := strings.IndexFunc(line, invalidRune); at >= 0 || !utf8.ValidString(line) {
			column := 1
			if at >= 0 {
				column = utf8.RuneCountInString(line[:at]) + 1
			}
			return nil, Errors{Position{s, i + 1, column, 1}.Errorf("not valid UTF-8 text")}
		}
	}
	var documents []yaml.Node
	if err := yaml.Load(src, &documents, yaml.WithAllDocuments()); err != nil {
		return nil, Errors{syntaxProblem(s, err)}
	}
	if len(documents) == 0 {
		return nil, nil
	}
	if len(documents) > 1 {
		return nil, Errors{s.at(&documents[1]).Errorf("a second document starts here").
			WithHint("keep one document to a file, without --- between parts")}
	}
	n := &documents[0]
	if n.Kind == yaml.DocumentNode {
		if len(n.Content) == 0 {
			return nil, nil
		}
		n = n.Content[0]
	}
	if isNull(n) && n.Value == "" {
		return nil, nil
	}
	return n, nil
}

func invalidRune(r rune) bool { return r == utf8.RuneError }

func syntaxProblem(s *source, err error) *Mistake {
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return Position{src: s}.Errorf("not valid YAML: %v", err)
	}
	// The parser reports what is unfinished after the last line.
	at, last := Position{s, load.Mark.Line, load.Mark.Column, 1}, len(s.lines)
	for last > 1 && strings.TrimSpace(s.lines[last-1]) == "" {
		last--
	}
	if at.Line > last {
		at.Line, at.Column = last, utf8.RuneCountInString(s.lines[last-1])+1
	}
	p := at.Errorf("not valid YAML: %s", load.Message)
	switch {
	case strings.Contains(load.Message, "cannot start any token"):
		p.Hint = "indent with spaces, not tabs, and quote text that starts with a special character"
	case strings.Contains(load.Message, "mapping values are not allowed"):
		p.Hint = "quote text that contains a colon, and check the indentation"
	case load.ContextMark.Line > 0 && load.ContextMark.Line != load.Mark.Line:
		p.Hint = fmt.Sprintf("%s that starts in line %d", load.ContextMsg, load.ContextMark.Line)
	}
	return p
}

// Decode stores the document in dst, a non-nil pointer. The error is an
// [Errors] with everything that is wrong.
func (d *Document) Decode(dst any) error { return d.Root().Decode(dst) }

// Root returns the top node.
func (d *Document) Root() Node { return Node{d, d.root, "", nil} }

// Encode returns the document as YAML, comments kept.
func (d *Document) Encode() ([]byte, error) { return Encode(d.root) }

// Take removes the value at a dotted path, with its key, and returns it.
func (d *Document) Take(path string) (Node, bool) {
	n, ok := d.Root().Find(path)
	if ok {
		parent := d.root
		if dot := strings.LastIndexByte(path, '.'); dot > 0 {
			mapping, _ := d.Root().Find(path[:dot])
			parent = mapping.n
		}
		i := slices.Index(parent.Content, n.n)
		parent.Content = slices.Delete(parent.Content, i-1, i+1)
	}
	return n, ok
}

// Merge lays a node of the document, a mapping, over the document's own: a key that
// both have as mappings is merged in the same way, another is replaced.
func (d *Document) Merge(n Node) { merge(d.root, n.n) }

func merge(to, from *yaml.Node) {
	for i := 0; i+1 < len(from.Content); i += 2 {
		key, value := from.Content[i], from.Content[i+1]
		at := valueOf(to, key.Value)
		switch {
		case at < 0:
			to.Style &^= yaml.FlowStyle
			to.Content = append(to.Content, key, value)
		case value.Kind == yaml.MappingNode && to.Content[at].Kind == yaml.MappingNode:
			merge(to.Content[at], value)
		default:
			to.Content[at] = value
		}
	}
}

// valueOf is where the value of a key stands in a mapping's content, -1 if it has none.
func valueOf(mapping *yaml.Node, key string) int {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return i + 1
		}
	}
	return -1
}

func (d *Document) position(n *yaml.Node) Position {
	if s, ok := d.grafted[n]; ok {
		return s.at(n)
	}
	return d.src.at(n)
}

// At returns the position of the value at a dotted path, or of the nearest
// enclosing key that exists; for the document as a whole it names the file only.
func (d *Document) At(path string) Position {
	n, at := d.root, Position{src: d.src}
	for segment := range strings.SplitSeq(path, ".") {
		var next *yaml.Node
		switch n.Kind {
		case yaml.MappingNode:
			if i := valueOf(n, segment); i >= 0 {
				next = n.Content[i]
				at = d.position(next)
				if next.Kind != yaml.ScalarNode || next.Value == "" || next.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
					at = d.position(n.Content[i-1])
				}
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(segment); err == nil && i >= 0 && i < len(n.Content) {
				next = n.Content[i]
				at = d.position(next)
			}
		}
		if next == nil {
			return at
		}
		n = next
	}
	return at
}

// Errorf reports a value that is well formed but makes no sense, at a dotted path.
func (d *Document) Errorf(path, format string, args ...any) *Mistake {
	return d.At(path).Errorf(format, args...)
}
