//go:build unix

package stress

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// limits starves every command of disk, of file size and of memory, takes away its
// streams and its right to write, and continues without the limit.
func (h *harness) limits() {
	for _, s := range h.chosen {
		if s.name == "reproduce" && h.short {
			continue
		}
		for _, limit := range h.sample([]string{
			"ulimit -f 0", "ulimit -f 1", "ulimit -f 8", "ulimit -f 40", "ulimit -f 120", "ulimit -v 500000", "ulimit -v 1500000", "ulimit -n 12", "ulimit -u 20",
		}, 2) {
			h.under(s, limit, "")
		}
		for _, streams := range h.sample([]string{">&-", "2>&-", "<&-", ">&- 2>&- <&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>&1", "| true", "2>&1 | true"}, 2) {
			h.under(s, "true", streams)
		}
		h.done(s)
	}
	h.disks()
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
func (h *harness) under(s *scenario, limit, streams string) {
	h.load(s.state)
	e := must(h.exec(nil, "sh", "-c", limit+" && "+h.pihc+" -q '"+strings.Join(s.args, "' '")+"' "+streams))
	what := fmt.Sprintf("%s: %s %s", s.name, limit, streams)
	// Without memory, threads or a standard error the runtime may have the last word.
	if !strings.HasPrefix(limit, "ulimit -v") && !strings.HasPrefix(limit, "ulimit -u") && !strings.Contains(streams, "2>") && !strings.Contains(streams, "|") {
		h.clear(e, what)
	}
	if e.status == 0 && streams == "" {
		h.notes["enough"]++
	}
	h.finish(s, what)
}

// mount puts a file system in memory on the folder of the case, or changes its options.
func (h *harness) mount(options string) error {
	return exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", h.path()).Run()
}

func (h *harness) unmount() error { return exec.Command("umount", h.path()).Run() }

// disks runs every command on a disk that is too small, then on one that cannot be
// written to, where this user may mount one.
func (h *harness) disks() {
	check(os.MkdirAll(h.path(), 0o777))
	if err := h.mount("size=1m"); err != nil {
		fmt.Println("limits: no disk can be mounted here: full and read-only ones were not tried, limits of file sizes were")
		return
	}
	check(h.unmount())
	for _, s := range h.chosen {
		for _, size := range h.sample([]string{"size=32k", "size=64k", "size=128k", "size=192k", "size=256k", "size=320k", "size=448k", "ro"}, 1) {
			h.onDisk(s, size)
		}
	}
}

func (h *harness) onDisk(s *scenario, size string) {
	h.load("empty")
	check(h.mount("size=64m"))
	defer h.unmount()
	check(os.CopyFS(h.path(), os.DirFS(h.work+"/states/"+s.state)))
	if err := h.mount("remount," + size); err != nil {
		h.notes["smaller than what is there"]++
		return
	}
	what := fmt.Sprintf("%s: on a disk of %s", s.name, size)
	e := h.run("", s.args...)
	h.clear(e, what)
	if e.status == 0 {
		h.notes["large enough"]++
	}
	check(h.mount("remount,rw,size=64m"))
	h.finish(s, what)
}
