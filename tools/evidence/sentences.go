package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A sentence is a piece of a document's prose with figures, as docs/runs/sentences/DOCUMENT.csv has it.
type sentence struct {
	text   string // with {FIGURE} for what stored runs say
	source string // of a sentence without {FIGURE}: what its figures are from
}

// sentencesOf is the file of the sentences of a document, by its path from the root: evidence-results.csv for docs/evidence/results.md.
func sentencesOf(root, document string) string {
	name := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSuffix(filepath.ToSlash(document), ".md"), "docs/"), "/", "-")
	return filepath.Join(root, "docs", "runs", "sentences", name+".csv")
}

// readSentences reads a file of columns text and source; of a document without one there are none.
func readSentences(name string) (out []sentence, err error) {
	lines, column, err := readLines(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, line := range lines {
		out = append(out, sentence{line[column["text"]], line[column["source"]]})
	}
	return out, err
}

var (
	// notProse is what has no figures of its own: computed tables, code, comments and the targets of links.
	notProse = regexp.MustCompile("(?s)<!-- table: .*?<!-- end -->|```.*?```|<!--.*?-->|`[^`\n]*`|\\]\\([^)\n]*\\)")
	// notTyped is what of a cell of a stored table is computed, code or the target of a link.
	notTyped = regexp.MustCompile("\\{[^}]*\\}|`[^`]*`|\\]\\([^)]*\\)")
	// measured is a number that somebody measured or chose: with a unit, or with decimals.
	measured = regexp.MustCompile(`\d[\d.,]*(?:×10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)? ?(?:%|[µmn]?s\b|h\b|seconds?\b|minutes?\b|hours?\b|times\b|[KkMG]i?B\b|bytes\b|points of\b)|\d+\.\d+`)
)

// checkSentences compares the prose of a document with its sentences, and tells what differs: a sentence that it does not have with the figures of
// the stored runs, one whose figures have no source, and figures that are in no sentence.
func checkSentences(root, document string) (wrong []string, err error) {
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		return nil, err
	}
	sentences, err := readSentences(sentencesOf(root, document))
	if err != nil {
		return nil, err
	}
	covered := make([]bool, len(text))
	for _, s := range sentences {
		made, err := expand(filepath.Join(root, "docs", "runs"), s.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sentencesOf(root, document), err)
		}
		if made == s.text && s.source == "" {
			wrong = append(wrong, fmt.Sprintf("no figure is computed and no source given: %s", s.text))
		}
		found := false
		for at := 0; ; {
			i := strings.Index(string(text[at:]), made)
			if i < 0 || made == "" {
				break
			}
			at, found = at+i+len(made), true
			for k := at - len(made); k < at; k++ {
				covered[k] = true
			}
		}
		if !found {
			wrong = append(wrong, fmt.Sprintf("the document does not say, as stored runs do: %s", made))
		}
	}
	prose := slices.Clone(text)
	for _, span := range notProse.FindAllIndex(text, -1) {
		for k := span[0]; k < span[1]; k++ {
			prose[k] = ' '
		}
	}
	for _, span := range measured.FindAllIndex(prose, -1) {
		if !covered[span[0]] || !covered[span[1]-1] {
			line := 1 + strings.Count(string(text[:span[0]]), "\n")
			before, after := max(0, span[0]-60), min(len(text), span[1]+40)
			wrong = append(wrong, fmt.Sprintf("line %d: %q is in no sentence: …%s…", line, prose[span[0]:span[1]], strings.ToValidUTF8(strings.ReplaceAll(string(text[before:after]), "\n", " "), "")))
		}
	}
	return wrong, nil
}
