package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pihc/dist"
	"pihc/internal/words"
)

// joining names the commands whose work the ranks of a launcher share, bench by what
// it measures. Of any other command rank 0 does all, and the others end at once.
var joining = []string{"train", "generate", "eval", "predict", "bench step"}

// dividing names those of them that --slabs is for.
var dividing = []string{"train", "eval", "predict", "bench step"}

// errElsewhere ends a rank that has nothing to do.
var errElsewhere = errors.New("rank 0 does this alone")

// join finds the launcher that started this process, if any, and joins its
// ranks. Rank 0 alone speaks.
func (a *app) join(c *cobra.Command, args []string) error {
	name := c.Name()
	if name == "bench" && len(args) > 0 {
		name += " " + args[0]
	}
	if a.slabs < 1 {
		return usagef("--slabs %d: want a positive number of processes", a.slabs)
	}
	if !slices.Contains(joining, name) || a.slabs > 1 && !slices.Contains(dividing, name) {
		if a.slabs > 1 {
			return usagef("--slabs %d: `pihc %s` divides no grid; %s do", a.slabs, name, strings.Join(dividing, ", "))
		}
		launch, err := dist.Detect(os.Getenv)
		if err == nil && launch != nil && launch.Rank > 0 {
			return errElsewhere
		}
		return err
	}
	comm, launch, err := dist.Join(a.mpi, os.Getenv)
	if err != nil {
		if launch != nil && launch.Rank > 0 {
			return errElsewhere // rank 0 says it
		}
		return err
	}
	a.comm = comm
	if comm.Size()%a.slabs != 0 {
		return words.WithHint(usagef("--slabs %d: the number of processes, %d, is no multiple of it", a.slabs, comm.Size()),
			"`mpirun -np %d pihc ...` starts as many processes", a.slabs)
	}
	if comm.Size() == 1 {
		return nil
	}
	if err := dist.Agree(comm, [2]string{"--slabs", fmt.Sprint(a.slabs)}); err != nil {
		return err
	}
	if a.threads, err = dist.Cores(comm); err != nil {
		return err
	}
	a.log.Info("joined", "launcher", launch.Launcher, "rank", comm.Rank(), "ranks", comm.Size(), "library", launch.Library, "sha256", launch.SHA256,
		"version", launch.Version, "threads", a.threads)
	if comm.Rank() > 0 {
		a.Out, a.quiet = io.Discard, true
	}
	return nil
}

// writes reports whether this process writes files and results.
func (a *app) writes() bool { return a.comm.Rank() == 0 }

// workers is the number of threads for a flag --workers: 0 means this rank's
// share of the cores.
func (a *app) workers(flag int) int {
	if flag == 0 {
		return a.threads
	}
	return flag
}

// leave ends this process's part after a command that ended with err: all ranks
// together where it succeeded, otherwise all of them at once, by the one that fails
// first. What fails everywhere rank 0 says.
func (a *app) leave(err error, say func(error)) int {
	size, rank := a.comm.Size(), a.comm.Rank()
	if errors.Is(err, errElsewhere) {
		return 0
	}
	if err == nil && size > 1 {
		err = a.comm.Close()
	}
	if err == nil {
		return 0
	}
	if rank > 0 {
		time.Sleep(2 * time.Second)
		err = fmt.Errorf("rank %d of %d: %w", rank, size, err)
	}
	say(err)
	if launch, _ := dist.Detect(os.Getenv); launch != nil && launch.Size > 1 {
		time.Sleep(200 * time.Millisecond) // some launchers drop what they have not yet passed on
	}
	status := exitStatus(err)
	if status == statusInterrupted {
		status = cmp.Or(int(a.signals.status.Load()), status)
	}
	a.comm.Abort(status)
	return status
}

// interrupted is the context of a command; among several ranks the launcher, or
// rank 0, decides what an interrupt ends.
func (a *app) interrupted(ctx context.Context) context.Context {
	if a.comm.Rank() > 0 {
		return context.WithoutCancel(ctx)
	}
	return ctx
}
