package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain is also a process that locks a folder and waits to be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PIHC_TEST_LOCK"); dir != "" {
		lock, err := LockFolder(dir)
		fmt.Println(err)
		if err == nil {
			_ = WriteAtomic(filepath.Join(dir, "a"), func(io.Writer) error {
				fmt.Println("writes")
				time.Sleep(time.Hour)
				return nil
			})
			lock.Release()
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Of two that want a folder the second is told who has it; a killed process
// leaves its lock file and an unfinished file, and neither is in the way.
func TestLockFolder(t *testing.T) {
	dir := t.TempDir()
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), "PIHC_TEST_LOCK="+dir)
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	const want = "<nil>\nwrites\n"
	answer := make([]byte, len(want))
	if _, err := io.ReadFull(out, answer); err != nil || string(answer) != want {
		t.Fatalf("the other process: %q, %v", answer, err)
	}
	partial := func() bool {
		names, _ := filepath.Glob(filepath.Join(dir, ".a-*"+PartialSuffix))
		return len(names) > 0
	}
	host, _ := os.Hostname()
	_, err = LockFolder(dir)
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Holder.Process != process.Process.Pid || locked.Holder.Host != host || locked.Self.Process != os.Getpid() || locked.Remote {
		t.Errorf("error %v (%+v), want process %d on %s", err, locked, process.Process.Pid, host)
	}
	for _, want := range []string{dir, fmt.Sprintf("process %d", process.Process.Pid), fmt.Sprintf("process %d", os.Getpid()), host} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if RemovePartials(dir); !partial() {
		t.Error("a file being written was removed")
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	if _, err := os.Stat(LockPath(dir)); err != nil {
		t.Errorf("nothing is tested: %v", err)
	}
	lock, err := LockFolder(dir)
	if err != nil {
		t.Fatalf("the lock of a killed process: %v", err)
	}
	if RemovePartials(dir); partial() {
		t.Error("the unfinished file of a killed process stays")
	}
	if _, err := LockFolder(dir); !errors.As(err, &locked) || locked.Holder.Process != os.Getpid() {
		t.Errorf("the same process again: %v", err)
	}
	lock.Release()
	if names := files(t, dir); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

// Whether a process of another host lives is not known here, whatever its number.
func TestLockOfAnotherHost(t *testing.T) {
	dir := t.TempDir()
	text, err := json.Marshal(Holder{Process: os.Getpid(), Host: "elsewhere", Start: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(LockPath(dir), text, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = LockFolder(dir)
	var locked *LockedError
	if !errors.As(err, &locked) || !locked.Remote || !strings.Contains(err.Error(), "host elsewhere") {
		t.Errorf("error %v", err)
	}
	for _, torn := range []string{"", "{\"proc", "\x00\x00\x00"} {
		if err := os.WriteFile(LockPath(dir), []byte(torn), 0o666); err != nil {
			t.Fatal(err)
		}
		lock, err := LockFolder(dir)
		if err != nil {
			t.Errorf("a lock file %q: %v", torn, err)
			continue
		}
		lock.Release()
	}
}

// What removes the unfinished files of killed processes never takes that of a
// writer, however new.
func TestRemovePartialsWhileWriting(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	var removers sync.WaitGroup
	for range 3 {
		removers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					RemovePartials(dir)
				}
			}
		})
	}
	defer removers.Wait()
	defer close(stop)
	for range 200 {
		f, path, err := createPartial(func() string {
			return filepath.Join(dir, fmt.Sprintf(".a-%08x%s", rand.Uint32(), PartialSuffix))
		})
		if err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
		err = renameOpen(f, path, filepath.Join(dir, "a"))
		if err != nil {
			t.Fatal(err)
		}
	}
}
