package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"pihc/internal/words"
	"pihc/train"
)

func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		err    error
		status int
		text   string
	}{
		{usagef("no"), 2, "pihc: no\nhint: see `pihc --help`\n"},
		{words.WithHint(fmt.Errorf("left: %w", fs.ErrPermission), "ask %s", "them"), 1, "pihc: left: permission denied\nhint: ask them\n"},
		{&fs.PathError{Op: "write", Path: "u.npz", Err: syscall.ENOSPC}, 1, "pihc: write u.npz: no space left on device\nhint: the disk is full: free some space; the same command again starts anew, or continues what was begun\n"},
		{&fs.PathError{Op: "write", Path: "u.npz", Err: syscall.EFBIG}, 1, "pihc: write u.npz: file too large\nhint: files may not be this large here: raise the limit of the shell (ulimit -f), or choose another file system; the same command again starts anew, or continues what was begun\n"},
		{fmt.Errorf("lock run: %w", fs.ErrPermission), 1, "pihc: lock run: permission denied\nhint: it needs the right to write there; a copy of the folder will do\n"},
		{fmt.Errorf("sample 3: %w", context.Canceled), 130, "pihc: interrupted\n"},
		{fmt.Errorf("%w at step 3", train.ErrInterrupted), 130, "pihc: training interrupted; a checkpoint was written at step 3\n"},
	} {
		var b bytes.Buffer
		root := newRoot(&app{})
		printError(&b, root, tc.err)
		if b.String() != tc.text {
			t.Errorf("%v prints\n%s\nwant\n%s", tc.err, b.String(), tc.text)
		}
		if got := exitStatus(tc.err); got != tc.status {
			t.Errorf("%v: exit status %d, want %d", tc.err, got, tc.status)
		}
	}
}

// Every command is described, with an example that calls it.
func TestHelp(t *testing.T) {
	root := newRoot(&app{})
	for _, c := range root.Commands() {
		if c.Short == "" || c.Long == "" || !strings.Contains(c.Example, "pihc "+c.Name()) {
			t.Errorf("%s lacks a description or an example", c.Name())
		}
	}
}
