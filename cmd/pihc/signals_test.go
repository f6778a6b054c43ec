package main

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pihc/engine"
	"pihc/model"
	"pihc/pde"
)

// stuck is pihc with an engine "stuck" that makes a file of this name, and then nothing more: it stands for whatever blocks.
func stuck() {
	engine.Register("stuck", engine.Constructors{
		Float32: func(*model.Spec, *pde.Problem, engine.Options) (engine.Engine[float32], error) {
			_ = os.WriteFile("stuck", nil, 0o666)
			select {}
		},
	})
	main()
}

var signalNumbers = map[string]os.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT}

// signal NAME[,NAME...] N FILE command args...: runs a command, sends it signals once FILE exists, and requires its exit
// status, -1 where a signal ends it, and that it ends within seconds. Nobody reads its standard output. Its standard error is left
// in the file "signalled"; after 2>&1 nobody reads that either.
func signalCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: signal NAME[,NAME...] N FILE command args...")
	}
	names := args[0]
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	file, args := ts.MkAbs(args[2]), args[3:]
	unheard := args[0] == "2>&1"
	if unheard {
		args = args[1:]
	}
	path, err := exec.LookPath(args[0])
	ts.Check(err)
	unread, full, err := os.Pipe()
	ts.Check(err)
	defer unread.Close()
	for filled := 0; filled < 1<<16; { // what a pipe of Linux holds; less elsewhere ends at the deadline
		_ = full.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := full.Write(make([]byte, 1<<12))
		if filled += n; err != nil {
			break
		}
	}
	command := exec.Command(path, args[1:]...)
	command.Dir = ts.MkAbs(".")
	var stderr bytes.Buffer
	command.Stdout, command.Stderr = full, &stderr
	if unheard {
		command.Stderr = full
	}
	ts.Check(command.Start())
	ts.Check(full.Close())
	ts.Defer(func() { _ = command.Process.Kill() })
	wait := time.Minute
	if unheard { // it stops at its first message, before there is a file
		wait = 2 * time.Second
	}
	for deadline := time.Now().Add(wait); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			break
		}
	}
	begin := time.Now()
	for name := range strings.SplitSeq(names, ",") {
		ts.Check(command.Process.Signal(signalNumbers[name]))
		time.Sleep(100 * time.Millisecond)
	}
	_ = command.Wait()
	ts.Check(os.WriteFile(ts.MkAbs("signalled"), stderr.Bytes(), 0o666))
	if got := command.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit status %d, want %d; standard error:\n%s", got, want, stderr.String())
	}
	if took := time.Since(begin); took > 20*time.Second { // on a busy machine; one second otherwise
		ts.Fatalf("ended after %v", took)
	}
}
