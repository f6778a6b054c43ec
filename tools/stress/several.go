//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pairs runs two processes on one folder: the second is refused, or the first is done,
// and the files are those of one.
func (h *harness) pairs() error {
	for _, pair := range [][2]string{{"generate", "generate"}, {"train", "train"}, {"resume", "resume"}, {"resume", "report"}, {"resume", "predict"}, {"eval", "eval"}, {"reproduce", "reproduce"}} {
		for range h.times(10, 1) {
			one, two := scenarioNamed(pair[0]), scenarioNamed(pair[1])
			if err := h.load(one.state); err != nil {
				return err
			}
			what := fmt.Sprintf("%s and %s at once", one.name, two.name)
			type result struct {
				e   ending
				err error
			}
			other := make(chan result)
			delay := time.Duration(h.rng.Float64() * 0.5 * one.seconds * float64(time.Second))
			go func() {
				time.Sleep(delay)
				e, err := h.pihcWith("", two.args...)
				other <- result{e, err}
			}()
			e, err := h.pihcWith("", one.args...)
			second := <-other
			if err != nil || second.err != nil {
				return fmt.Errorf("%v, %v", err, second.err)
			}
			refused := 0
			for _, e := range []ending{e, second.e} {
				if problem := e.clear(); problem != nil {
					h.fail("%s: %v", what, problem)
				}
				if e.status != 0 {
					refused++
				}
			}
			h.notes["refused"] += refused
			// What the second one writes beside the run is not compared.
			for _, name := range []string{"u.npz", "page.html", "page-figures", "run/metrics.json"} {
				if one.name != two.name {
					_ = os.RemoveAll(h.path(name))
				}
			}
			if err := h.finish(one, what); err != nil {
				return err
			}
		}
	}
	return nil
}

// ranks kills any process of several that train together, at any moment.
func (h *harness) ranks() error {
	mpirun, err := exec.LookPath("mpirun.openmpi")
	if err != nil {
		fmt.Println("ranks: mpirun.openmpi is not here: no training on several ranks was killed")
		return nil
	}
	env := []string{
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
		"OMPI_MCA_mpi_yield_when_idle=1", "OMPI_MCA_hwloc_base_binding_policy=none",
	}
	s := *scenarioNamed("train")
	s.args = append(append([]string{}, s.args...), "--set", "training.steps=240", "--set", "training.validate=40", "--set", "training.checkpoint=60")
	if err := h.load(s.state); err != nil {
		return err
	}
	alone, err := h.pihcWith("", s.args...)
	if err != nil || alone.status != 0 {
		return fmt.Errorf("%v %s", err, alone.err)
	}
	if s.want, err = h.snapshot(); err != nil {
		return err
	}
	arguments := func(ranks int, args []string) []string {
		return append([]string{"-np", fmt.Sprint(ranks), h.pihc, "-q"}, args...)
	}
	whole := 0.0
	for n := range 1 + h.times(20, 1) {
		if err := h.load(s.state); err != nil {
			return err
		}
		size := 2 + n%2
		seconds, victim, err := h.killRank(mpirun, env, arguments(size, s.args), size, whole)
		if err != nil {
			return err
		}
		if n == 0 { // undisturbed, to know how long it takes
			whole = seconds
			h.cases++
			if err := h.compare(&s, "undisturbed on two ranks"); err != nil {
				return err
			}
			continue
		}
		what := fmt.Sprintf("%d ranks, rank %d killed after %.2f s", size, victim, seconds)
		// Every other time it goes on with another number of ranks.
		if _, err := os.Stat(h.path("run", "spec.yaml")); err == nil && n%4 < 2 {
			e, err := h.exec(env, mpirun, arguments(5-size, s.again)...)
			if err != nil {
				return err
			}
			if e.status != 0 {
				h.fail("%s, resumed on %d ranks: %s", what, 5-size, e.err)
			}
		}
		if err := h.finish(&s, what); err != nil {
			return err
		}
	}
	return nil
}

// killRank begins a training on several ranks and kills one of them at a random
// moment of the seconds that it takes, none if they are 0. It returns after how many
// seconds, and which, -1 if the training was quicker.
func (h *harness) killRank(mpirun string, env, args []string, size int, whole float64) (seconds float64, victim int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, _, _, err := h.start(ctx, env, mpirun, args...)
	if err != nil {
		return 0, 0, err
	}
	ended := make(chan struct{})
	go func() { _ = c.Wait(); close(ended) }()
	var ranks []int
	for len(ranks) < size {
		select {
		case <-ended:
			return 0, -1, nil
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
	return seconds, victim, nil
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
