//go:build unix

package stress

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
	status  int // -1: by a signal
	err     string
	seconds float64
}

// start begins a command in the folder of the case, as the leader of a group of
// processes, which the end of ctx kills. The channel is closed at its end.
func (h *harness) start(ctx context.Context, env []string, name string, args ...string) (c *exec.Cmd, stderr *bytes.Buffer, ended chan struct{}, err error) {
	c, stderr, ended = exec.CommandContext(ctx, name, args...), new(bytes.Buffer), make(chan struct{})
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.Dir = h.path()
	c.Env = append(append(os.Environ(), "PIHC_FAULT=", "PIHC_FAULT_TRACE="), env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Stdout, c.Stderr = new(bytes.Buffer), stderr
	c.WaitDelay = time.Second
	if err = c.Start(); err == nil {
		go func() { _ = c.Wait(); close(ended) }()
	}
	return c, stderr, ended, err
}

// exec runs a command to its end.
func (h *harness) exec(env []string, name string, args ...string) (ending, error) {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, stderr, ended, err := h.start(ctx, env, name, args...)
	if err != nil {
		return ending{}, err
	}
	<-ended
	return ending{c.ProcessState.ExitCode(), stderr.String(), time.Since(begin).Seconds()}, nil
}

// run runs pihc with a fault: "kill 7", or "" for none.
func (h *harness) run(fault string, args ...string) ending {
	return must(h.exec([]string{"PIHC_FAULT=" + fault}, h.pihc, append([]string{"-q"}, args...)...))
}

// undisturbed runs pihc, which has to succeed.
func (h *harness) undisturbed(env []string, args ...string) ending {
	e := must(h.exec(env, h.pihc, append([]string{"-q"}, args...)...))
	if e.status != 0 {
		check(fmt.Errorf("pihc %s: %s", strings.Join(args, " "), e.err))
	}
	return e
}

var dump = regexp.MustCompile(`(?m)^(panic:|fatal error:|goroutine \d+|runtime: |SIG[A-Z]+: )`)

// logged are warnings of the log, which may come before.
var logged = regexp.MustCompile(`(?m)^time=\S+ level=WARN .*\n`)

// clear reports whether a process ended by itself as it should: with an exit status of
// its choice, no stack dump, and one line that says what failed. If not, the case fails.
func (h *harness) clear(e ending, what string) bool {
	said, problem := logged.ReplaceAllString(e.err, ""), ""
	switch {
	case dump.MatchString(e.err):
		problem = fmt.Sprintf("a stack dump: %.300s", e.err)
	case e.status == 0:
	case e.status != 1 && e.status != 130:
		problem = fmt.Sprintf("exit status %d: %.300s", e.status, e.err)
	case !strings.HasPrefix(said, "pihc: ") || strings.Count(said, "\npihc: ") > 2:
		problem = fmt.Sprintf("no clear line: %.300q", e.err)
	}
	if problem != "" {
		h.fail("%s: %s", what, problem)
	}
	return problem == ""
}
