package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"net/mail"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A wheel of every platform is what PEP 427 and PEP 639 ask for: names and tags agree, RECORD has every file with its length and
// sum, the program can be run, and the description has no links to files that are not there.
func TestWheel(t *testing.T) {
	t.Chdir("../..")
	r := &release{version: "1.2.dev3+gabc", date: time.Unix(1700000000, 0).UTC()}
	for _, p := range platforms {
		name, content, err := r.wheel(p, []byte("program of "+p.String()))
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(strings.TrimSuffix(name, ".whl"), "-")
		if len(parts) != 5 || parts[0] != "pihc" || parts[1] != r.version {
			t.Fatalf("%v: %s", p, name)
		}
		z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		for _, f := range z.File {
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(in)
			if _, twice := files[f.Name]; err != nil || twice {
				t.Errorf("%s: %s twice, or %v", name, f.Name, err)
			}
			files[f.Name] = text
			want := fs.FileMode(0o644)
			if strings.Contains(f.Name, ".data/scripts/") {
				want = 0o755
			}
			if f.Mode().Perm() != want {
				t.Errorf("%s: %s has mode %v", name, f.Name, f.Mode())
			}
		}
		info := "pihc-" + r.version + ".dist-info/"
		if last := z.File[len(z.File)-1].Name; last != info+"RECORD" {
			t.Errorf("%s ends with %s", name, last)
		}
		checkRecord(t, name, files, info)

		program := files["pihc-"+r.version+".data/scripts/"+p.program()]
		if string(program) != "program of "+p.String() {
			t.Errorf("%s: the program is %q", name, program)
		}
		for _, want := range []string{"pihc/__init__.py", "pihc/__main__.py", "pihc/py.typed"} {
			if _, ok := files[want]; !ok {
				t.Errorf("%s has no %s", name, want)
			}
		}

		wheel, err := mail.ReadMessage(bytes.NewReader(append(files[info+"WHEEL"], '\n')))
		if err != nil {
			t.Fatal(err)
		}
		var tags []string
		for tag := range strings.SplitSeq(parts[4], ".") {
			tags = append(tags, parts[2]+"-"+parts[3]+"-"+tag)
		}
		if got := wheel.Header["Tag"]; !slices.Equal(got, tags) || wheel.Header.Get("Root-Is-Purelib") != "false" {
			t.Errorf("%s has tags %q, want %q", name, got, tags)
		}
		about, err := mail.ReadMessage(bytes.NewReader(files[info+"METADATA"]))
		if err != nil {
			t.Fatal(err)
		}
		if about.Header.Get("Version") != r.version || about.Header.Get("License-Expression") != "BSD-3-Clause" {
			t.Errorf("%s: %v", name, about.Header)
		}
		var licences []string
		for file := range files {
			if rest, ok := strings.CutPrefix(file, info+"licenses/"); ok {
				licences = append(licences, rest)
			}
		}
		slices.Sort(licences)
		if got := about.Header["License-File"]; !slices.Equal(got, licences) || !slices.Contains(got, "pihc.txt") {
			t.Errorf("%s names licences %q and has %q", name, got, licences)
		}
		text, err := io.ReadAll(about.Body)
		if err != nil || !bytes.Contains(text, []byte("pihc.train(")) || bytes.Count(text, []byte("](")) != bytes.Count(text, []byte("](http")) {
			t.Errorf("%s: description of %d bytes, %v", name, len(text), err)
		}
	}
}

// checkRecord compares RECORD with all other files.
func checkRecord(t *testing.T, wheel string, files map[string][]byte, info string) {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(files[info+"RECORD"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != len(files) {
		t.Errorf("%s: RECORD has %d lines for %d files", wheel, len(lines), len(files))
	}
	for _, line := range lines {
		text, ok := files[line[0]]
		sum := sha256.Sum256(text)
		want := []string{fmt.Sprintf("sha256=%s", base64.RawURLEncoding.EncodeToString(sum[:])), strconv.Itoa(len(text))}
		if path.Base(line[0]) == "RECORD" {
			want = []string{"", ""}
		}
		if !ok || !slices.Equal(line[1:], want) {
			t.Errorf("%s: RECORD has %q, want %q", wheel, line, want)
		}
	}
}
