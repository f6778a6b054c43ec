package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// archive packs files into a folder of its own: a tar.gz, or a zip for Windows.
func (r *release) archive(p platform, files []file) (string, []byte, error) {
	files = sorted(files)
	folder := "pihc-" + r.version + "-" + p.String()
	for i := range files {
		files[i].name = folder + "/" + files[i].name
	}
	if p.os == "windows" {
		content, err := r.zip(files)
		return folder + ".zip", content, err
	}
	content, err := r.tar(files)
	return folder + ".tar.gz", content, err
}

func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
}

func (f *file) mode() os.FileMode {
	if f.program {
		return 0o755
	}
	return 0o644
}

func (r *release) tar(files []file) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode()), Size: int64(len(f.content)), ModTime: r.date, Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err = cmp.Or(w.Close(), z.Close())
	return b.Bytes(), err
}

func (r *release) zip(files []file) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.date}
		h.SetMode(f.mode())
		entry, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// extras are what an archive has beside the program: licences, manual pages and completions for shells. They are what the
// program of this machine prints.
func extras(r *release, folder string) ([]file, error) {
	program := filepath.Join(folder, "pihc")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	c := exec.Command("go", "build", "-o", program, "./cmd/pihc")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("build for this machine: %w", err)
	}
	var out []file
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, file{name: name, content: content})
	}
	licences, err := notices()
	if err != nil {
		return nil, err
	}
	out = append(out, licences...)
	for shell, name := range map[string]string{"bash": "pihc.bash", "zsh": "_pihc", "fish": "pihc.fish", "powershell": "pihc.ps1"} {
		text, err := says(program, "completion", shell)
		if err != nil {
			return nil, err
		}
		out = append(out, file{name: "completions/" + name, content: []byte(text)})
	}
	help, err := says(program, "help")
	if err != nil {
		return nil, err
	}
	add := func(title, summary, help string) {
		out = append(out, file{name: "man/" + title + ".1", content: []byte(r.manual(title, summary, help))})
	}
	add("pihc", "neural operators under physics-informed hard constraints", help)
	list, err := commands(help)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		text, err := says(program, "help", c[0])
		if err != nil {
			return nil, err
		}
		add("pihc-"+c[0], c[1], text)
	}
	return out, nil
}

// notices are the licences of what is linked into the program.
func notices() (out []file, err error) {
	const folder = "cmd/pihc/licences"
	err = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		out = append(out, file{name: "licences" + strings.TrimPrefix(filepath.ToSlash(path), folder), content: content})
		return err
	})
	return out, err
}

// says is what the program prints, whatever the environment says about it.
func says(program string, args ...string) (string, error) {
	c := exec.Command(program, args...)
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PIHC_") })
	text, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("pihc %s: %w", strings.Join(args, " "), err)
	}
	return string(text), nil
}

// commands are those that the program's help lists, each with its summary.
func commands(help string) (out [][2]string, err error) {
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		name, summary, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "help" && name != "completion" {
			out = append(out, [2]string{name, strings.TrimSpace(summary)})
		}
	}
	if len(out) < 10 {
		return nil, fmt.Errorf("pihc help lists only the commands %q", out)
	}
	return out, nil
}

// manual is a page of the manual from the help of a command, whose lines stay as they are. Its headings are
// lines that begin at the left and end with a colon after an empty line.
func (r *release) manual(title, summary, help string) string {
	var b strings.Builder
	escape := strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace
	fmt.Fprintf(&b, ".TH %s 1 %s \"pihc %s\" \"pihc\"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n",
		escape(strings.ToUpper(title)), r.date.Format("2006-01-02"), r.version, escape(title), escape(summary))
	empty := true
	for line := range strings.SplitSeq(strings.TrimRight(help, "\n"), "\n") {
		heading := strings.TrimSuffix(line, ":")
		if empty && slices.Contains([]string{"Usage", "Examples", "Flags", "Global Flags", "Available Commands"}, heading) {
			fmt.Fprintf(&b, ".fi\n.SH %s\n.nf\n", strings.ToUpper(heading))
			empty = false
			continue
		}
		if empty = line == ""; empty {
			b.WriteString("\n")
			continue
		}
		if strings.HasPrefix(line, ".") {
			b.WriteString(`\&`)
		}
		b.WriteString(escape(line) + "\n")
	}
	b.WriteString(".fi\n")
	return b.String()
}
