//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// patience is after how long a command counts as hanging.
const patience = 10 * time.Minute

// ending tells how a process ended.
type ending struct {
	status   int // -1: by a signal
	out, err string
	seconds  float64
}

// start begins a command in the folder of the case, as the leader of a group of
// processes, which the end of ctx kills.
func (h *harness) start(ctx context.Context, env []string, name string, args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.Dir = h.path()
	c.Env = append(append(os.Environ(), "PIHC_FAULT=", "PIHC_FAULT_TRACE="), env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out, err bytes.Buffer
	c.Stdout, c.Stderr = &out, &err
	c.WaitDelay = time.Second
	return c, &out, &err, c.Start()
}

// exec runs a command to its end.
func (h *harness) exec(env []string, name string, args ...string) (ending, error) {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, out, err, failed := h.start(ctx, env, name, args...)
	if failed != nil {
		return ending{}, failed
	}
	_ = c.Wait()
	return ending{c.ProcessState.ExitCode(), out.String(), err.String(), time.Since(begin).Seconds()}, nil
}

// pihcWith runs pihc with a fault: "kill 7", or "" for none.
func (h *harness) pihcWith(fault string, args ...string) (ending, error) {
	return h.exec([]string{"PIHC_FAULT=" + fault}, h.pihc, append([]string{"-q"}, args...)...)
}

var dump = regexp.MustCompile(`(?m)^(panic:|fatal error:|goroutine \d+|runtime: |SIG[A-Z]+: )`)

// clear returns what is wrong with how a process ended by itself: an exit status of
// its own, a stack dump, or a failure without one line that says what.
func (e ending) clear() error {
	switch {
	case dump.MatchString(e.err):
		return fmt.Errorf("a stack dump: %.300s", e.err)
	case e.status == 0:
		return nil
	case e.status != 1 && e.status != 130:
		return fmt.Errorf("exit status %d: %.300s", e.status, e.err)
	case !strings.HasPrefix(e.err, "pihc: ") || strings.Count(e.err, "\npihc: ") > 2:
		return fmt.Errorf("no clear line: %.300q", e.err)
	}
	return nil
}
