//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// limits starves every command of disk, of file size and of memory, takes away its
// streams and its right to write, and continues without the limit.
func (h *harness) limits() error {
	for _, s := range h.chosen {
		if s.name == "reproduce" && h.short {
			continue
		}
		for _, limit := range h.sample([]string{
			"ulimit -f 0", "ulimit -f 1", "ulimit -f 8", "ulimit -f 40", "ulimit -f 120", "ulimit -v 500000", "ulimit -v 1500000", "ulimit -n 12", "ulimit -u 20",
		}, 2) {
			if err := h.under(s, limit, ""); err != nil {
				return err
			}
		}
		for _, streams := range h.sample([]string{">&-", "2>&-", "<&-", ">&- 2>&- <&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>&1", "| true", "2>&1 | true"}, 2) {
			if err := h.under(s, "true", streams); err != nil {
				return err
			}
		}
		h.done(s)
	}
	return h.disks()
}

// sample is all of a list, or a few of it.
func (h *harness) sample(all []string, short int) []string {
	if !h.short {
		return all
	}
	var some []string
	for _, i := range h.rng.Perm(len(all))[:short] {
		some = append(some, all[i])
	}
	return some
}

// under runs a scenario in a shell with a limit, then finishes it without.
func (h *harness) under(s *scenario, limit, streams string) error {
	if err := h.load(s.state); err != nil {
		return err
	}
	var quoted []string
	for _, a := range s.args {
		quoted = append(quoted, "'"+a+"'")
	}
	e, err := h.exec(nil, "sh", "-c", limit+" && "+h.pihc+" -q "+strings.Join(quoted, " ")+" "+streams)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s: %s %s", s.name, limit, streams)
	// Without memory, threads or a standard error the runtime may have the last word.
	own := strings.HasPrefix(limit, "ulimit -v") || strings.HasPrefix(limit, "ulimit -u") || strings.Contains(streams, "2>") || strings.Contains(streams, "|")
	if problem := e.clear(); problem != nil && !own {
		h.fail("%s: %v", what, problem)
	}
	if e.status == 0 && streams == "" {
		h.notes["enough"]++
	}
	return h.finish(s, what)
}

// disks runs every command on a disk that is too small, then on one that cannot be
// written to, where this user may mount one.
func (h *harness) disks() error {
	mount := func(options string) error {
		return exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", h.path()).Run()
	}
	if err := os.MkdirAll(h.path(), 0o777); err != nil {
		return err
	}
	if err := mount("size=1m"); err != nil {
		fmt.Println("limits: no disk can be mounted here: full and read-only ones were not tried, limits of file sizes were")
		return nil
	}
	unmount := func() error { return exec.Command("umount", h.path()).Run() }
	if err := unmount(); err != nil {
		return err
	}
	for _, s := range h.chosen {
		sizes := []string{"size=32k", "size=64k", "size=128k", "size=192k", "size=256k", "size=320k", "size=448k", "ro"}
		for _, size := range h.sample(sizes, 1) {
			if err := h.onDisk(s, size, mount, unmount); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *harness) onDisk(s *scenario, size string, mount func(string) error, unmount func() error) error {
	if err := h.load("empty"); err != nil {
		return err
	}
	if err := mount("size=64m"); err != nil {
		return err
	}
	defer unmount()
	if err := os.CopyFS(h.path(), os.DirFS(h.work+"/states/"+s.state)); err != nil {
		return err
	}
	if err := mount("remount," + size); err != nil {
		h.notes["smaller than what is there"]++
		return nil
	}
	what := fmt.Sprintf("%s: on a disk of %s", s.name, size)
	e, err := h.pihcWith("", s.args...)
	if err != nil {
		return err
	}
	if problem := e.clear(); problem != nil {
		h.fail("%s: %v", what, problem)
	}
	if e.status == 0 {
		h.notes["large enough"]++
	}
	if err := mount("remount,rw,size=64m"); err != nil {
		return err
	}
	return h.finish(s, what)
}
