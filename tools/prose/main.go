// Command prose reports how long the documents and their sentences are, and fails where
// they are longer than they may be, where a link or its anchor leads nowhere, and where a
// file of the repository names a document that is not there.
//
//	go run ./tools/prose        # totals, and what is wrong
//	go run ./tools/prose -v     # a line for each file, with its longest sentence
//
// Prose is paragraphs and items of lists, without code blocks, tables and headings. The
// guide is all of docs outside docs/evidence and docs/runs, and README.md. Of docs/runs (stored
// evidence, and the laboratory notes it came with) links are checked and words not counted.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// group is documents that are held to one total.
type group struct {
	name          string
	words         int // at most
	median, ninth int // words of sentences at most; 0: not held
	of            func(name string) bool
}

var groups = []group{
	{"README.md", 900, 18, 32, func(name string) bool { return name == "README.md" }},
	{"README.md, guide and reference", 22000, 18, 32, func(name string) bool {
		return name == "README.md" || strings.HasPrefix(name, "docs/") && !strings.HasPrefix(name, "docs/evidence/") && !strings.HasPrefix(name, "docs/runs/")
	}},
	{"evidence", 15000, 0, 0, func(name string) bool {
		return strings.HasPrefix(name, "docs/evidence/")
	}},
}

func main() {
	each := flag.Bool("v", false, "a line for each file")
	flag.Parse()
	faults, err := run(".", *each)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
	for _, fault := range faults {
		fmt.Fprintln(os.Stderr, "prose:", fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}

// run reports on the repository at root and returns what is wrong, one line each.
func run(root string, each bool) (faults []string, err error) {
	pages, mentions, err := open(root)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(pages))
	for name := range pages {
		names = append(names, name)
	}
	slices.Sort(names)
	if each {
		fmt.Println("  words  median  9th decile  longest")
		for _, name := range names {
			p := pages[name]
			s := slices.Sorted(slices.Values(p.sentences))
			fmt.Printf("%7d  %6d  %10d  %7d  %s\n", p.words(), quantile(s, 0.5), quantile(s, 0.9), quantile(s, 1), name)
		}
	}
	for _, g := range groups {
		var sentences []int
		total := 0
		for _, name := range names {
			if g.of(name) {
				sentences = append(sentences, pages[name].sentences...)
				total += pages[name].words()
			}
		}
		slices.Sort(sentences)
		median, ninth := quantile(sentences, 0.5), quantile(sentences, 0.9)
		fmt.Printf("prose: %s: %d words of at most %d; sentences have %d words in the median, %d at the ninth decile\n", g.name, total, g.words, median, ninth)
		if total > g.words {
			faults = append(faults, fmt.Sprintf("%s: %d words, at most %d", g.name, total, g.words))
		}
		if g.median > 0 && (median > g.median || ninth > g.ninth) {
			faults = append(faults, fmt.Sprintf("%s: sentences of %d words in the median and %d at the ninth decile, at most %d and %d", g.name, median, ninth, g.median, g.ninth))
		}
	}
	for _, name := range names {
		for _, l := range pages[name].links {
			if why := broken(root, pages, name, l.target); why != "" {
				faults = append(faults, fmt.Sprintf("%s:%d: link to %s: %s", name, l.line, l.target, why))
			}
		}
	}
	for _, m := range mentions {
		if _, err := os.Stat(filepath.Join(root, m.target)); err != nil {
			faults = append(faults, fmt.Sprintf("%s:%d: names %s, which is not there", m.name, m.line, m.target))
		}
	}
	return faults, nil
}

// broken says why a link of the file name leads nowhere, "" where it does not. What is
// outside of the repository is not asked for.
func broken(root string, pages map[string]*page, name, target string) string {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return ""
	}
	file, fragment, _ := strings.Cut(target, "#")
	to := name
	if file != "" {
		to = path.Join(path.Dir(name), file)
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
		return "no such file"
	}
	if p := pages[to]; fragment != "" && p != nil && !p.anchors[fragment] {
		return "no such heading"
	}
	return ""
}

// mention is the name of a document in a file that is no document.
type mention struct {
	name   string
	line   int
	target string
}

var document = regexp.MustCompile(`\bdocs/[A-Za-z0-9_/.-]*\.(md|svg|txt)\b`)

// kept reports that a text stays as it is, whatever became of the documents it names: what
// has been, and problems, whose bytes datasets and runs are known by.
func kept(name string) bool {
	return name == "CHANGELOG.md" || strings.HasPrefix(name, "docs/runs/specs/") || strings.HasPrefix(name, "pde/problems/") || strings.HasPrefix(name, "tools/prose/")
}

// open reads all Markdown files of the repository, and what its other texts say of documents.
func open(root string) (pages map[string]*page, mentions []mention, err error) {
	pages = map[string]*page{}
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			// Fixtures are as earlier versions wrote them; bin and runs are made, not kept.
			if base := entry.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || name == "bin" || name == "runs") {
				return filepath.SkipDir
			}
			return nil
		}
		ending := path.Ext(name)
		if !entry.Type().IsRegular() || !slices.Contains([]string{".md", ".go", ".yaml", ".sh", ".py"}, ending) && name != "Makefile" && !strings.HasPrefix(name, "tools/") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if ending == ".md" {
			pages[name] = read(string(text))
		}
		if !kept(name) {
			for i, line := range strings.Split(string(text), "\n") {
				for _, m := range document.FindAllStringIndex(line, -1) {
					if !strings.HasSuffix(line[:m[0]], "](") { // links are looked at as such
						mentions = append(mentions, mention{name, i + 1, line[m[0]:m[1]]})
					}
				}
			}
		}
		return nil
	})
	return pages, mentions, err
}
