//go:build unix

// Package stress kills, damages and starves pihc, continues as a user would, and
// compares every file with those of an undisturbed run. It builds pihc with the tag
// faults, so that it can end or fail at each operation on a file.
//
//	go test ./tools/stress                # a few cases of each kind
//	make stress STRESS='[-only flips,ranks] [-commands train,eval] [-places 60] [-seed N] [-table FILE.csv]'
//
// Soak, 10,000 steps with flat memory, runs by its name alone.
package stress

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// harness runs cases, one after the other, in the folder case of its work folder:
// paths are the same in all, so files can be compared.
type harness struct {
	pihc, work, figure string // the program; folders and files
	short, keep        bool
	most               int // operations of a command
	rng                *rand.Rand
	chosen             []*scenario
	cases, failed      int // of the section in progress
	total              int // failures of all sections
	notes              map[string]int
}

// trouble is the panic of a harness that cannot go on, as against a case that fails.
type trouble struct{ error }

func check(err error) {
	if err != nil {
		panic(trouble{err})
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

var (
	full     = flag.Bool("full", false, "all cases, in the place of a few of each kind")
	only     = flag.String("only", "", "sections to run, separated by commas")
	commands = flag.String("commands", "", "commands to kill, fail and limit, separated by commas: train,extend")
	places   = flag.Int("places", 1<<30, "most operations of a command to kill and fail at")
	seed     = flag.Uint64("seed", 1, "of the random choices")
	program  = flag.String("pihc", "", "program built with -tags faults; built if empty")
	keep     = flag.Bool("keep", false, "keep the folder of each failed case")
	picture  = flag.String("figure", "", "SVG of soak to write")
	table    = flag.String("table", "", "CSV file that has a line of each section; those of other sections stay")
)

// TestStress runs the cases that the flags ask for.
func TestStress(t *testing.T) {
	h := &harness{short: !*full, most: *places, pihc: *program, keep: *keep, figure: *picture, rng: rand.New(rand.NewPCG(*seed, 1))}
	fmt.Printf("seed %d\n", *seed)
	if err := h.all(*only, *commands); err != nil {
		t.Fatal(err)
	}
}

// all runs the sections named in only.
func (h *harness) all(only, commands string) (err error) {
	section := "prepare"
	defer func() {
		switch r := recover().(type) {
		case nil:
		case trouble:
			err = fmt.Errorf("%s: %w", section, r.error)
		default:
			panic(r)
		}
	}()
	h.work = must(os.MkdirTemp("", "pihc-stress-"))
	defer os.RemoveAll(h.work)
	if h.pihc == "" {
		h.pihc = filepath.Join(h.work, "pihc")
		build := exec.Command("go", "build", "-tags", "faults", "-o", h.pihc, "../../cmd/pihc")
		build.Stderr = os.Stderr
		check(build.Run())
	}
	h.prepare()
	for i := range scenarios {
		if commands == "" || slices.Contains(strings.Split(commands, ","), scenarios[i].name) {
			h.chosen = append(h.chosen, &scenarios[i])
		}
	}
	begin := time.Now()
	for _, s := range []struct {
		name string
		run  func()
	}{
		{"operations", h.operations},
		{"moments", h.moments},
		{"failures", h.failures},
		{"flips", h.flips},
		{"outputs", h.outputs},
		{"links", h.links},
		{"limits", h.limits},
		{"pairs", h.pairs},
		{"ranks", h.ranks},
		{"solutions", h.solutions},
		{"bombs", h.bombs},
		{"signals", h.signals},
		{"nested", h.nested},
		{"soak", h.soak},
	} {
		if only == "" && s.name == "soak" || only != "" && !slices.Contains(strings.Split(only, ","), s.name) {
			continue
		}
		section, h.cases, h.failed, h.notes = s.name, 0, 0, map[string]int{}
		start := time.Now()
		s.run()
		fmt.Printf("%-11s %5d cases, %d failed, %.0f s", s.name, h.cases, h.failed, time.Since(start).Seconds())
		for _, note := range slices.Sorted(maps.Keys(h.notes)) {
			fmt.Printf(", %s %d", note, h.notes[note])
		}
		fmt.Println()
		h.total += h.failed
		if *table != "" {
			h.record(*table, s.name, time.Since(start))
		}
	}
	if h.total > 0 {
		return fmt.Errorf("%d cases failed", h.total)
	}
	fmt.Printf("all as promised, %.0f s\n", time.Since(begin).Seconds())
	return nil
}

// record writes what a section did to a table, in the place of what it did before.
func (h *harness) record(path, section string, took time.Duration) {
	rows := [][]string{{"section", "seed", "cases", "failed", "seconds", "notes"}}
	if text, err := os.ReadFile(path); err == nil {
		rows = must(csv.NewReader(bytes.NewReader(text)).ReadAll())
	}
	rows = slices.DeleteFunc(rows, func(row []string) bool { return row[0] == section })
	var notes []string
	for _, note := range slices.Sorted(maps.Keys(h.notes)) {
		notes = append(notes, fmt.Sprint(note, " ", h.notes[note]))
	}
	rows = append(rows, []string{section, fmt.Sprint(*seed), fmt.Sprint(h.cases), fmt.Sprint(h.failed), fmt.Sprintf("%.0f", took.Seconds()), strings.Join(notes, ", ")})
	var out bytes.Buffer
	check(csv.NewWriter(&out).WriteAll(rows))
	check(os.WriteFile(path, out.Bytes(), 0o666))
}

// done says how far the section in progress is, which may take half an hour.
func (h *harness) done(s *scenario) {
	if !h.short {
		fmt.Printf("  %s done: %d cases so far, %d failed\n", s.name, h.cases, h.failed)
	}
}

// fail reports a case that did not end as promised.
func (h *harness) fail(format string, args ...any) {
	h.failed++
	fmt.Printf("FAILED %s\n", fmt.Sprintf(format, args...))
	if h.keep {
		kept := fmt.Sprintf("%s-failed-%d", h.work, h.total+h.failed)
		if err := os.CopyFS(kept, os.DirFS(h.path())); err == nil {
			fmt.Printf("       kept in %s\n", kept)
		}
	}
}

// path is that of a file of the case in progress.
func (h *harness) path(names ...string) string {
	return filepath.Join(append([]string{h.work, "case"}, names...)...)
}

// times is how many cases of a kind to run.
func (h *harness) times(full, short int) int {
	if h.short {
		return short
	}
	return full
}
