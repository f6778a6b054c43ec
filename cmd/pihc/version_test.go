package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pihc/internal/check"
)

// Every module that a build of pihc links on some platform has its texts, as they lie
// in the module, and no other has: go test ./cmd/pihc -run Licences -regenerate.
func TestLicences(t *testing.T) {
	texts := regexp.MustCompile(`(?i)^(un)?licen[sc]e|^copying|^notice|^patents`)
	// Fonts of their own makers, and the one of two licences that is chosen.
	further := map[string]string{
		"golang.org/x/image":         "font/gofont/ttfs/README",
		"github.com/golang/freetype": "licenses/ftl.txt",
	}
	folders := map[string]string{"pihc": "../..", "uplot": "../../report/assets/uplot"}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	folders["go"] = strings.TrimSpace(string(goroot))
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", ".")
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			path, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
			folders[path] = folder
		}
	}
	if len(folders) < 20 {
		t.Errorf("only %d modules found", len(folders))
	}
	for module, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			if texts.MatchString(e.Name()) && !e.IsDir() {
				names = append(names, e.Name())
			}
		}
		if more, ok := further[module]; ok {
			names = append(names, more)
		}
		var b bytes.Buffer
		for i, name := range names {
			text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				b.WriteByte('\n')
			}
			b.Write(bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
			b.WriteByte('\n')
		}
		if b.Len() == 0 {
			t.Errorf("%s has no licence", module)
			continue
		}
		check.Golden(t, "../licences/"+module+".txt", b.Bytes())
	}
	err = filepath.WalkDir("licences", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		module := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(name), "licences/"), ".txt")
		if folders[module] == "" {
			t.Errorf("%s: no build links this module", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
