package main

import (
	"bytes"
	"io/fs"
	"maps"
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
// docs/reference/dependencies.md lists the same modules, with their versions.
func TestLicences(t *testing.T) {
	texts := regexp.MustCompile(`(?i)^(un)?licen[sc]e|^copying|^notice|^patents`)
	// Fonts of their own makers, and the one of two licences that is chosen.
	further := map[string]string{
		"golang.org/x/image":         "font/gofont/ttfs/README",
		"github.com/golang/freetype": "licenses/ftl.txt",
	}
	folders, versions := map[string]string{"pihc": "../..", "uplot": "../../report/assets/uplot"}, map[string]string{}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	folders["go"] = strings.TrimSpace(string(goroot))
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", ".")
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			path, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if version, folder, ok := strings.Cut(rest, "\t"); ok {
				folders[path], versions[path] = folder, version
			}
		}
	}
	if len(folders) < 20 {
		t.Errorf("only %d modules found", len(folders))
	}
	documented, err := os.ReadFile("../../docs/reference/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z.]+\.[a-z]+/\S+) \| (\S+) \| \d{4}-\d{2} \|`).FindAllStringSubmatch(string(documented), -1) {
		listed[row[1]] = row[2]
	}
	if !maps.Equal(listed, versions) {
		t.Errorf("docs/reference/dependencies.md lists %v, a build links %v", listed, versions)
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
