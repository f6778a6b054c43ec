package pihc

import (
	"cmp"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers is the import ladder: an import goes only to a lower
// layer. Changing it is a design decision, not a repair of this test.
var layers = map[string]int{
	"compute":             0,
	"internal/check":      1,
	"internal/slab":       1,
	"internal/config":     0,
	"internal/words":      0,
	"internal/disk":       0,
	"internal/machine":    0,
	"internal/kernel":     1,
	"internal/fft":        2,
	"internal/band":       2,
	"internal/sparse":     2,
	"network":             2,
	"expr":                2,
	"grid":                3,
	"network/networktest": 3,
	"lm":                  3,
	"data":                3,
	"internal/pjrt":       4,
	"fno":                 4,
	"ffno":                4,
	"pde":                 4,
	"sim":                 4,
	"constraint":          5,
	"internal/discrete":   5,
	"internal/dataset":    6,
	"model":               7,
	"internal/inverse":    7,
	"engine":              8,
	"dist":                9,
	"xla":                 9,
	"engine/enginetest":   9,
	"score":               10,
	"train":               11,
	"report":              11,
	"experiment":          12,
	"internal/paper":      13,
	"cmd/pihc":            14,
	"":                    15, // this package: the guide, and tests of the whole
}

// testOnly packages and modules are imported by tests alone. internal/check may
// use the kernel package, whose vectors it switches off.
var testOnly = []string{"internal/check", "engine/enginetest", "network/networktest"}

// allowed names, for everything that is neither standard library nor this
// module, the packages that may import it.
var allowed = map[string][]string{
	"go.yaml.in/yaml/v4":              {"internal/config"},
	"simd":                            {"internal/kernel"}, // standard library, but an experiment
	"golang.org/x/sys":                {"internal/kernel", "internal/machine", "dist"},
	"github.com/ebitengine/purego":    {"dist", "internal/pjrt"}, // libraries loaded at run time
	"gonum.org/v1/plot":               {"report"},
	"github.com/spf13/cobra":          {"cmd/pihc"},
	"github.com/spf13/pflag":          {"cmd/pihc"},
	"github.com/vbauerster/mpb":       {"cmd/pihc"},
	"golang.org/x/term":               {"cmd/pihc"},
	"github.com/google/go-cmp":        nil, // tests alone
	"github.com/rogpeppe/go-internal": nil,
	"github.com/sbinet/npyio":         nil,
	"gonum.org/v1/gonum":              nil,
	"pgregory.net/rapid":              nil,
}

// imported is one import of one file.
type imported struct {
	file, pkg, path string
	test            bool
}

// goFiles returns every Go file of the module, whatever its build tags; examples/go is a module of its own.
func goFiles(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "testdata" || base == "vendor" || name == "examples/go" || name != "." && strings.HasPrefix(base, ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// sources returns the imports of every Go file and the packages found. Programs
// outside cmd are tools: nothing can import them, and they are not part of the ladder.
func sources(t *testing.T) (imports []imported, packages []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, name := range goFiles(t) {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		pkg := path.Dir(filepath.ToSlash(name))
		if pkg == "." {
			pkg = ""
		}
		if f.Name.Name == "main" && !strings.HasPrefix(pkg, "cmd/") || strings.HasPrefix(pkg, "tools/") {
			continue
		}
		seen[pkg] = true
		for _, spec := range f.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			imports = append(imports, imported{name, pkg, p, strings.HasSuffix(name, "_test.go")})
		}
	}
	return imports, slices.Sorted(maps.Keys(seen))
}

// broken returns why an import is against the rules, or "".
func broken(i imported) string {
	to, inModule := strings.CutPrefix(i.path, "pihc/")
	if i.path == "pihc" {
		return "nothing imports the guide"
	}
	if inModule {
		from, ok := layers[i.pkg]
		if !ok {
			return "package " + i.pkg + " is not in the ladder"
		}
		layer, ok := layers[to]
		switch {
		case !ok:
			return "package " + to + " is not in the ladder"
		case slices.Contains(testOnly, to):
			if !i.test && !slices.Contains(testOnly, i.pkg) {
				return to + " is for tests alone"
			}
		case i.test && to == i.pkg: // an external test package
		case i.pkg == "internal/check" && to == "internal/kernel":
		case layer >= from:
			return "layer " + strconv.Itoa(from) + " imports layer " + strconv.Itoa(layer)
		}
		return ""
	}
	first, _, _ := strings.Cut(i.path, "/")
	if !strings.Contains(first, ".") && first != "simd" {
		return "" // standard library
	}
	for module, importers := range allowed {
		if i.path != module && !strings.HasPrefix(i.path, module+"/") {
			continue
		}
		if slices.Contains(importers, i.pkg) || i.test && importers == nil {
			return ""
		}
		if importers == nil {
			return module + " is for tests alone"
		}
		return module + " belongs to " + strings.Join(importers, ", ")
	}
	return "module not listed"
}

func TestImportLadder(t *testing.T) {
	imports, packages := sources(t)
	for _, p := range packages {
		if _, ok := layers[p]; !ok {
			t.Errorf("package %q is not in the ladder", p)
		}
	}
	for p := range layers {
		if _, err := os.Stat(filepath.FromSlash(cmp.Or(p, "."))); err != nil {
			t.Errorf("the ladder names %q: %v", p, err)
		}
	}
	for _, i := range imports {
		if why := broken(i); why != "" {
			t.Errorf("%s imports %s: %s", i.file, i.path, why)
		}
	}
	if len(imports) < 100 {
		t.Errorf("only %d imports found: the test looks at the wrong folder", len(imports))
	}
}

// The checker itself must be able to fail.
func TestImportLadderFinds(t *testing.T) {
	for _, i := range []imported{
		{"a.go", "sim", "pihc/pde", false},
		{"a_test.go", "sim", "pihc/pde", true},
		{"a.go", "grid", "pihc/fno", false},
		{"a.go", "lm", "pihc/pde", false},
		{"a.go", "data", "pihc/sim", false},
		{"a.go", "model", "pihc/train", false},
		{"a.go", "grid", "pihc/internal/check", false},
		{"a.go", "new", "pihc/grid", false},
		{"a.go", "pde", "go.yaml.in/yaml/v4", false},
		{"a.go", "fno", "simd/archsimd", false},
		{"a.go", "fno", "simd", false},
		{"a.go", "train", "gonum.org/v1/plot/vg", false},
		{"a.go", "lm", "gonum.org/v1/gonum/mat", false},
		{"a.go", "model", "github.com/spf13/cobra", false},
		{"a.go", "cmd/pihc", "github.com/else/module", false},
	} {
		if broken(i) == "" {
			t.Errorf("%s importing %s passes", i.pkg, i.path)
		}
	}
	for _, i := range []imported{
		{"a.go", "constraint", "pihc/lm", false},
		{"a_test.go", "constraint", "pihc/sim", true},
		{"a_test.go", "internal/kernel", "pihc/internal/check", true},
		{"a_test.go", "lm", "gonum.org/v1/gonum/mat", true},
		{"a.go", "lm", "math/rand/v2", false},
	} {
		if why := broken(i); why != "" {
			t.Errorf("%s importing %s: %s", i.pkg, i.path, why)
		}
	}
}

// A platform is what build tags and the names of files choose by.
type platform struct {
	os, arch string
	simd     bool // the experiment
}

var platforms = []platform{
	{"linux", "amd64", true},
	{"linux", "arm64", true},
	{"linux", "riscv64", true},
	{"linux", "amd64", false},
	{"linux", "arm64", false},
	{"darwin", "arm64", true},
	{"windows", "amd64", true},
}

// builds reports whether a Go release, 1.minor, builds a file.
func (p platform) builds(t *testing.T, file string, minor int) bool {
	t.Helper()
	c := build.Context{GOOS: p.os, GOARCH: p.arch, Compiler: "gc"}
	if p.simd {
		c.ToolTags = []string{"goexperiment.simd"}
	}
	for v := 1; v <= minor; v++ {
		c.ReleaseTags = append(c.ReleaseTags, "go1."+strconv.Itoa(v))
	}
	ok, err := c.MatchFile(filepath.Split(file))
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// The experimental vector packages are behind a build tag, so that other builds never
// see them, and builds that want them do: package simd on amd64 and arm64, what has
// archsimd alone or says so in its name on amd64.
func TestVectorFilesAreTagged(t *testing.T) {
	imports, _ := sources(t)
	portable := map[string]bool{}
	for _, i := range imports {
		if i.path == "simd" || i.path == "simd/archsimd" {
			portable[i.file] = portable[i.file] || i.path == "simd" && !strings.HasSuffix(i.file, "_amd64.go")
		}
	}
	for file, portable := range portable {
		for _, p := range platforms {
			want := p.simd && (p.arch == "amd64" || p.arch == "arm64" && portable)
			if p.builds(t, file, 27) != want {
				t.Errorf("%s on %+v: built %v, want %v", file, p, !want, want)
			}
		}
	}
	if len(portable) < 10 {
		t.Errorf("%d files import simd", len(portable))
	}
}

// No file is left out by a later Go, which would say nothing and be slow.
func TestNoUpperGoVersion(t *testing.T) {
	files := goFiles(t)
	for _, file := range files {
		for _, p := range platforms {
			if p.builds(t, file, 27) && !p.builds(t, file, 99) {
				t.Errorf("%s is not built by every later Go", file)
			}
		}
	}
	if len(files) < 100 {
		t.Errorf("only %d files found: the test looks at the wrong folder", len(files))
	}
	old := filepath.Join(t.TempDir(), "old.go")
	if err := os.WriteFile(old, []byte("//go:build goexperiment.simd && !go1.28\n\npackage old\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if p := platforms[0]; !p.builds(t, old, 27) || p.builds(t, old, 99) {
		t.Error("an upper version is not seen")
	}
}

// TestFilesAreOpenedInOnePlace: what opens a file otherwise than internal/disk may wait for a pipe's other end, or read a
// device without end. dist and internal/machine read the system's own.
func TestFilesAreOpenedInOnePlace(t *testing.T) {
	elsewhere := []string{"internal/disk/", "internal/check/", "internal/machine/", "dist/", "tools/", "examples/"}
	for _, name := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") || slices.ContainsFunc(elsewhere, func(dir string) bool { return strings.HasPrefix(filepath.ToSlash(name), dir) }) {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []string{"os.Open(", "os.OpenFile(", "os.ReadFile("} {
			if strings.Contains(string(src), call) {
				t.Errorf("%s: %s...): disk.Open and disk.ReadFile refuse what is no file", name, call)
			}
		}
	}
}
