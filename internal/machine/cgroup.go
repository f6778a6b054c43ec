//go:build linux || darwin

package machine

import (
	"fmt"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cgroupLimit is the least memory that a control group which this process is in may have, in bytes, +Inf
// without a limit: of its own group and all those above it, as far as they are mounted here, of both
// versions (cgroups(7)). Paths of files begin with root, "" but in tests.
func cgroupLimit(root string) float64 {
	groups, _ := os.ReadFile(root + "/proc/self/cgroup")
	mounts, _ := os.ReadFile(root + "/proc/self/mountinfo")
	least := math.Inf(1)
	// read takes the number after a word of a file, "max" not being one.
	read := func(file, word string) {
		var limit float64
		text, _ := os.ReadFile(root + file)
		if _, rest, found := strings.Cut(string(text), word); found {
			if _, err := fmt.Sscan(rest, &limit); err == nil && limit > 0 {
				least = min(least, limit)
			}
		}
	}
	for line := range strings.Lines(string(mounts)) {
		top, at, version := cgroupMount(line)
		if version == 0 {
			continue
		}
		file := "memory.max"
		own := path.Join(at, below(top, groupPath(string(groups), version)))
		if version == 1 {
			file = "memory.limit_in_bytes"
			read(path.Join(own, "memory.stat"), "hierarchical_memory_limit ") // counts groups that are not mounted here, too
		}
		for dir := own; ; dir = path.Dir(dir) {
			read(path.Join(dir, file), "")
			if len(dir) <= len(at) {
				break
			}
		}
	}
	return least
}

// cgroupMount reads a line of /proc/self/mountinfo (proc_pid_mountinfo(5)): the group that is the root of
// the mount, where it is mounted, and the version; 0 for what holds no groups of memory.
func cgroupMount(line string) (top, at string, version int) {
	before, after, _ := strings.Cut(line, " - ")
	mount, kind := strings.Fields(before), strings.Fields(after)
	if len(mount) < 5 || len(kind) < 3 {
		return "", "", 0
	}
	switch {
	case kind[0] == "cgroup2":
		version = 2
	case kind[0] == "cgroup" && slices.Contains(strings.Split(kind[2], ","), "memory"):
		version = 1
	}
	return unescape(mount[3]), unescape(mount[4]), version
}

// groupPath is the group of the process in the hierarchy of a version, from a text like /proc/self/cgroup.
func groupPath(groups string, version int) string {
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) < 3 {
			continue
		}
		if version == 2 && parts[0] == "0" && parts[1] == "" || version == 1 && slices.Contains(strings.Split(parts[1], ","), "memory") {
			return parts[2]
		}
	}
	return "/"
}

// below is the path of a group from the root of a mount, "" where it is not in there: a process may have been
// moved since its namespace was made.
func below(top, group string) string {
	top, group = path.Clean(top), path.Clean(group)
	if rest, ok := strings.CutPrefix(group, strings.TrimSuffix(top, "/")); ok && (rest == "" || rest[0] == '/') {
		return rest
	}
	return ""
}

var octal = regexp.MustCompile(`\\[0-7]{3}`)

// unescape undoes the writing of spaces and the like in mountinfo.
func unescape(text string) string {
	return octal.ReplaceAllStringFunc(text, func(code string) string {
		n, _ := strconv.ParseUint(code[1:], 8, 8)
		return string([]byte{byte(n)})
	})
}
