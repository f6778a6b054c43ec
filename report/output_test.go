package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Pages replace earlier pages and their figures, and nothing else but when told to.
func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	file, figures := filepath.Join(dir, "study.html"), filepath.Join(dir, "study-figures")
	study := Study{Title: `a "<title>"`}
	write := func() error { _, err := study.Write(dir, "study"); return err }
	for range 2 {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(dir, "page.html")
	for range 2 {
		if err := (&Page{Title: "a page", Methods: []Method{{}}}).Write(page); err != nil {
			t.Fatal(err)
		}
	}
	if !isPage(page) || !isPage(file) {
		t.Error("a page is not recognised")
	}
	put := func(content []byte, path string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, content, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	refuse := func(what, want, kept string) {
		t.Helper()
		before, _ := os.ReadFile(kept)
		err := write()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
		if after, _ := os.ReadFile(kept); !bytes.Equal(before, after) {
			t.Errorf("%s: %s was changed", what, kept)
		}
	}
	for what, content := range map[string][]byte{
		"empty":              {},
		"cut short":          whole[:len(whole)/2],
		"something before":   append([]byte("mine"), whole...),
		"something after":    append(bytes.Clone(whole), "mine"...),
		"of another program": []byte("<!DOCTYPE html>\n<html lang=\"en\"><head><meta name=\"generator\" content=\"pihc\"><title></title></head></html>"),
	} {
		put(content, file)
		refuse(what, "exists already, and is no report of pihc", file)
	}
	// An interrupted report left figures, and no page.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := write(); err != nil {
		t.Errorf("figures alone: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	put([]byte("my own notes"), noteFile(figures))
	refuse("somebody's figures", "exists already with other files, such as README.txt", noteFile(figures))
	study.Overwrite = true
	if err := write(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(os.RemoveAll(figures), os.Mkdir(filepath.Join(dir, "elsewhere"), 0o777), os.Symlink("elsewhere", figures)); err != nil {
		t.Fatal(err)
	}
	refuse("a linked folder", "is no folder for the figures", file)
	if err := errors.Join(os.Remove(figures), os.MkdirAll(noteFile(figures), 0o777)); err != nil {
		t.Fatal(err)
	}
	refuse("a folder in the place of a figure", "is no file", file)
}
