package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/pprof"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"pihc/dist"
	"pihc/experiment"
)

const (
	patience  = time.Second            // from an interrupt to the end of a command that does not end by itself
	lastWords = 300 * time.Millisecond // for a line that nobody may be reading
)

// statusOf is the exit status of what a signal ends, that of the shells.
func statusOf(s os.Signal) int {
	number, _ := s.(syscall.Signal)
	return 128 + int(number)
}

// An interruption is what signals have to do with one command line. The first SIGINT,
// SIGTERM or SIGHUP ends its context; a command that has not ended a second later, as
// something blocks it, is ended, unless it is saving: a training writes its checkpoint, an inversion or a solution what it has. The
// next signal has the system's effect. SIGQUIT ends the process at once.
type interruption struct {
	context.Context
	status  atomic.Int32                  // of the first signal, 0 before
	saving  atomic.Bool                   // it goes on to what it writes
	leaving atomic.Bool                   // the command has ended, or was given up
	command atomic.Pointer[cobra.Command] // nil until it is known
	comm    atomic.Pointer[dist.Comm]     // nil until it is joined
	level   slog.LevelVar                 // of the log: with -v SIGQUIT prints what goroutines do
}

// heed begins to receive signals. SIGHUP stays ignored where nohup had that ignored.
func heed(err io.Writer) *interruption {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancel(context.Background())
	i := &interruption{Context: ctx}
	i.level.Set(slog.LevelWarn)
	first, quit := make(chan os.Signal, 2), make(chan os.Signal, 1)
	signal.Notify(first, signals...)
	signal.Notify(quit, syscall.SIGQUIT)
	go func() {
		s := <-first
		i.status.Store(int32(statusOf(s)))
		signal.Reset(signals...)
		cancel()
		select {
		case s := <-first: // which came before the system heard it again
			if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(s) == nil {
				select {}
			}
			os.Exit(statusOf(s))
		default:
		}
		time.Sleep(patience)
		for i.saving.Load() {
			time.Sleep(patience / 10)
		}
		i.end(err, context.Canceled)
	}()
	go func() {
		s := <-quit
		say(err, func(w io.Writer) {
			printError(w, i.command.Load(), errors.New("ended by SIGQUIT (with -v it says where)"))
			if i.level.Level() == slog.LevelDebug {
				_ = pprof.Lookup("goroutine").WriteTo(w, 2)
			}
		})
		os.Exit(statusOf(s))
	}()
	return i
}

// end ends the process for a command that does not end. Of several ranks the first does so for all.
func (i *interruption) end(to io.Writer, err error) {
	var comm dist.Comm = dist.Alone{}
	if joined := i.comm.Load(); joined != nil {
		comm = *joined
	}
	if comm.Rank() > 0 {
		return
	}
	status := int(i.status.Load())
	say(to, func(w io.Writer) {
		if i.leaving.CompareAndSwap(false, true) {
			printError(w, i.command.Load(), err)
		}
		comm.Abort(status)
	})
	os.Exit(status)
}

// say waits for what write says, but not for long.
func say(to io.Writer, write func(io.Writer)) {
	said := make(chan struct{})
	go func() { write(to); close(said) }()
	select {
	case <-said:
	case <-time.After(lastWords):
	}
}

// leave reports that the command has ended by itself. Where it was given up before, it never returns.
func (i *interruption) leave() {
	if !i.leaving.CompareAndSwap(false, true) {
		select {}
	}
}

// hear takes from progress whether a training is saving.
func (i *interruption) hear(p experiment.Progress) {
	if p.Saving || p.Ended {
		i.saving.Store(p.Saving)
	}
}

// A patientWriter waits for its reader, but after an interrupt not for long: a training has a
// checkpoint to write, whether or not anybody reads what it says.
type patientWriter struct {
	io.Writer
	interrupted <-chan struct{}
}

func (w patientWriter) Write(b []byte) (int, error) {
	done := make(chan error, 1)
	text := bytes.Clone(b)
	go func() { _, err := w.Writer.Write(text); done <- err }()
	select {
	case err := <-done:
		return len(b), err
	case <-w.interrupted:
	}
	select {
	case err := <-done:
		return len(b), err
	case <-time.After(lastWords):
		return 0, fmt.Errorf("standard error: %w", os.ErrDeadlineExceeded)
	}
}
