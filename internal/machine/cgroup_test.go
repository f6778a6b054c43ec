//go:build linux || darwin

package machine

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

const gib = 1 << 30

// The limit is the least of the process's group and those above it, wherever they are mounted.
func TestCgroupLimit(t *testing.T) {
	const (
		v2   = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		v1   = "35 30 0:31 / /sys/fs/cgroup/memory rw shared:11 - cgroup cgroup rw,memory\n"
		cpu  = "36 30 0:32 / /sys/fs/cgroup/cpu,cpuacct rw shared:12 - cgroup cgroup rw,cpu,cpuacct\n"
		root = "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
	)
	for _, test := range []struct {
		name, group, mounts string
		files               map[string]string
		want                float64
	}{
		{"none", "0::/\n", root, nil, math.Inf(1)},
		{"no /proc", "", "", map[string]string{"/sys/fs/cgroup/memory.max": "1"}, math.Inf(1)},
		{"unlimited", "0::/user.slice\n", root + v2, map[string]string{"/sys/fs/cgroup/user.slice/memory.max": "max\n"}, math.Inf(1)},
		{"a unit of systemd", "0::/user.slice/user-1000.slice/run-7.scope\n", root + v2, map[string]string{
			"/sys/fs/cgroup/user.slice/user-1000.slice/run-7.scope/memory.max": "2147483648\n",
			"/sys/fs/cgroup/user.slice/user-1000.slice/memory.max":             "max\n",
		}, 2 * gib},
		{"the slice above has less", "0::/user.slice/user-1000.slice/run-7.scope\n", v2 + root, map[string]string{
			"/sys/fs/cgroup/user.slice/user-1000.slice/run-7.scope/memory.max": "4294967296\n",
			"/sys/fs/cgroup/user.slice/user-1000.slice/memory.max":             "1073741824\n",
			"/sys/fs/cgroup/other.slice/memory.max":                            "1\n",
		}, gib},
		{"a job of Slurm, version 2", "0::/system.slice/slurmstepd.scope/job_12/step_0/user/task_0\n", v2, map[string]string{
			"/sys/fs/cgroup/system.slice/slurmstepd.scope/job_12/memory.max":                    "3221225472\n",
			"/sys/fs/cgroup/system.slice/slurmstepd.scope/job_12/step_0/user/task_0/memory.max": "max\n",
		}, 3 * gib},
		{"a job of Slurm, version 1", "9:cpu,cpuacct:/slurm/uid_0/job_12\n5:memory:/slurm/uid_0/job_12/step_batch\n0::/system.slice/slurmd.service\n", root + cpu + v1, map[string]string{
			"/sys/fs/cgroup/memory/slurm/uid_0/job_12/memory.limit_in_bytes":            "1073741824\n",
			"/sys/fs/cgroup/memory/slurm/uid_0/job_12/step_batch/memory.limit_in_bytes": "9223372036854771712\n",
			"/sys/fs/cgroup/cpu,cpuacct/slurm/uid_0/job_12/memory.limit_in_bytes":       "1\n",
		}, gib},
		{"both versions", "5:memory:/a\n0::/b\n", v1 + "40 30 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", map[string]string{
			"/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "2147483648\n",
			"/sys/fs/cgroup/unified/b/memory.max":           "1073741824\n",
		}, gib},
		{"a container with a namespace of its own", "0::/\n", v2, map[string]string{"/sys/fs/cgroup/memory.max": "1073741824\n"}, gib},
		{"a group in such a container", "0::/jobs/1\n", v2, map[string]string{"/sys/fs/cgroup/memory.max": "1073741824\n", "/sys/fs/cgroup/jobs/1/memory.max": "max\n"}, gib},
		{"a container without one", "5:memory:/docker/4f2a\n", "35 30 0:31 /docker/4f2a /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n", map[string]string{
			"/sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
		}, gib},
		{"moved out of the root of its namespace", "0::/../other\n", v2, map[string]string{"/sys/fs/cgroup/memory.max": "1073741824\n"}, gib},
		{"groups that are not mounted", "5:memory:/docker/4f2a\n", "35 30 0:31 /docker/4f2a /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n", map[string]string{
			"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			"/sys/fs/cgroup/memory/memory.stat":           "cache 1\nrss 2\nhierarchical_memory_limit 2147483648\ntotal_cache 1\n",
		}, 2 * gib},
		{"a name that is the beginning of another", "0::/docker/4f2abc\n", "35 30 0:31 /docker/4f2a /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", map[string]string{
			"/sys/fs/cgroup/bc/memory.max": "1\n", "/sys/fs/cgroup/memory.max": "1073741824\n",
		}, gib},
		{"mounted elsewhere, with a space and a colon", "0::/a b:c/d\n", "30 24 0:26 / /mnt/control\\040groups rw - cgroup2 none rw\n", map[string]string{
			"/mnt/control groups/a b:c/memory.max": "1073741824\n",
		}, gib},
		{"a line that is cut off", "0::", "30 24 0:26\n" + v2 + "30 24 0:26 / - cgroup2\n", map[string]string{"/sys/fs/cgroup/memory.max": "1073741824\n"}, gib},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{"/proc/self/cgroup": test.group, "/proc/self/mountinfo": test.mounts}
			for name, text := range test.files {
				files[name] = text
			}
			for name, text := range files {
				if err := os.MkdirAll(filepath.Dir(dir+name), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(dir+name, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if got := cgroupLimit(dir); got != test.want {
				t.Errorf("limit %g, want %g", got, test.want)
			}
		})
	}
}
