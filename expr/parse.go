package expr

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SyntaxError says what is wrong with the text of an expression, and where.
type SyntaxError struct {
	Src  string // the whole text; empty if the expression was not parsed from one
	Pos  int    // rune column in Src, from 0
	Msg  string // what is wrong
	Hint string // what to write instead; may be empty
}

// Error returns one line, without the hint.
func (e *SyntaxError) Error() string {
	if e.Src == "" {
		return e.Msg
	}
	src := []rune(e.Src)
	if len(src) > maxShown {
		at := max(0, min(e.Pos, len(src))-maxShown/2)
		src = src[at:min(at+maxShown, len(src))]
	}
	return fmt.Sprintf("expression %q, column %d: %s", string(src), e.Pos+1, e.Msg)
}

// maxShown is the number of runes of a long expression that a message shows,
// those around the place.
const maxShown = 120

// Limits on what Parse reads. They keep recursion shallow; no PDE is near.
const (
	maxSource = 1 << 16 // bytes
	maxDepth  = 500     // parentheses, signs and exponents inside each other
)

// Parse reads an expression:
//
//	numbers         1, 0.5, 2e-3
//	names           letters, digits and _, not starting with a digit
//	+ - * / ^       ^ is right-associative and binds tighter than unary minus:
//	                -x^2 is -(x^2), and 2^-x is allowed
//	< <= > >= == != 0 or 1; not chained
//	where(c, a, b)  a where c is not 0, else b
//	min max         of two arguments
//	abs exp log sqrt sin cos tanh sinh cosh sign floor
//
// The tree is kept as written. The error is a *SyntaxError.
func Parse(src string) (*Expr, error) {
	p := &parser{src: src}
	if len(src) > maxSource {
		return nil, p.errorAt(0, fmt.Sprintf("longer than %d bytes", maxSource), "")
	}
	if i := invalidUTF8(src); i >= 0 {
		return nil, p.errorAt(i, "not valid UTF-8", "")
	}
	p.next()
	e, err := p.comparison()
	if err == nil && p.tok.kind != tokenEnd {
		err = p.unexpected("an operator or the end")
	}
	if err == nil && p.bad != nil {
		err = p.bad
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenNumber
	tokenName
	tokenSymbol
	tokenBad
)

type token struct {
	kind tokenKind
	text string
	pos  int // byte offset
}

type parser struct {
	src   string
	at    int // byte offset after tok
	tok   token
	depth int
	bad   error // of a tokenBad

	names, runes int // bytes before the last name, and runes
}

func invalidUTF8(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}

// errorAt makes the error for a byte offset.
func (p *parser) errorAt(offset int, msg, hint string) error {
	return &SyntaxError{Src: p.src, Pos: utf8.RuneCountInString(p.src[:offset]), Msg: msg, Hint: hint}
}

func (p *parser) unexpected(want string) error {
	if p.tok.kind == tokenBad {
		return p.bad
	}
	found := "the end"
	if p.tok.kind != tokenEnd {
		found = strconv.Quote(p.tok.text)
	}
	hint := ""
	switch {
	case p.tok.kind == tokenName || p.tok.kind == tokenNumber || p.tok.text == "(":
		if strings.HasPrefix(want, "an operator") {
			hint = "a product is written with *"
		}
	case p.tok.text == "=":
		hint = "an expression of rows is what shall be zero: a - (b) for a = b; a comparison is written =="
	case p.tok.text == ",":
		hint = "numbers are written with a point, and only functions take commas"
	case p.tok.text == ")":
		hint = "check the parentheses"
	}
	return p.errorAt(p.tok.pos, fmt.Sprintf("found %s, want %s", found, want), hint)
}

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func isNamePart(r rune) bool {
	return isNameStart(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// reserved reports whether the name of a function can be no variable. Functions
// that came later can: files that use their names stay as they are.
func reserved(o op) bool { return o < opSinh }

// next reads the token after tok.
func (p *parser) next() {
	for p.at < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.at]) >= 0 {
		p.at++
	}
	rest := p.src[p.at:]
	p.tok = token{kind: tokenEnd, pos: p.at}
	if rest == "" {
		return
	}
	r, size := utf8.DecodeRuneInString(rest)
	n := size
	switch {
	case isNameStart(r):
		p.tok.kind = tokenName
		if i := strings.IndexFunc(rest, func(r rune) bool { return !isNamePart(r) }); i >= 0 {
			n = i
		} else {
			n = len(rest)
		}
	case digit(rest, 0) || r == '.' && digit(rest, 1):
		p.tok.kind = tokenNumber
		n = numberLength(rest)
	default:
		p.tok.kind = tokenSymbol
		if len(rest) > 1 && rest[1] == '=' && strings.IndexByte("<>=!", rest[0]) >= 0 {
			n = 2
		} else if strings.HasPrefix(rest, "**") {
			p.fail("** is not an operator", "a power is written ^", 2)
			return
		} else if strings.HasPrefix(rest, "&&") || strings.HasPrefix(rest, "||") || r == '!' || r == '?' {
			p.fail(strconv.Quote(rest[:1])+" is not an operator", "combine conditions with where(c, a, b), min and max", 1)
			return
		} else if !strings.ContainsRune("+-*/^<>=(),", r) {
			p.fail(fmt.Sprintf("unexpected character %q", r), "", size)
			return
		}
	}
	p.tok.text = rest[:n]
	p.at += n
}

func (p *parser) fail(msg, hint string, size int) {
	if p.bad == nil {
		p.bad = p.errorAt(p.at, msg, hint)
	}
	p.tok = token{kind: tokenBad, text: p.src[p.at : p.at+size], pos: p.at}
	p.at += size
}

func digit(s string, i int) bool { return i < len(s) && '0' <= s[i] && s[i] <= '9' }

// numberLength returns the length of the number s starts with: digits with at
// most one point, then an exponent if it is complete.
func numberLength(s string) int {
	i := 0
	for digit(s, i) {
		i++
	}
	if i < len(s) && s[i] == '.' {
		i++
		for digit(s, i) {
			i++
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if digit(s, j) {
			for digit(s, j) {
				j++
			}
			i = j
		}
	}
	return i
}

func (p *parser) isSymbol(s string) bool { return p.tok.kind == tokenSymbol && p.tok.text == s }

// binary returns the operation of the current token if it is a binary operator
// of the given level.
func (p *parser) binary(level int) (op, bool) {
	if p.tok.kind == tokenSymbol {
		for o := opAdd; o <= opNotEqual; o++ {
			if ops[o].arity == 2 && ops[o].level == level && ops[o].text == p.tok.text {
				return o, true
			}
		}
	}
	return 0, false
}

func (p *parser) comparison() (*Expr, error) {
	x, err := p.sum()
	if err != nil {
		return nil, err
	}
	o, ok := p.binary(levelCompare)
	if !ok {
		return x, nil
	}
	p.next()
	y, err := p.sum()
	if err != nil {
		return nil, err
	}
	if _, ok := p.binary(levelCompare); ok {
		return nil, p.errorAt(p.tok.pos, "comparisons do not chain", "write where(a < b, b < c, 0)")
	}
	return node(o, x, y), nil
}

func (p *parser) sum() (*Expr, error) { return p.leftAssociative(levelSum, p.product) }

func (p *parser) product() (*Expr, error) { return p.leftAssociative(levelProduct, p.unary) }

func (p *parser) leftAssociative(level int, operand func() (*Expr, error)) (*Expr, error) {
	x, err := operand()
	if err != nil {
		return nil, err
	}
	for {
		o, ok := p.binary(level)
		if !ok {
			return x, nil
		}
		p.next()
		y, err := operand()
		if err != nil {
			return nil, err
		}
		x = node(o, x, y)
	}
}

// unary reads signs; every recursion of the parser passes through it.
func (p *parser) unary() (*Expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.errorAt(p.tok.pos, fmt.Sprintf("nested more than %d deep", maxDepth), "")
	}
	defer func() { p.depth-- }()
	switch {
	case p.isSymbol("-"):
		p.next()
		x, err := p.unary()
		if err != nil {
			return nil, err
		}
		return node(opNeg, x), nil
	case p.isSymbol("+"):
		p.next()
		return p.unary()
	}
	x, err := p.atom()
	if err != nil || !p.isSymbol("^") {
		return x, err
	}
	p.next()
	y, err := p.unary()
	if err != nil {
		return nil, err
	}
	return node(opPow, x, y), nil
}

func (p *parser) atom() (*Expr, error) {
	t := p.tok
	switch {
	case t.kind == tokenNumber:
		v, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			return nil, p.errorAt(t.pos, fmt.Sprintf("number %s is out of range", t.text), "")
		}
		p.next()
		return Const(v), nil
	case t.kind == tokenName:
		p.next()
		if p.isSymbol("(") {
			return p.call(t)
		}
		if o, ok := functions[t.text]; ok && reserved(o) {
			return nil, p.errorAt(t.pos, fmt.Sprintf("function %s needs its arguments", t.text), usage(o))
		}
		p.runes += utf8.RuneCountInString(p.src[p.names:t.pos])
		p.names = t.pos
		return variable(t.text, p.src, p.runes), nil
	case p.isSymbol("("):
		p.next()
		x, err := p.comparison()
		if err != nil {
			return nil, err
		}
		if !p.isSymbol(")") {
			return nil, p.unexpected("an operator or )")
		}
		p.next()
		return x, nil
	}
	return nil, p.unexpected("a number, a name or (")
}

// call reads the arguments of the function named by t.
func (p *parser) call(t token) (*Expr, error) {
	o, ok := functions[t.text]
	if !ok {
		names := slices.Sorted(maps.Keys(functions))
		hint := nearest(t.text, names)
		if hint == "" {
			hint = "a product is written with *; the functions are " + strings.Join(names, ", ")
		}
		return nil, p.errorAt(t.pos, fmt.Sprintf("unknown function %s", t.text), hint)
	}
	p.next()
	var args []*Expr
	for !p.isSymbol(")") {
		if len(args) > 0 {
			if !p.isSymbol(",") {
				return nil, p.unexpected("an operator, a comma or )")
			}
			p.next()
		}
		x, err := p.comparison()
		if err != nil {
			return nil, err
		}
		args = append(args, x)
	}
	if len(args) != ops[o].arity {
		return nil, p.errorAt(t.pos, fmt.Sprintf("%s has %d arguments", t.text, len(args)), usage(o))
	}
	p.next()
	return node(o, args...), nil
}
