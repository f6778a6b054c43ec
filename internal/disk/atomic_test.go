package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// files returns the names in a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWriteAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	for _, text := range []string{"first", "second, which replaces it"} {
		size, sum, err := WriteHashed(path, nil, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(path)
		if string(got) != text || size != int64(len(text)) {
			t.Errorf("wrote %q (%d bytes), want %q", got, size, text)
		}
		if _, want, _ := HashFile(path); sum != want {
			t.Errorf("hash %s, want %s", sum, want)
		}
	}
	if names := files(t, dir); len(names) != 1 {
		t.Errorf("folder holds %v", names)
	}
}

// A full disk, at whatever moment, leaves the old file and nothing else, and
// the error says which file and why.
func TestWriteAtomicFailure(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	os.WriteFile(path, []byte("old"), 0o666)
	full := &os.PathError{Op: "write", Path: "elsewhere", Err: syscall.ENOSPC}
	for _, written := range []int{0, 10, 1 << 20} {
		err := WriteAtomic(path, func(w io.Writer) error {
			w.Write(make([]byte, written))
			return full
		})
		if want := "write " + path + ": no space left on device"; err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("error %v does not wrap ENOSPC", err)
		}
		if got, _ := os.ReadFile(path); string(got) != "old" {
			t.Errorf("the file holds %q", got)
		}
		if names := files(t, dir); len(names) != 1 {
			t.Errorf("folder holds %v", names)
		}
	}
	err := WriteAtomic(filepath.Join(dir, "none", "a.txt"), func(io.Writer) error { return nil })
	if err == nil || !strings.Contains(err.Error(), filepath.Join("none", "a.txt")+": ") {
		t.Errorf("missing folder: error %v", err)
	}
}

func TestJSON(t *testing.T) {
	type state struct {
		Step int    `json:"step"`
		Name string `json:"name"`
	}
	path := filepath.Join(t.TempDir(), "s.json")
	want := state{7, "é"}
	if err := WriteJSON(path, want); err != nil {
		t.Fatal(err)
	}
	var got state
	if err := ReadJSON(path, &got); err != nil || got != want {
		t.Errorf("read %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"{\n\"step\": 1,\n\"nam\": \"\"}":     `json: line 3: json: unknown field "nam"`,
		"{\"step\": 1,\n\"name\": 3}":         "line 2",
		"{\n\"step\": 1":                      "line 2: text ends too early",
		"{\"step\": 1}\n\n{\"step\": 2}":      "text after the value",
		"":                                    "text ends too early",
		"{\n\"step\": 1,\n\"name\": \"a\",\n": "ends too early",
		"{\n\"step\" 1}":                      "line 2",
	} {
		os.WriteFile(path, []byte(text), 0o666)
		err := ReadJSON(path, &got)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// A file that may not be read was not altered.
func TestUnreadableIsNotCorrupt(t *testing.T) {
	for _, reason := range []error{syscall.EACCES, syscall.EIO} {
		err := Corrupt("a.npz", &os.PathError{Op: "open", Path: "a.npz", Err: reason})
		var c *CorruptError
		if errors.As(err, &c) || !errors.Is(err, reason) || err.Error() != "a.npz: "+reason.Error() {
			t.Errorf("%v became %#v", reason, err)
		}
	}
}
