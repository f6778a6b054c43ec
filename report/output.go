package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"pihc/internal/disk"
	"pihc/internal/words"
)

// pageHeads are how the pages of templates begin, and pageEnd how they end: what a file is recognised by.
var pageHeads = [][]byte{pageHead("page.html.tmpl"), pageHead("study.html.tmpl")}

const pageEnd = "</html>"

// pageHead is the text of a template from the type of the document to the first title.
func pageHead(template string) []byte {
	text := asset(template)
	head, _, titled := strings.Cut(text[strings.Index(text, "<!DOCTYPE html>"):], "<title>")
	if !titled || !strings.HasSuffix(strings.TrimSpace(head), `<meta name="generator" content="pihc">`) {
		panic("report: a template does not say whose page it is before its title")
	}
	return []byte(head + "<title>")
}

// isPage reports whether a file is a page of this package.
func isPage(file string) bool {
	text, err := disk.ReadFile(file)
	text = bytes.TrimSpace(text) // definitions of templates leave empty lines
	if err != nil || !bytes.HasSuffix(text, []byte(pageEnd)) {
		return false
	}
	for _, head := range pageHeads {
		if bytes.HasPrefix(text, head) {
			return true
		}
	}
	return false
}

// figuresNote is the first file in a folder of figures, which is recognised by it before its page is there.
const figuresNote = "Figures of the page beside this folder, and their numbers, by pihc: its next page of that name replaces them.\n"

func noteFile(figures string) string { return filepath.Join(figures, "README.txt") }

// CheckFile returns an error unless a page may be written to file, and its figures to the folder beside it: both are new,
// or of an earlier page of this package, or may be overwritten. In a run folder a page is report.html. Nothing is changed.
func CheckFile(file string, overwrite bool) error {
	page := disk.Output{
		Path: file, Kind: "report of pihc", Ours: isPage, Force: overwrite, Makes: true,
		Belongs: func(_, name string) bool { return name == "report.html" },
	}
	if err := page.Check(); err != nil {
		return err
	}
	figures := figuresOf(file)
	info, err := os.Lstat(figures)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return words.WithHint(fmt.Errorf("%s exists already, and is no folder for the figures of %s", figures, file), "choose another name, or remove it")
	case overwrite || isPage(file):
		return nil
	}
	entries, err := os.ReadDir(figures)
	if err != nil {
		return err
	}
	if note, err := disk.ReadFile(noteFile(figures)); err == nil && string(note) == figuresNote {
		return nil
	}
	for _, e := range entries {
		if !disk.IsPartial(e.Name()) {
			return words.WithHint(fmt.Errorf("%s, for the figures of %s, exists already with other files, such as %s", figures, file, e.Name()), "choose another name, or replace them with --force")
		}
	}
	return nil
}
