//go:build unix

package stress

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// snapshot is the content of every file of a folder by path, without the seconds that
// things took.
type snapshot map[string]string

// timed are the members of metrics.json that say how long things took, or cover that.
var timed = regexp.MustCompile(`"((?:evaluation_|train_)?seconds|checksum)": ("[0-9a-f]*"|[0-9.e+-]+)`)

// snapshot reads the folder of the case.
func (h *harness) snapshot() (snapshot, error) {
	root, all := h.path(), snapshot{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		switch {
		case strings.HasSuffix(name, ".jsonl"):
			content, err = withoutSeconds(content)
		case strings.HasPrefix(name, "page") && strings.HasSuffix(name, ".html"), strings.Contains(name, "figures"+string(filepath.Separator)):
			// Of runs that took other times: whole or not.
			content = []byte(fmt.Sprint("whole: ", bytes.Contains(content, []byte("</html>")) || bytes.Contains(content, []byte("</svg>")) ||
				bytes.HasSuffix(content, []byte("IEND\xaeB`\x82"))))
		case filepath.Base(name) == "metrics.json":
			content = timed.ReplaceAll(content, []byte(`"$1": 0`))
		}
		all[name] = string(content)
		return err
	})
	return all, err
}

// withoutSeconds drops from the lines of a log what differs between two runs of the
// same thing: the time, and the chain that covers it.
func withoutSeconds(log []byte) ([]byte, error) {
	var out bytes.Buffer
	for line := range bytes.Lines(log) {
		var r map[string]any
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("log line %q: %w", line, err)
		}
		delete(r, "seconds")
		delete(r, "chain")
		if err := json.NewEncoder(&out).Encode(r); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// difference says how two folders differ, "" if they do not, apart from some files.
func (s snapshot) difference(want snapshot, apart ...string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if w, ok := want[name]; !ok {
			all = append(all, name+" is too much")
		} else if w != s[name] && !slices.Contains(apart, name) {
			all = append(all, name+" differs")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := s[name]; !ok && !slices.Contains(apart, name) {
			all = append(all, name+" is missing")
		}
	}
	return strings.Join(all, ", ")
}

// load makes the folder of the case that of a prepared state.
func (h *harness) load(state string) {
	check(os.RemoveAll(h.path()))
	check(os.CopyFS(h.path(), os.DirFS(filepath.Join(h.work, "states", state))))
}

// save keeps the folder of the case as a state.
func (h *harness) save(state string) {
	check(os.CopyFS(filepath.Join(h.work, "states", state), os.DirFS(h.path())))
}
