package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// clock start begins a measurement; clock N fails if more than N seconds have passed
// since.
func clockCommand(ts *testscript.TestScript, neg bool, args []string) {
	const key = "CLOCK"
	if neg || len(args) != 1 {
		ts.Fatalf("usage: clock start|SECONDS")
	}
	if args[0] == "start" {
		ts.Setenv(key, time.Now().Format(time.RFC3339Nano))
		return
	}
	limit, err := strconv.ParseFloat(args[0], 64)
	ts.Check(err)
	begin, err := time.Parse(time.RFC3339Nano, ts.Getenv(key))
	ts.Check(err)
	if took := time.Since(begin).Seconds(); took > limit {
		ts.Fatalf("it took %.1f s, more than %g", took, limit)
	}
}

// killrank N: kills (SIGKILL) rank N of Open MPI that runs in the script's folder.
func killrankCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: killrank N")
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	ts.Check(err)
	want := fmt.Appendf(nil, "OMPI_COMM_WORLD_RANK=%s", args[0])
	for _, p := range processes {
		folder, err := os.Readlink(filepath.Join(p, "cwd"))
		if err != nil || folder != ts.MkAbs(".") {
			continue // another's, or gone
		}
		environment, _ := os.ReadFile(filepath.Join(p, "environ"))
		for v := range bytes.SplitSeq(environment, []byte{0}) {
			if bytes.Equal(v, want) {
				pid, err := strconv.Atoi(filepath.Base(p))
				ts.Check(err)
				process, err := os.FindProcess(pid)
				ts.Check(err)
				ts.Check(process.Signal(syscall.SIGKILL))
				return
			}
		}
	}
	ts.Fatalf("no process here is rank %s", args[0])
}

// terminate: sends SIGTERM to all background commands.
func terminateCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: terminate")
	}
	for _, c := range ts.BackgroundCmds() {
		ts.Check(c.Process.Signal(syscall.SIGTERM))
	}
}
