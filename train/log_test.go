package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"pihc/internal/disk"
)

// A resumed run drops what was written after its checkpoint and nothing else: any
// byte that changes before it is an error that names the line, and the file stays
// as it is. Whatever stands after it is in nobody's way.
func TestDamagedLog(t *testing.T) {
	e := newExperiment(t, "training.steps=40", "training.validate=4", "training.log=2", "training.checkpoint=6", "method=soft")
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := e.run(context.Background(), dir, Options{stopAt: 9}); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	path := filepath.Join(dir, logFile)
	whole := []byte(files(t, dir)[logFile])
	m, err := readMeta(dir, stepName(6))
	if err != nil {
		t.Fatal(err)
	}
	kept := bytes.Index(whole, []byte("\"step\":8,")) - 1
	open := func(text []byte) error {
		t.Helper()
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		log, _, err := openLog(dir, m, &e.spec.Training)
		if err == nil {
			log.Close()
		}
		after, _ := os.ReadFile(path)
		if err != nil && !bytes.Equal(after, text) || err == nil && !bytes.Equal(after, whole[:kept]) {
			t.Errorf("%v, and the file has %d bytes of %d", err, len(after), len(text))
		}
		return err
	}
	damaged := func(what string, text []byte, names bool) {
		t.Helper()
		err := open(text)
		oneLine(t, what, err, path)
		var format *disk.FormatError
		if names && (!errors.As(err, &format) || format.Line == 0) {
			t.Errorf("%s: no line: %v", what, err)
		}
	}
	if err := open(whole); err != nil {
		t.Fatal(err)
	}
	for i := range kept {
		text := slices.Clone(whole)
		text[i] ^= 1
		damaged(fmt.Sprintf("byte %d", i), text, i < kept-1)
	}
	for i := kept; i < len(whole); i += 3 {
		text := slices.Clone(whole)
		text[i] ^= 1
		if err := open(text); err != nil {
			t.Errorf("byte %d, after the checkpoint: %v", i, err)
		}
		if err := open(text[:i]); err != nil {
			t.Errorf("cut at %d, after the checkpoint: %v", i, err)
		}
	}
	for i := 1; i < kept; i += 7 {
		damaged(fmt.Sprintf("cut at %d", i), whole[:i], false)
	}
	// A log from before there were chains.
	whole = regexp.MustCompile(`,"chain":"[0-9a-f]{16}"`).ReplaceAll(whole, nil)
	kept = bytes.Index(whole, []byte("\"step\":8,")) - 1
	if err := open(whole); err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole[:kept], []byte("\n"))
	lines = lines[:len(lines)-1]
	for i := range lines {
		for _, change := range [][2]string{{`"step":`, `"stfp":`}, {`"step":`, `"step":9`}, {`{`, `[`}, {"\n", "\v"}} {
			text := slices.Concat(slices.Concat(lines[:i]...), bytes.Replace(lines[i], []byte(change[0]), []byte(change[1]), 1), slices.Concat(lines[i+1:]...), whole[kept:])
			if i == len(lines)-1 && change[0] == "\n" {
				continue // joins the next line
			}
			damaged(fmt.Sprintf("line %d, %s", i+1, change[1]), text, i < len(lines)-2)
		}
	}
	damaged("the last line gone", slices.Concat(slices.Concat(lines[:len(lines)-1]...), whole[kept:]), false)

	// A log that was lost is begun anew, at the step of the checkpoint.
	for i, gone := range []func() error{func() error { return os.Remove(path) }, func() error { return os.WriteFile(path, nil, 0o666) }} {
		if err := gone(); err != nil {
			t.Fatal(err)
		}
		for _, stop := range []int{11 + 8*i, 15 + 8*i} {
			if _, err := e.run(context.Background(), dir, Options{Resume: true, stopAt: stop}); !errors.Is(err, ErrInterrupted) {
				t.Errorf("after a lost log, to step %d: %v", stop, err)
			}
		}
	}
}
