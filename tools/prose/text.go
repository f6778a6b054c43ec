package main

import (
	"regexp"
	"slices"
	"strings"
)

// page is what a Markdown file has: its sentences in words, its links, and the anchors that links may end in.
type page struct {
	sentences []int // words of each, in order
	longest   string
	links     []link
	anchors   map[string]bool
}

type link struct {
	line   int
	target string
}

// words is the length of all sentences together.
func (p *page) words() int {
	sum := 0
	for _, n := range p.sentences {
		sum += n
	}
	return sum
}

var (
	codeSpan  = regexp.MustCompile("`[^`]*`")
	image     = regexp.MustCompile(`!\[[^\]]*\]\(([^)\s]+)\)`)
	hyperlink = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)
	anchor    = regexp.MustCompile(`<a name="([^"]+)"></a>`)
	item      = regexp.MustCompile(`^\s*([-*+]|\d+\.)\s+`)
	fence     = regexp.MustCompile("^\\s*(```|~~~)")
	stop      = regexp.MustCompile(`[.!?][)"*_\]]*(\s+|$)`)
	short     = regexp.MustCompile(`\b(e\.g|i\.e|et al|cf|vs|Fig|No|[A-Z])\.$`)
)

// read takes a Markdown text apart. Prose is paragraphs and items of lists: code blocks,
// tables, headings and pictures are none. Links count by their text, wherever they stand.
func read(text string) *page {
	p := &page{anchors: map[string]bool{}}
	var paragraph []string
	flush := func() {
		p.paragraph(strings.Join(paragraph, " "))
		paragraph = nil
	}
	fenced, blank := false, true
	for i, line := range strings.Split(text, "\n") {
		if fence.MatchString(line) {
			flush()
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		if indented && blank && !item.MatchString(line) {
			continue // a block of code, which goes on until a line that is not indented
		}
		line = p.takeLinks(i+1, line)
		trimmed := strings.TrimSpace(line)
		blank = trimmed == ""
		switch {
		case blank, strings.HasPrefix(trimmed, "|"):
			flush()
		case strings.HasPrefix(trimmed, "#"):
			flush()
			p.heading(trimmed)
		case item.MatchString(line):
			flush()
			paragraph = append(paragraph, item.ReplaceAllString(line, ""))
		default:
			paragraph = append(paragraph, trimmed)
		}
	}
	flush()
	return p
}

// takeLinks notes the links and anchors of a line and returns it without them.
func (p *page) takeLinks(number int, line string) string {
	for _, m := range anchor.FindAllStringSubmatch(line, -1) {
		p.anchors[m[1]] = true
	}
	line = anchor.ReplaceAllString(line, "")
	for _, m := range image.FindAllStringSubmatch(line, -1) {
		p.links = append(p.links, link{number, m[1]})
	}
	line = image.ReplaceAllString(line, "")
	for _, m := range hyperlink.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, "code"), -1) {
		p.links = append(p.links, link{number, m[2]})
	}
	return hyperlink.ReplaceAllString(line, "$1")
}

// heading adds the anchor that a heading gets on GitHub: its letters, digits, hyphens and
// underscores in lower case, with hyphens for spaces, and a number from the second one on.
func (p *page) heading(line string) {
	var slug strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#"))) {
		switch {
		case r == ' ':
			slug.WriteByte('-')
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127 && !strings.ContainsRune("×²–—’“”…", r):
			slug.WriteRune(r)
		}
	}
	name := slug.String()
	for n := 1; p.anchors[name]; n++ {
		name = slug.String() + "-" + string(rune('0'+n))
	}
	p.anchors[name] = true
}

// paragraph counts the words of each sentence. A stop ends one where white space follows it,
// but for stops in code and after abbreviations.
func (p *page) paragraph(text string) {
	text = codeSpan.ReplaceAllStringFunc(text, func(code string) string {
		return strings.NewReplacer(".", "·", "!", "·", "?", "·").Replace(code)
	})
	begin := 0
	add := func(end int) {
		sentence := strings.TrimSpace(text[begin:end])
		begin = end
		n := 0
		for word := range strings.FieldsSeq(sentence) {
			if strings.ContainsFunc(word, func(r rune) bool { return r != '|' && r != '-' && r != '*' }) {
				n++
			}
		}
		if n == 0 {
			return
		}
		if len(p.sentences) == 0 || n > slices.Max(p.sentences) {
			p.longest = sentence
		}
		p.sentences = append(p.sentences, n)
	}
	for _, m := range stop.FindAllStringIndex(text, -1) {
		if !short.MatchString(text[:m[0]+1]) {
			add(m[1])
		}
	}
	add(len(text))
}

// quantile is the smallest number that a share q of the sorted ones does not exceed.
func quantile(sorted []int, q float64) int {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
