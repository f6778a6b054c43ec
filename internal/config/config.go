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
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
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

// Set returns src with one override applied, comments kept, and everything else too where
// one word takes the place of another or joins a mapping whose last value is a word.
func Set(src []byte, override string) ([]byte, error) {
	d, err := Parse("", src)
	if err != nil {
		return nil, err
	}
	e, err := d.override(override)
	if err != nil {
		return nil, err
	}
	if !isWord(e.at) || !isWord(e.value) {
		return d.Encode()
	}
	lines := strings.SplitAfter(string(src), "\n")
	line := []rune(lines[e.at.Line-1])
	column := min(e.at.Column-1, len(line))
	before, rest := string(line[:column]), string(line[column:])
	after, ok := strings.CutPrefix(rest, e.at.Value)
	switch {
	case !ok:
		return d.Encode()
	case e.key == "":
		lines[e.at.Line-1] = before + e.value.Value + after
	case e.flow:
		lines[e.at.Line-1] = before + e.at.Value + ", " + e.key + ": " + e.value.Value + after
	default:
		added := strings.Repeat(" ", e.indent) + e.key + ": " + e.value.Value + "\n"
		lines[e.at.Line-1] = strings.TrimSuffix(string(line), "\n") + "\n" + added
	}
	return []byte(strings.Join(lines, "")), nil
}

// isWord reports whether a node is letters, digits, dots and signs without quotes.
func isWord(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Anchor == "" && n.Value != "" && !strings.ContainsFunc(n.Value, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.+-", r)
	})
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

// parse returns the content node of the only document in src, nil if there is
// none, and syntax errors as Errors.
func parse(s *source, src []byte) (*yaml.Node, error) {
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

// overrideName stands for a file name in messages about overrides.
const overrideName = "--set"

// Override sets one value: "a.b=c" replaces or adds key b of mapping a, and a
// number names an element of a list, as in "axes.0=c". The value is YAML, so
// [8, 8], true and "quoted text" mean what they mean in the file. Errors in the
// new value are reported by Decode as coming from --set.
func (d *Document) Override(assignment string) error {
	_, err := d.override(assignment)
	return err
}

// An edit is what an override does to the text: value takes the place of at, or, if key is
// not empty, comes with it after at, the last value of a mapping.
type edit struct {
	at, value *yaml.Node
	key       string
	flow      bool // the mapping is one in braces
	indent    int  // of its keys, otherwise
}

// override also returns what it did.
func (d *Document) override(assignment string) (e edit, err error) {
	s := newSource(overrideName, []byte(assignment))
	path, value, ok := strings.Cut(assignment, "=")
	if !ok || path == "" {
		return e, badKey(Position{s, 1, 1, max(1, utf8.RuneCountInString(assignment))}.Errorf("not of the form key=value").
			WithHint(`write, for example, --set network.width=64`))
	}
	// Blank out the path, so that the positions of the value are those in s.
	blank := strings.Repeat(" ", utf8.RuneCountInString(path)+1)
	node, err := parse(s, []byte(blank+value))
	if err != nil {
		return e, err
	}
	if node == nil {
		node = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: 1, Column: utf8.RuneCountInString(assignment) + 1}
	}
	parent, column := d.root, 1
	segments := strings.Split(path, ".")
	for i, segment := range segments {
		at := Position{s, 1, column, max(1, utf8.RuneCountInString(segment))}
		if n := len(parent.Content); parent.Kind == yaml.MappingNode && n > 0 && i == len(segments)-1 && valueOf(parent, segment) < 0 {
			e = edit{at: parent.Content[n-1], key: segment, flow: parent.Style&yaml.FlowStyle != 0, indent: parent.Content[n-2].Column - 1}
		}
		slot, err := d.slot(parent, segment, at)
		if err != nil {
			return e, err
		}
		if i == len(segments)-1 {
			e.at, e.value, *slot = cmp.Or(e.at, *slot), node, node
			break
		}
		if isNull(*slot) {
			*slot = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: column}
			d.graft(*slot, s)
		}
		parent = *slot
		column += utf8.RuneCountInString(segment) + 1
	}
	d.graft(node, s)
	return e, nil
}

// Take removes the value at a dotted path, with its key, and returns it.
func (d *Document) Take(path string) (Node, bool) {
	n := d.Root()
	var parent *yaml.Node
	for key := range strings.SplitSeq(path, ".") {
		parent = n.n
		var ok bool
		if n, ok = n.Lookup(key); !ok {
			return Node{}, false
		}
	}
	i := slices.Index(parent.Content, n.n)
	parent.Content = slices.Delete(parent.Content, i-1, i+1)
	return n, true
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

// slot returns where the child of parent named by segment is kept, making a
// new key if a mapping lacks it.
func (d *Document) slot(parent *yaml.Node, segment string, at Position) (**yaml.Node, error) {
	if segment == "" {
		return nil, badKey(at.Errorf("empty key between dots"))
	}
	switch parent.Kind {
	case yaml.MappingNode:
		if i := valueOf(parent, segment); i >= 0 {
			return &parent.Content[i], nil
		}
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: segment, Line: at.Line, Column: at.Column}
		d.graft(key, at.src)
		parent.Style &^= yaml.FlowStyle
		parent.Content = append(parent.Content, key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"})
		return &parent.Content[len(parent.Content)-1], nil
	case yaml.SequenceNode:
		i, err := strconv.Atoi(segment)
		if err != nil || i < 0 || i >= len(parent.Content) {
			return nil, badKey(at.Errorf("no element %q: the list has %d, counted from 0", segment, len(parent.Content)))
		}
		return &parent.Content[i], nil
	}
	return nil, badKey(at.Errorf("%q cannot be set inside %s", segment, describe(parent)))
}

func badKey(p *Mistake) error {
	p.key = true
	return Errors{p}
}

func (d *Document) graft(n *yaml.Node, s *source) {
	if d.grafted == nil {
		d.grafted = map[*yaml.Node]*source{}
	}
	d.grafted[n] = s
	for _, c := range n.Content {
		d.graft(c, s)
	}
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
