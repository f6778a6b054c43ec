package disk

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An Output is a file that a command is asked to write.
type Output struct {
	Path string
	Kind string // what the command writes, in words: "file of metrics"
	// Ours reports whether a file has the content of one that this command wrote; nil: none counts as that.
	Ours func(path string) bool
	// Belongs reports whether a run folder has a file of this name for what the command writes; nil: none has.
	Belongs func(folder, name string) bool
	Force   bool     // replace any file
	Reads   []string // files that the command reads, which are not replaced in any case
	Makes   bool     // the folders above the file are made
}

// An outputError says why something is not written to.
type outputError struct{ reason, hint string }

func (e *outputError) Error() string { return e.reason }
func (e *outputError) Hint() string  { return e.hint }

func refused(hint, reason string, args ...any) error {
	return &outputError{fmt.Sprintf(reason, args...), hint}
}

const anotherName = "choose another name for --out"

// Check is Allowed, and an error where the folder of the file is not there or cannot be written to.
func (o Output) Check() error {
	if err := o.Allowed(); err != nil {
		return err
	}
	return o.place()
}

// Allowed returns an error unless the file may be written: there is none of the name, or it is ours by its content, or Force is
// set. With Force too it is no device, pipe, folder or link, and lies in no run or dataset folder but under a name that
// belongs there. Nothing is changed.
func (o Output) Allowed() error {
	if o.Path == "" || os.IsPathSeparator(o.Path[len(o.Path)-1]) {
		return refused(anotherName, "%q is not the name of a file", o.Path)
	}
	info, err := os.Lstat(o.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return writing(o.Path, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return refused("name the file itself, or choose another", "%s is a symbolic link", o.Path)
	case !info.Mode().IsRegular():
		return refused(anotherName, "%s is %s, not a file", o.Path, kind(info.Mode()))
	}
	if err := Outside(o.Path, o.Belongs); err != nil {
		return err
	}
	if info == nil {
		return nil
	}
	for _, path := range o.Reads {
		if read, err := os.Stat(path); err == nil && os.SameFile(info, read) {
			return refused(anotherName, "%s is the file that is read", o.Path)
		}
	}
	if !o.Force && (o.Ours == nil || !o.Ours(o.Path)) {
		return refused("choose another name, or replace it with --force", "%s exists already, and is no %s", o.Path, o.Kind)
	}
	return nil
}

// place returns an error for a folder that is not there, or that no file can be made in.
func (o Output) place() error {
	dir, _ := filepath.Split(o.Path)
	dir = cmp.Or(dir, ".")
	if o.Makes {
		dir = Existing(dir)
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refused("make the folder first", "%s: its folder does not exist", o.Path)
	case err != nil:
		return writing(o.Path, err)
	case !info.IsDir():
		return writing(o.Path, fmt.Errorf("%s is not a folder", dir))
	}
	return writing(o.Path, writable(dir))
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Outside returns an error for a path in a run or dataset folder, seen through links and dots. In a run folder a path may
// have a name of which belongs, which may be nil, says so.
func Outside(path string, belongs func(folder, name string) bool) error {
	above, name, err := real(path)
	if err != nil {
		return writing(path, err)
	}
	for {
		switch {
		case isDataset(above):
			return refused(anotherName+": a dataset has the files that `pihc generate` made, and no others", "%s lies in the dataset %s", path, above)
		case isRun(above) && belongs != nil && belongs(above, name):
			return nil
		case isRun(above):
			return refused(anotherName+": a run folder has metrics.json of `pihc eval`, report.html of `pihc report`, and what training writes", "%s lies in the run folder %s", path, above)
		}
		up := filepath.Dir(above)
		if up == above {
			return nil
		}
		name = filepath.Join(filepath.Base(above), name)
		above = up
	}
}

// real is the folder above a path that there is, without links and dots, and the path from there.
func real(path string) (above, name string, err error) {
	dir, name := filepath.Split(strings.TrimRight(path, string(filepath.Separator)))
	if !filepath.IsAbs(dir) {
		working, err := os.Getwd()
		if err != nil {
			return "", "", err
		}
		dir = working + string(filepath.Separator) + dir // not cleaned: dots after a link are dots of what it leads to
	}
	if above, err = filepath.EvalSymlinks(dir); err == nil {
		return above, name, nil
	}
	existing := Existing(dir)
	if above, err = filepath.EvalSymlinks(existing); err != nil {
		return "", "", err
	}
	rest, err := filepath.Rel(existing, filepath.Clean(dir))
	return above, filepath.Join(rest, name), err
}

// isRun reports whether a folder is a run, by what training makes there. A folder of `pihc init` has the first two of these files.
func isRun(dir string) bool {
	there := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { _, err := os.Lstat(filepath.Join(dir, name)); return err == nil })
	}
	if !there("spec.yaml") || !there("problem.yaml") {
		return false
	}
	entries, _ := os.ReadDir(filepath.Join(dir, "checkpoints"))
	return there("log.jsonl", "run.json") || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == "begins" || e.Name() == "best.json" || strings.HasPrefix(e.Name(), "step-")
	})
}

// isDataset reports whether a folder has the manifest of a dataset, whole or not.
func isDataset(dir string) bool {
	for _, name := range []string{"manifest.json", "manifest.partial.json"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		var head struct{ Format string }
		if text, err := ReadFile(path); err == nil && json.Unmarshal(text, &head) == nil && head.Format == "pihc dataset" {
			return true
		}
	}
	return false
}

// ArrayNames are the names of the arrays in an NPZ file as pihc writes it, without times and compression; nil of any other
// file, those that NumPy wrote among them.
func ArrayNames(path string) []string {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		name, npy := strings.CutSuffix(f.Name, ".npy")
		if !npy || f.Method != zip.Store || f.ModifiedDate != 0 || f.ModifiedTime != 0 || f.Comment != "" { //nolint:staticcheck // the fields as stored
			return nil
		}
		names = append(names, name)
	}
	if z.Comment != "" {
		return nil
	}
	return names
}
