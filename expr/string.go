package expr

import (
	"strconv"
	"strings"
)

// String writes e so that Parse reads back the same tree, with no more
// parentheses than that needs. A text longer than Parse reads ends early, in "...", which Parse refuses:
// shared parts are written wherever they stand.
func (e *Expr) String() string {
	var b strings.Builder
	e.write(&b, levelCompare)
	if b.Len() > maxSource {
		return strings.ToValidUTF8(b.String()[:maxSource], "") + "..."
	}
	return b.String()
}

// level returns how tightly the text of e holds together.
func (e *Expr) level() int {
	if e.op == opConst && (e.val < 0 || 1/e.val < 0) {
		return levelUnary // its text starts with a minus
	}
	return ops[e.op].level
}

// write writes e, in parentheses if it binds weaker than least.
func (e *Expr) write(b *strings.Builder, least int) {
	if b.Len() > maxSource {
		return
	}
	if e.level() < least {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	info := ops[e.op]
	switch {
	case e.op == opConst:
		b.WriteString(strconv.FormatFloat(e.val, 'g', -1, 64))
	case e.op == opVar:
		b.WriteString(e.name)
	case e.op >= opWhere:
		b.WriteString(info.text)
		b.WriteByte('(')
		for i, a := range e.args {
			if i > 0 {
				b.WriteString(", ")
			}
			a.write(b, levelCompare)
		}
		b.WriteByte(')')
	case e.op == opNeg:
		b.WriteByte('-')
		e.args[0].write(b, levelUnary)
	case e.op == opPow:
		e.args[0].write(b, levelAtom)
		b.WriteByte('^')
		e.args[1].write(b, levelUnary)
	case info.level == levelCompare:
		e.infix(b, " "+info.text+" ", levelSum, levelSum)
	case info.level == levelSum:
		e.infix(b, " "+info.text+" ", levelSum, levelProduct)
	default:
		e.infix(b, info.text, levelProduct, levelUnary)
	}
}

func (e *Expr) infix(b *strings.Builder, text string, left, right int) {
	e.args[0].write(b, left)
	b.WriteString(text)
	e.args[1].write(b, right)
}
