//go:build unix

// Package conformance does the same run through every door and compares: the command, the library, engine xla, several
// processes (mpirun), --slabs, --resume, --from, and other numbers of workers, over the built-in specs, the gallery and the three
// methods, at sizes of a fraction of a second.
//
//	go test ./tools/conformance           # a part, chosen by the commit
//	make conformance                      # all, and docs/runs/conformance.txt
//	make conformance CONFORMANCE='-only burgers,wave -methods moe -doors xla,slabs'
package conformance

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pihc/model"
)

var (
	full    = flag.Bool("full", false, "all problems, in the place of those that the commit chooses")
	only    = flag.String("only", "", "problems, separated by commas")
	methods = flag.String("methods", "", "methods, separated by commas; default all, of the chosen part one")
	some    = flag.String("doors", "", "doors, separated by commas; default all")
	logFile = flag.String("log", "", "file of the log")
)

// suite is what all cases share.
type suite struct {
	root, pihc, plugin string
	launch             []string // begins several processes; nil: there is no MPI
	own                door     // what all others are compared with
	doors              []door

	mutex sync.Mutex
	lines []string
}

// TestConformance runs the cases that the flags ask for, or the commit chooses.
func TestConformance(t *testing.T) {
	if testing.Short() && !*full {
		t.Skip("not with -short")
	}
	begin := time.Now()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s := &suite{root: root, pihc: filepath.Join(t.TempDir(), "pihc"), plugin: cmp.Or(os.Getenv("PIHC_PJRT"), filepath.Join(root, "bin", "pjrt-cpu.so"))}
	if out, err := exec.Command("go", "build", "-o", s.pihc, "../../cmd/pihc").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(s.plugin); err != nil {
		s.plugin = ""
		t.Log("no plugin in bin (make plugin fetches one), so engine xla is not compared")
	}
	for _, launcher := range []string{"mpirun.openmpi", "mpiexec.mpich", "mpirun"} {
		if path, err := exec.LookPath(launcher); err == nil && s.launch == nil {
			s.launch = []string{path, "-n", "2"}
		}
	}
	if s.launch == nil {
		t.Log("no mpirun here, so several processes and --slabs are not compared")
	}
	s.choose()
	commit, problems, chosen := s.commit(), s.problems(t), model.Methods
	if !*full && *only == "" {
		n := int(hashOf(commit))
		problems = []string{problems[n%len(problems)]}
		chosen = []string{model.Methods[n/len(problems)%3]}
	}
	if *only != "" {
		problems = slices.DeleteFunc(problems, func(spec string) bool { return !slices.Contains(strings.Split(*only, ","), nameOf(spec)) })
		if len(problems) == 0 {
			t.Fatalf("-only %s: there is no such problem", *only)
		}
	}
	if *methods != "" {
		chosen = strings.Split(*methods, ",")
	}
	t.Run("cases", func(t *testing.T) {
		for _, spec := range problems {
			t.Run(nameOf(spec), func(t *testing.T) {
				t.Parallel()
				s.problem(t, spec, chosen)
			})
		}
	})
	slices.Sort(s.lines)
	head := fmt.Sprintf("commit %s, %s/%s, %d cases in %.0f s", commit, runtime.GOOS, runtime.GOARCH, len(s.lines), time.Since(begin).Seconds())
	text := head + "\n" + strings.Join(s.lines, "\n") + "\n"
	if *logFile != "" {
		if err := os.WriteFile(*logFile, []byte(text), 0o666); err != nil {
			t.Error(err)
		}
	}
	t.Log("\n" + text)
}

// commit is that of the working tree, with a + where it has changes.
func (s *suite) commit() string {
	out, err := exec.Command("git", "-C", s.root, "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*").Output()
	if err != nil {
		return time.Now().UTC().Format("2006-01-02") // no repository: the day chooses
	}
	return strings.TrimSpace(string(out))
}

func hashOf(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()
}

// problems are the built-in specs by their names, and those of the gallery by their paths.
func (s *suite) problems(t *testing.T) []string {
	gallery, err := filepath.Glob(filepath.Join(s.root, "examples", "*", "spec.yaml"))
	if err != nil || len(gallery) == 0 {
		t.Fatalf("no gallery: %v", err)
	}
	return append(model.BuiltinSpecs(), gallery...)
}

// nameOf is the name of a spec in the log.
func nameOf(spec string) string {
	if strings.HasSuffix(spec, ".yaml") {
		return filepath.Base(filepath.Dir(spec))
	}
	return spec
}

// record adds a case to the log.
func (s *suite) record(problem, method, door string, found []string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%-26s %-5s %-9s %s", problem, method, door, strings.Join(found, "; ")))
}
