//go:build unix

package stress

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// writers are commands that write a file of the user's choice, but for its name.
var writers = [][]string{
	{"report", "run", "--out"},
	{"eval", "run", "--out"},
	{"predict", "run", "--initial", "u0.npy", "--out"},
	{"import", "u.npz", "--solution", "u", "--out"},
}

// outputs has every command write over every file of the folder, a device and a pipe, by several spellings, with and without
// --force: refused in one line with all files as they were, but for files outside of run and dataset with --force.
func (h *harness) outputs() {
	h.load("predicted")
	names := slices.Sorted(maps.Keys(must(h.snapshot())))
	names = append(names, "run", "data", "run/new.html", "data/new.npz", "none/new.npz", "/dev/null", "/dev/stdout")
	for _, command := range writers {
		for i, name := range names {
			if h.short && (i+h.rng.IntN(4))%4 > 0 {
				continue
			}
			for _, spelt := range []string{name, "run/../" + name, "linked/" + strings.TrimPrefix(name, "run/")} {
				if filepath.IsAbs(name) && spelt != name || strings.HasPrefix(spelt, "linked/") && !strings.HasPrefix(name, "run/") {
					continue
				}
				for _, force := range []bool{false, true} {
					h.load("predicted")
					check(os.Symlink("run", h.path("linked")))
					before := h.tree()
					args := append(slices.Clone(command), spelt)
					if force {
						args = append(args, "--force")
					}
					e := h.run("", args...)
					what := fmt.Sprintf("pihc %s", strings.Join(args, " "))
					h.cases++
					own := strings.HasPrefix(name, "run/metrics.json") && command[0] == "eval" || name == "u.npz" && command[0] == "predict"
					own = own || name == "none/new.npz" && command[0] == "report" // which makes folders
					free := !strings.Contains(name, "/") && name != "run" && name != "data"
					switch {
					case e.status == 0 && (own || free && force):
						h.notes["written"]++
					case e.status == 0:
						h.fail("%s: not refused", what)
					case h.clear(e, what) && !slices.Equal(before, h.tree()):
						h.fail("%s: refused, and files changed", what)
					default:
						h.notes["refused"]++
					}
				}
			}
		}
	}
}

// links puts links to a file outside in the place of every file of a run and its dataset: whatever the command does, the file
// stays, and what is in it is not shown.
func (h *harness) links() {
	for _, of := range []struct{ scenario, state, files string }{
		{"resume", "begun", "run"},
		{"extend", "trained", "run"},
		{"eval", "trained", "run"},
		{"report", "scored", "run"},
		{"predict", "trained", "run"},
		{"from", "trained", "run"},
		{"generate", "data", "data"},
		{"train", "data", "data"},
	} {
		h.load(of.state)
		var names []string
		for name := range must(h.snapshot()) {
			if strings.HasPrefix(name, of.files+"/") {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		names = append(names, of.files+"/lock.json", of.files+"/metrics.json", of.files+"/manifest.partial.json")
		if of.files == "run" {
			names = append(names, "run/checkpoints")
		}
		for _, name := range names {
			if h.short && h.rng.IntN(4) > 0 {
				continue
			}
			h.load(of.state)
			outside := filepath.Join(h.work, "outside")
			check(os.RemoveAll(outside))
			if err := os.Rename(h.path(name), outside); errors.Is(err, fs.ErrNotExist) {
				check(os.WriteFile(outside, []byte("precious"), 0o666))
			} else {
				check(err)
			}
			check(os.Symlink(outside, h.path(name)))
			before := treeOf(outside)
			s := scenarioNamed(of.scenario)
			e := h.run("", s.args...)
			what := fmt.Sprintf("%s with %s a link", s.name, name)
			h.cases++
			switch {
			case !h.clear(e, what):
			case !slices.Equal(before, treeOf(outside)):
				h.fail("%s: what it leads to changed", what)
			case strings.Contains(e.err, "precious"):
				h.fail("%s: what it leads to is shown: %s", what, e.err)
			case e.status != 0:
				h.notes["refused"]++
			default:
				h.notes["of no consequence"]++
			}
		}
	}
}

// tree is every file of the case with its content, and every link.
func (h *harness) tree() []string { return treeOf(h.path()) }

func treeOf(root string) (all []string) {
	check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		line := path
		if err == nil && d.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			line += ": " + string(text)
		}
		all = append(all, line)
		return err
	}))
	return all
}
