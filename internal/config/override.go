package config

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

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
