//go:build unix

package disk

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What is no file is refused at once, under every name that reads one, and by what appends to one; links are followed.
func TestOpenFilesAlone(t *testing.T) {
	dir := t.TempDir()
	fifo, link, socket := filepath.Join(dir, "fifo"), filepath.Join(dir, "link"), filepath.Join(dir, "s")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("fifo", link); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var v struct{}
	calls := map[string]func(path string) error{
		"Open":           func(path string) error { _, err := Open(path); return err },
		"ReadFile":       func(path string) error { _, err := ReadFile(path); return err },
		"HashFile":       func(path string) error { _, _, err := HashFile(path); return err },
		"ReadJSON":       func(path string) error { return ReadJSON(path, &v) },
		"ReadSealedJSON": func(path string) error { return ReadSealedJSON(path, &v) },
		"ScanLog":        func(path string) error { return ScanLog(path, func(Line) error { return nil }) },
	}
	for path, want := range map[string]string{
		fifo: "it is a named pipe, not a file", link: "it is a named pipe, not a file", socket: "it is a socket, not a file",
		"/dev/zero": "it is a device, not a file", dir: "is a directory", filepath.Join(dir, "none"): "no such file",
	} {
		for name, call := range calls {
			done := make(chan error, 1)
			go func() { done <- call(path) }()
			select {
			case err := <-done:
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
					t.Errorf("%s(%s): %v, want %q and the path", name, path, err, want)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s(%s) waits", name, path)
			}
		}
	}
	if _, err := AppendLog(fifo, 0); err == nil || !strings.Contains(err.Error(), "named pipe") {
		t.Errorf("AppendLog: %v", err)
	}
	if err := syscall.Mkfifo(LockPath(dir), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := LockFolder(dir); err == nil || !strings.Contains(err.Error(), "named pipe") {
		t.Errorf("LockFolder: %v", err)
	}
	os.Remove(fifo)
	os.WriteFile(fifo, []byte("text"), 0o666)
	if text, err := ReadFile(link); string(text) != "text" {
		t.Errorf("a link: %q, %v", text, err)
	}
}

// A pipe that the process was given open is read, as the shell's <(command); one that never ends is refused.
func TestReadGivenPipe(t *testing.T) {
	if _, err := os.Stat("/dev/fd"); err != nil {
		t.Log("this system has no /dev/fd")
		return
	}
	for _, c := range []struct {
		size int
		want string
	}{{1000, ""}, {maxText + 1, "more than 64 MiB"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			w.Write(bytes.Repeat([]byte{'a'}, c.size))
			w.Close()
		}()
		text, err := ReadFile(filepath.Join("/dev/fd", strconv.Itoa(int(r.Fd()))))
		if c.want == "" && (err != nil || len(text) != c.size) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d bytes: %d, %v", c.size, len(text), err)
		}
		r.Close()
	}
}

// A line that does not end takes no memory to speak of.
func TestLongLine(t *testing.T) {
	err := ScanLines(bytes.NewReader(append([]byte("{}\n"), make([]byte, 8<<20)...)), "log", func(Line) error { return nil })
	if err == nil || err.Error() != "log: log: line 2: a line has more than 1 MiB, which no text of pihc has" {
		t.Errorf("error %v", err)
	}
}
