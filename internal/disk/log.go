package disk

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
)

// A run log is a file of JSON objects, one to a line, each with a last member
// chain: the first 16 digits of the SHA-256 of all bytes of the file before these
// digits. Lines without it, from before there was one, may come first. A process
// killed in the middle of a line leaves a last line without a line feed: readers
// ignore it, and a run that is resumed removes it.

const (
	chainMark   = `"chain":"`
	chainDigits = 16
)

// Log appends records to a run log.
type Log struct {
	path string
	file *os.File
	sum  hash.Hash // of the bytes of the file
}

// CreateLog starts a log. A file that exists is an error that satisfies
// errors.Is(err, fs.ErrExist).
func CreateLog(path string) (*Log, error) {
	err := Inject("create", path)
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o666)
	}
	if err != nil {
		return nil, writing(path, err)
	}
	SyncFolder(filepath.Dir(path))
	return &Log{path, f, sha256.New()}, nil
}

// Line is one complete line of a log.
type Line struct {
	Number int    // from 1
	Record []byte // the object
	Err    error  // if it is no object, or altered
	End    int64  // offset of the next line
}

// AppendLog opens a log to continue it after its first size bytes, which end with
// a line; the others are removed. A log that is missing is started.
func AppendLog(path string, size int64) (*Log, error) {
	l := &Log{path: path, sum: sha256.New()}
	err := Inject("open", path)
	if err == nil {
		l.file, err = openOwn(path, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	}
	if err == nil && names(l.file) > 1 { // what the other names have stays
		kept := io.NewSectionReader(l.file, 0, size)
		err = WriteAtomic(path, func(w io.Writer) error { _, err := io.CopyN(w, kept, size); return err })
		l.file.Close()
		if err != nil {
			return nil, err
		}
		l.file, err = openOwn(path, os.O_RDWR|os.O_APPEND)
	}
	if err == nil {
		if err = regular(l.file); err == nil {
			err = Inject("truncate", path)
		}
		if err == nil {
			err = l.file.Truncate(size)
		}
		if err == nil {
			_, err = io.CopyN(l.sum, l.file, size)
		}
		if err != nil {
			l.file.Close()
		}
	}
	if err != nil {
		return nil, writing(path, err)
	}
	SyncFolder(filepath.Dir(path)) // if it was missing
	return l, nil
}

// Write appends the JSON of a record, which must be an object, as one line in
// one write.
func (l *Log) Write(record any) error {
	line, err := json.Marshal(record)
	if err != nil {
		return writing(l.path, err)
	}
	if len(line) == 0 || line[0] != '{' {
		panic("disk: Log.Write: record is not a JSON object")
	}
	line = line[:len(line)-1]
	if len(line) > 1 {
		line = append(line, ',')
	}
	line = append(line, chainMark...)
	at := len(line)
	l.sum.Write(line)
	line = fmt.Appendf(line, "%s\"}\n", chain(l.sum))
	l.sum.Write(line[at:])
	_, err = writeFile(l.file, line)
	return writing(l.path, err)
}

// Append appends bytes in one write, for a log of another format than that of runs.
func (l *Log) Append(p []byte) error {
	_, err := writeFile(l.file, p)
	return writing(l.path, err)
}

func chain(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)[:chainDigits/2]) }

// Sync makes what was written survive a power cut.
func (l *Log) Sync() error { return writing(l.path, syncFile(l.file)) }

// Close ends the log.
func (l *Log) Close() error { return writing(l.path, l.file.Close()) }

// ReadLogAs decodes every record of a log, the JSON of one object on a line, into
// a T; fields that T lacks are ignored. A line that is no such object, or was
// altered, is a *FormatError that names the line; a last line without a line feed
// is ignored.
func ReadLogAs[T any](path string) ([]T, error) {
	var all []T
	err := ScanLog(path, func(l Line) error {
		var t T
		if l.Err == nil {
			if err := json.Unmarshal(l.Record, &t); err != nil {
				l.Err = lineError(path, l.Number, err.Error())
			}
		}
		all = append(all, t)
		return l.Err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// lineError reports a line of a log.
func lineError(path string, line int, reason string) error {
	return fmt.Errorf("%s: %w", path, &FormatError{Format: "log", Line: line, Reason: reason})
}

// maxLine is the most bytes of a line: those of runs have some hundred.
const maxLine = 1 << 20

// ScanLog passes every complete line of a log, damaged ones too, until each
// returns an error.
func ScanLog(path string, each func(Line) error) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return ScanLines(f, path, each)
}

func ScanLines(source io.Reader, path string, each func(Line) error) error {
	r := bufio.NewReaderSize(source, 1<<16)
	sum, chained := sha256.New(), false
	for l := (Line{Number: 1}); ; l.Number++ {
		text, err := readLine(r)
		if err == io.EOF {
			return nil // also with a truncated record
		}
		if errors.Is(err, errLine) {
			return lineError(path, l.Number, err.Error())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, Reason(err))
		}
		l.End += int64(len(text))
		l.Record, l.Err = bytes.TrimSpace(text), nil
		// The digits come after the mark and before the end of the object.
		at := max(0, len(text)-len("\"}\n")-chainDigits)
		if bytes.HasSuffix(text[:at], []byte(chainMark)) {
			chained = true
		} else {
			at = len(text)
		}
		sum.Write(text[:at])
		switch {
		case len(l.Record) == 0 || l.Record[0] != '{' || !json.Valid(l.Record):
			l.Err = lineError(path, l.Number, "not a JSON object")
		case chained && (at == len(text) || string(text[at:at+chainDigits]) != chain(sum)):
			l.Err = lineError(path, l.Number, "altered: its chain does not fit what stands before it")
		}
		sum.Write(text[at:])
		if err := each(l); err != nil {
			return err
		}
	}
}

var errLine = tooLong("a line", maxLine)

// readLine is r.ReadBytes('\n') up to maxLine bytes; more are errLine.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, errLine
		case err != bufio.ErrBufferFull:
			return line, err
		}
	}
}
