package disk

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// lockFile is in a folder while a process works there. It stays after a kill,
// and the next process takes it over.
const LockFile = "lock.json"

// Holder is the content of a lock file: the process that works in a folder.
type Holder struct {
	Process int       `json:"process"`
	Host    string    `json:"host"`
	Start   time.Time `json:"start"` // of its work in the folder
	Command string    `json:"command,omitempty"`
}

// A LockedError reports a folder that another process works in, or may work in:
// of a process on another host nobody here knows whether it is alive.
type LockedError struct {
	Dir    string
	Holder Holder
	Remote bool // the holder is on another host
	Self   Holder
}

func (e *LockedError) Error() string {
	who := "another process"
	if h := e.Holder; h.Process != 0 {
		who = fmt.Sprintf("process %d on host %s since %s", h.Process, h.Host, h.Start.Local().Format("2006-01-02 15:04:05"))
	}
	return fmt.Sprintf("%s is in use by %s (this is process %d on host %s)", e.Dir, who, e.Self.Process, e.Self.Host)
}

// Hint says what to do.
func (e *LockedError) Hint() string {
	if e.Remote {
		return "if that process has ended, remove " + LockPath(e.Dir)
	}
	return "wait until it has ended, or stop it"
}

// LockPath is the path of the lock file of a folder.
func LockPath(dir string) string { return filepath.Join(dir, LockFile) }

// Lock is the right to write in a folder, held against other processes and other
// calls of this one. It is advisory: only LockFolder heeds it.
type Lock struct {
	path string
	file *os.File
}

// LockFolder claims a folder, which must exist. The operating system ends the
// claim with the process, so the lock file of a killed process is taken over;
// where the file system knows no locks, that of a dead process of this host is.
// A *LockedError names the holder otherwise.
func LockFolder(dir string) (*Lock, error) {
	path := LockPath(dir)
	self := Holder{Process: os.Getpid(), Start: time.Now().Truncate(time.Second), Command: strings.Join(os.Args, " ")}
	self.Host, _ = os.Hostname()
	for {
		err := Inject("lock", path)
		var f *os.File
		held := false
		if err == nil {
			f, held, err = openLock(path)
		}
		if f != nil && err == nil {
			if err = regular(f); err != nil {
				f.Close()
			}
		}
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", dir, Reason(err))
		}
		if f == nil {
			return nil, &LockedError{Dir: dir, Holder: readHolder(path), Self: self}
		}
		// The previous holder removed the file after it was opened here.
		if !samePlace(f, path) {
			f.Close()
			continue
		}
		if names(f) > 1 { // of another folder too, which a copy by hard links made
			_ = Remove(path)
			f.Close()
			continue
		}
		old := readHolder(path)
		remote := old.Process != 0 && old.Host != self.Host
		if remote || !held && old.Process != 0 && alive(old.Process) {
			f.Close()
			return nil, &LockedError{Dir: dir, Holder: old, Remote: remote, Self: self}
		}
		l := &Lock{path, f}
		text, err := json.Marshal(self)
		if err == nil {
			err = f.Truncate(0)
		}
		if err == nil {
			_, err = writeFile(f, append(text, '\n')) // at 0
		}
		if err != nil {
			l.Release()
			return nil, fmt.Errorf("lock %s: %w", dir, Reason(err))
		}
		SyncFolder(dir) // after a power cut too, the lock file is there if other files are
		return l, nil
	}
}

// Release ends the claim and removes the lock file.
func (l *Lock) Release() {
	_ = Inject("release", l.path)
	removeLocked(l.path, l.file)
}

// readHolder reads a lock file, which its holder may be about to write.
func readHolder(path string) Holder {
	var h Holder
	for range 20 {
		if text, err := ReadFile(path); err == nil && json.Unmarshal(text, &h) == nil {
			return h
		} else if err == nil && len(text) == 0 || errors.Is(err, fs.ErrNotExist) {
			time.Sleep(time.Millisecond)
			continue
		}
		return Holder{}
	}
	return h
}

// samePlace reports whether an open file still has its name.
func samePlace(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}

// createPartial makes the file beside path that is renamed to it. It is locked
// while this process lives, so that others do not take it for one left behind.
func createPartial(name func() string) (*os.File, string, error) {
	for {
		path := name()
		if err := Inject("create", path); err != nil {
			return nil, "", err
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return nil, "", err
		}
		lockPartial(f)
		if samePlace(f, path) {
			return f, path, nil
		}
		f.Close()
	}
}

// RemovePartials removes from a folder the unfinished files of killed processes.
func RemovePartials(dir string) { removePartials(dir, "") }

// removePartials removes the unfinished files of one file, or of all if base is empty.
func removePartials(dir, base string) {
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	for _, e := range entries {
		if of, ok := partialOf(e.Name()); ok && (base == "" || of == base) {
			removeAbandoned(filepath.Join(dir, e.Name()))
		}
	}
}

// IsPartial reports whether a name is that of an unfinished file.
func IsPartial(name string) bool { _, ok := partialOf(name); return ok }

// partialOf returns the final name of an unfinished file.
func partialOf(name string) (string, bool) {
	rest, dot := strings.CutPrefix(name, ".")
	rest, suffix := strings.CutSuffix(rest, PartialSuffix)
	at := strings.LastIndexByte(rest, '-')
	if !dot || !suffix || at < 1 {
		return "", false
	}
	return rest[:at], true
}
