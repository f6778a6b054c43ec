// Command release builds what is given to users: an archive and a Python wheel for each platform, and their checksums. Equal
// commits give equal files, wherever they are built: times are the commit's, entries are sorted, and no folder is named.
//
//	go run ./tools/release -out release
package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A platform is what a program runs on.
type platform struct {
	os, arch string
	wheel    string // platform tag of a wheel
}

// platforms are those of a release. Programs for Linux load libc and libdl, by no versioned symbol (for MPI and PJRT plugins), so
// that any glibc serves and musl does not. Go 1.27 needs macOS 13.
var platforms = []platform{
	{"linux", "amd64", "manylinux2014_x86_64.manylinux_2_17_x86_64"},
	{"linux", "arm64", "manylinux2014_aarch64.manylinux_2_17_aarch64"},
	{"darwin", "arm64", "macosx_13_0_arm64"},
	{"darwin", "amd64", "macosx_13_0_x86_64"},
	{"windows", "amd64", "win_amd64"},
}

func (p platform) String() string { return p.os + "-" + p.arch }

// program is the name of the program.
func (p platform) program() string {
	if p.os == "windows" {
		return "pihc.exe"
	}
	return "pihc"
}

// A file is one entry of an archive.
type file struct {
	name    string // with slashes
	content []byte
	program bool // may be run
}

// A release is of one commit.
type release struct {
	version string    // "0.1.0", or of a commit without a tag "0.0.0.dev12+gabcdef012345"
	date    time.Time // the commit's
	out     string
}

func main() {
	out := flag.String("out", "release", "folder for the files")
	only := flag.String("only", "", "one platform, as linux-amd64, or here: that of this machine")
	wheels := flag.Bool("wheels", false, "wheels alone")
	flag.Parse()
	if err := run(*out, *only, *wheels); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(out, only string, wheels bool) error {
	r, err := newRelease(out)
	if err != nil {
		return err
	}
	if only == "here" {
		only = runtime.GOOS + "-" + runtime.GOARCH
	}
	chosen := slices.DeleteFunc(slices.Clone(platforms), func(p platform) bool { return only != "" && p.String() != only })
	if len(chosen) == 0 {
		return fmt.Errorf("no platform %s; there are %v", only, platforms)
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "pihc-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	var extra []file
	if !wheels {
		if extra, err = extras(r, folder); err != nil {
			return err
		}
	}
	var sums strings.Builder
	write := func(name string, content []byte, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name)
		fmt.Println(name, len(content)>>10, "KiB")
		return os.WriteFile(filepath.Join(out, name), content, 0o666)
	}
	for _, p := range chosen {
		program, err := build(p, folder)
		if err != nil {
			return err
		}
		name, content, err := r.wheel(p, program)
		if err := write(name, content, err); err != nil {
			return err
		}
		if wheels {
			continue
		}
		name, content, err = r.archive(p, append(slices.Clone(extra), file{p.program(), program, true}))
		if err := write(name, content, err); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o666)
}

// newRelease is of the commit that is checked out.
func newRelease(out string) (*release, error) {
	stamp, err := output("git", "log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("git log: %w", err)
	}
	described, err := output("git", "describe", "--tags", "--match", "v[0-9]*", "--dirty", "--long", "--abbrev=12")
	if err != nil { // there is no tag
		count, err := output("git", "rev-list", "--count", "HEAD")
		if err != nil {
			return nil, err
		}
		if described, err = output("git", "describe", "--always", "--dirty", "--abbrev=12"); err != nil {
			return nil, err
		}
		described = "v0.0.0-" + count + "-g" + described
	}
	version, err := pythonVersion(described)
	return &release{version, time.Unix(seconds, 0).UTC(), out}, err
}

var description = regexp.MustCompile(`^v(\d+)\.(\d+)\.(\d+)((?:-?(?:a|b|rc)\.?\d+)?)-(\d+)-g([0-9a-f]+)(-dirty)?$`)

// pythonVersion is the version of `git describe --long` as PEP 440 has it: that of the tag where it is the commit's, and that before
// the next one where it is an earlier one.
func pythonVersion(described string) (string, error) {
	m := description.FindStringSubmatch(described)
	if m == nil {
		return "", fmt.Errorf("git describe says %q: want a tag such as v0.1.0 or v0.1.0-rc1", described)
	}
	before := strings.NewReplacer("-", "", ".", "").Replace(m[4])
	if m[5] == "0" && m[7] == "" {
		return m[1] + "." + m[2] + "." + m[3] + before, nil
	}
	patch, err := strconv.Atoi(m[3])
	if before == "" && (m[1] != "0" || m[2] != "0" || m[3] != "0") {
		patch++
	}
	local := "+g" + m[6]
	if m[7] != "" {
		local += ".changed"
	}
	return fmt.Sprintf("%s.%s.%d.dev%s%s", m[1], m[2], patch, m[5], local), err
}

// build compiles the program for a platform, with vectors.
func build(p platform, folder string) ([]byte, error) {
	path := filepath.Join(folder, p.String()+"-"+p.program())
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -X=runtime.godebugDefault=simd=+", "-o", path, "./cmd/pihc")
	c.Env = append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "GOEXPERIMENT=simd", "CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("build for %v: %w", p, err)
	}
	return os.ReadFile(path)
}

// output is what a command prints.
func output(name string, args ...string) (string, error) {
	text, err := exec.Command(name, args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %s", name, args[0], cmp.Or(strings.TrimSpace(string(exit.Stderr)), exit.Error()))
	}
	return strings.TrimSpace(string(text)), err
}
