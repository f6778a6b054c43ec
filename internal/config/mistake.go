package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"
)

// source is a text that positions refer to.
type source struct {
	name  string
	lines []string
}

func newSource(name string, src []byte) *source {
	return &source{name, strings.Split(lineBreaks.Replace(string(src)), "\n")}
}

// lineBreaks turns everything the YAML parser counts as a line break into one.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// at returns the position of a node, as wide as a one-line scalar is.
func (s *source) at(n *yaml.Node) Position {
	p := Position{s, n.Line, n.Column, 1}
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && !strings.Contains(n.Value, "\n") {
		p.width = max(1, utf8.RuneCountInString(n.Value))
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
			p.width += 2
		}
	}
	return p
}

// A Position is a place in a source. The zero value is "nowhere".
type Position struct {
	src          *source
	Line, Column int // counted from 1, in characters; 0 if unknown
	width        int // characters to underline
}

// String returns file:line:column, as far as each is known.
func (p Position) String() string {
	s := ""
	if p.src != nil {
		s = p.src.name
	}
	if p.Line > 0 {
		s += fmt.Sprintf(":%d", p.Line)
		if p.Column > 0 {
			s += fmt.Sprintf(":%d", p.Column)
		}
	}
	return strings.TrimPrefix(s, ":")
}

// Errorf makes a Mistake at p.
func (p Position) Errorf(format string, args ...any) *Mistake {
	problem := &Mistake{Pos: p, Message: fmt.Sprintf(format, args...)}
	if p.src != nil && p.Line > 0 && p.Line <= len(p.src.lines) {
		problem.Source = p.src.lines[p.Line-1]
	}
	return problem
}

// A Mistake is one thing that is wrong at one place.
type Mistake struct {
	Pos     Position
	Message string // what is wrong, lower case, no final period
	Hint    string // how to put it right; may be empty
	Source  string // the source line; may be empty
	key     bool   // the key is wrong, not its value
}

// BadKey reports whether the key of an override is unknown or malformed, rather
// than its value: a mistake of the command line.
func (p *Mistake) BadKey() bool { return p.key && p.Pos.src != nil && p.Pos.src.name == overrideName }

// OfKey says that the key is wrong, not its value, and returns p.
func (p *Mistake) OfKey() *Mistake {
	p.key = true
	return p
}

// WithHint sets the hint and returns p.
func (p *Mistake) WithHint(format string, args ...any) *Mistake {
	p.Hint = fmt.Sprintf(format, args...)
	return p
}

// Line returns position and message in one line.
func (p *Mistake) Line() string {
	if at := p.Pos.String(); at != "" {
		return at + ": " + p.Message
	}
	return p.Message
}

// Error returns position and message, the source line with a caret under the
// place, and the hint.
func (p *Mistake) Error() string {
	var b strings.Builder
	b.WriteString(p.Line())
	if strings.TrimSpace(p.Source) != "" {
		line, column, width := clip(p.Source, p.Pos.Column-1, p.Pos.width)
		gutter := strconv.Itoa(p.Pos.Line)
		fmt.Fprintf(&b, "\n  %s | %s", gutter, line)
		if column >= 0 {
			fmt.Fprintf(&b, "\n  %*s | %*s%s", len(gutter), "", column, "", strings.Repeat("^", width))
		}
	}
	if p.Hint != "" {
		b.WriteString("\nhint: " + p.Hint)
	}
	return b.String()
}

// clip prepares a source line for display: tabs and control characters become
// spaces and an overlong line is cut around the place. It returns the line, the
// offset of the caret (-1 for none) and its width.
func clip(line string, column, width int) (string, int, int) {
	const widest = 100
	runes := []rune(strings.TrimRight(line, " \t\r"))
	for i, r := range runes {
		if r < ' ' || r == 0x7f {
			runes[i] = ' '
		}
	}
	if column < 0 || column > len(runes) {
		column = -1
	}
	start := 0
	if column > widest*3/4 {
		start = column - widest/4
	}
	end := min(len(runes), start+widest)
	text := string(runes[start:end])
	if column < 0 {
		return text, -1, 0
	}
	width = max(1, min(width, end-column))
	column -= start
	if start > 0 {
		text, column = "... "+text, column+4
	}
	if end < len(runes) {
		text += " ..."
	}
	return text, column, width
}

// Errors is everything found wrong in a source, in the order of the text.
// errors.As finds the single *[Mistake]s through Unwrap.
type Errors []*Mistake

// mostShown is how many mistakes an error says at length.
const mostShown = 10

// Error returns the problems, one after the other; of many the first ten, and how many more there are.
func (e Errors) Error() string {
	var parts []string
	for i, p := range e {
		if more := len(e) - i; i == mostShown && more > 1 {
			parts = append(parts, fmt.Sprintf("and %d more", more))
			break
		}
		parts = append(parts, p.Error())
	}
	return strings.Join(parts, "\n")
}

// Unwrap returns the problems.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, p := range e {
		out[i] = p
	}
	return out
}

// Join collects problems for a caller that validates: nil ones are dropped, and
// the result is nil if nothing is left.
func Join(problems ...*Mistake) error {
	var out Errors
	for _, p := range problems {
		if p != nil {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
