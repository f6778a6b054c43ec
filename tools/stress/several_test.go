//go:build unix

package stress

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pairs runs two processes on one folder: the second is refused, or the first is done,
// and the files are those of one.
func (h *harness) pairs() {
	for _, pair := range [][2]string{{"generate", "generate"}, {"train", "train"}, {"resume", "resume"}, {"resume", "report"}, {"resume", "predict"}, {"eval", "eval"}, {"reproduce", "reproduce"}} {
		one, two := scenarioNamed(pair[0]), scenarioNamed(pair[1])
		what := fmt.Sprintf("%s and %s at once", one.name, two.name)
		for range h.times(10, 1) {
			h.load(one.state)
			other := make(chan ending)
			delay := time.Duration(h.rng.Float64() * 0.5 * one.seconds * float64(time.Second))
			go func() {
				time.Sleep(delay)
				other <- h.run("", two.args...)
			}()
			for _, e := range []ending{h.run("", one.args...), <-other} {
				h.clear(e, what)
				if e.status != 0 {
					h.notes["refused"]++
				}
			}
			// What the second one writes beside the run is not compared.
			for _, name := range []string{"u.npz", "page.html", "page-figures", "run/metrics.json"} {
				if one.name != two.name {
					_ = os.RemoveAll(h.path(name))
				}
			}
			h.finish(one, what)
		}
	}
}

// mpi makes Open MPI start more processes than there are cores, for any user.
var mpi = []string{
	"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
	"OMPI_MCA_mpi_yield_when_idle=1", "OMPI_MCA_hwloc_base_binding_policy=none",
}

// ranks kills any process of several that train together, at any moment.
func (h *harness) ranks() {
	mpirun, err := exec.LookPath("mpirun.openmpi")
	if err != nil {
		fmt.Println("ranks: mpirun.openmpi is not here: no training on several ranks was killed")
		return
	}
	s := *scenarioNamed("train")
	s.args = append(slices.Clone(s.args), "--set", "training.steps=240", "--set", "training.validate=40", "--set", "training.checkpoint=60")
	h.load(s.state)
	h.undisturbed(nil, s.args...)
	s.want = must(h.snapshot())
	command := func(ranks int, args []string) []string {
		return append([]string{mpirun, "-np", fmt.Sprint(ranks), h.pihc, "-q"}, args...)
	}
	whole := 0.0
	for n := range 1 + h.times(20, 1) {
		h.load(s.state)
		size := 2 + n%2
		seconds, victim := h.killRank(command(size, s.args), size, whole)
		if n == 0 { // undisturbed, to know how long it takes
			whole = seconds
			h.cases++
			h.compare(&s, "undisturbed on two ranks")
			continue
		}
		what := fmt.Sprintf("%d ranks, rank %d killed after %.2f s", size, victim, seconds)
		// Every other time it goes on with another number of ranks.
		if _, err := os.Stat(h.path("run", "spec.yaml")); err == nil && n%4 < 2 {
			again := command(5-size, s.again)
			if e := must(h.exec(mpi, again[0], again[1:]...)); e.status != 0 {
				h.fail("%s, resumed on %d ranks: %s", what, 5-size, e.err)
			}
		}
		h.finish(&s, what)
	}
}

// killRank begins a training on several ranks and kills one of them at a random
// moment of the seconds that it takes, none if they are 0. It returns after how many
// seconds, and which, -1 if the training was quicker.
func (h *harness) killRank(command []string, size int, whole float64) (seconds float64, victim int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, _, ended, err := h.start(ctx, mpi, command[0], command[1:]...)
	check(err)
	var ranks []int
	for len(ranks) < size {
		select {
		case <-ended:
			return 0, -1
		case <-time.After(5 * time.Millisecond):
			ranks = children(c.Process.Pid)
		}
	}
	began := time.Now()
	kill := make(<-chan time.Time)
	if whole > 0 {
		kill = time.After(time.Duration(h.rng.Float64() * whole * float64(time.Second)))
	}
	victim = h.rng.IntN(size)
	select {
	case <-ended:
		victim = -1
		h.notes["ended before"]++
	case <-kill:
		_ = syscall.Kill(ranks[victim], syscall.SIGKILL)
		h.notes[fmt.Sprint("killed rank ", victim)]++
	}
	seconds = time.Since(began).Seconds()
	<-ended
	return seconds, victim
}

// children lists the processes that a process began.
func children(parent int) []int {
	var all []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// pid (name) state parent
		at := strings.LastIndexByte(string(text), ')')
		fields := strings.Fields(string(text[at+1:]))
		if at < 0 || len(fields) < 2 || fields[1] != fmt.Sprint(parent) || !strings.Contains(string(text[:at]), "(pihc") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			all = append(all, pid)
		}
	}
	return all
}
