package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestPythonVersion(t *testing.T) {
	for _, tc := range [][2]string{
		{"v0.1.0-0-gabcdef012345", "0.1.0"},
		{"v0.1.0-rc1-0-gabcdef012345", "0.1.0rc1"},
		{"v0.1.0-rc.2-0-gabcdef012345", "0.1.0rc2"},
		{"v0.1.0-3-gabcdef012345", "0.1.1.dev3+gabcdef012345"},
		{"v0.1.0-0-gabcdef012345-dirty", "0.1.1.dev0+gabcdef012345.changed"},
		{"v0.1.0-rc1-4-gabcdef012345", "0.1.0.dev4+gabcdef012345"},
		{"v0.0.0-12-gabcdef012345", "0.0.0.dev12+gabcdef012345"},
		{"v1.2-0-gabcdef012345", ""},
		{"v1.2.3-final-0-gabcdef012345", ""},
	} {
		got, err := pythonVersion(tc[0])
		if got != tc[1] || (err == nil) != (tc[1] != "") {
			t.Errorf("%s is %q, %v, want %q", tc[0], got, err, tc[1])
		}
	}
}

// Equal files give equal archives, in whatever order they come; programs can be run.
func TestArchives(t *testing.T) {
	r := &release{version: "1", date: time.Unix(1700000000, 0).UTC()}
	files := func(names ...string) (out []file) {
		for _, n := range names {
			out = append(out, file{name: n, content: []byte("of " + n), program: n == "pihc"})
		}
		return out
	}
	var one []byte
	for i, want := range map[int]string{0: "pihc-1-linux-amd64.tar.gz", len(platforms) - 1: "pihc-1-windows-amd64.zip"} {
		_, first, err := r.archive(platforms[i], files("pihc", "a", "b/c"))
		if err != nil {
			t.Fatal(err)
		}
		name, again, err := r.archive(platforms[i], files("b/c", "pihc", "a"))
		if err != nil || !bytes.Equal(first, again) || name != want {
			t.Errorf("%s differs by the order of its files, %v", name, err)
		}
		if i == 0 {
			one = first
		}
	}
	z, err := gzip.NewReader(bytes.NewReader(one))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil || !h.ModTime.Equal(r.date) || (h.Mode == 0o755) != strings.HasSuffix(h.Name, "/pihc") {
			t.Errorf("%+v, %v", h, err)
		}
		got += h.Name + "=" + string(content) + " "
	}
	if want := "pihc-1-linux-amd64/a=of a pihc-1-linux-amd64/b/c=of b/c pihc-1-linux-amd64/pihc=of pihc "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// groff shows every line of a help text as it is.
func TestManual(t *testing.T) {
	help := "fit does `x^2` ~ 'y' \\ and\n.dots at the beginning, --flags and - signs\n\n  {\"a\": [1]}   indented\n\nUsage:\n  pihc fit RUN [flags]\n\nFlags:\n  -h, --help   help\n"
	page := (&release{version: "1", date: time.Unix(1700000000, 0).UTC()}).manual("pihc-fit", "Fit - it", help)
	for _, want := range []string{".TH PIHC\\-FIT 1 2023-11-14 \"pihc 1\"", "\n.SH USAGE\n", "\n.SH FLAGS\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Log("no groff here: the page is not set")
		return
	}
	c := exec.Command("groff", "-man", "-Tascii", "-ww", "-P-cbou")
	c.Stdin = strings.NewReader(page)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("groff: %v\n%s", err, out)
	}
	for line := range strings.Lines(help) {
		if line = strings.TrimSpace(line); line == "Usage:" || line == "Flags:" {
			line = strings.ToUpper(line[:len(line)-1])
		}
		if !strings.Contains(string(out), line) {
			t.Errorf("groff shows no line %q:\n%s", line, out)
		}
	}
}
