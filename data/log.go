package data

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

// A run log is a file of JSON objects, one to a line. A process killed in the
// middle of a line leaves a last line without a line feed: readers ignore it,
// and AppendLog removes it.

// Log appends records to a run log.
type Log struct {
	path string
	file *os.File
}

// CreateLog starts a log. A file that exists is an error that satisfies
// errors.Is(err, fs.ErrExist).
func CreateLog(path string) (*Log, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, reason(err))
	}
	return &Log{path, f}, nil
}

// AppendLog opens a log to continue it, or starts one if there is none. Only
// the leading records for which keep is true stay: a resumed run drops those
// written after its checkpoint. A nil keep keeps all complete lines.
func AppendLog(path string, keep func(record []byte) bool) (*Log, error) {
	end := int64(0)
	err := scanLog(path, func(_ int, record []byte, next int64) error {
		if keep != nil && !keep(record) {
			return errStop
		}
		end = next
		return nil
	})
	if err != nil && !errors.Is(err, errStop) && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err == nil {
		if err = f.Truncate(end); err != nil {
			f.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, reason(err))
	}
	return &Log{path, f}, nil
}

// Write appends the JSON of a record, which must be an object, as one line in
// one write.
func (l *Log) Write(record any) error {
	line, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("write %s: %w", l.path, err)
	}
	if len(line) == 0 || line[0] != '{' {
		panic("data: Log.Write: record is not a JSON object")
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", l.path, reason(err))
	}
	return nil
}

// Sync makes what was written survive a power cut.
func (l *Log) Sync() error {
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", l.path, reason(err))
	}
	return nil
}

// Close ends the log.
func (l *Log) Close() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("write %s: %w", l.path, reason(err))
	}
	return nil
}

var errStop = errors.New("stop")

// ReadLogAs decodes every record of a log, the JSON of one object on a line, into
// a T; fields that T lacks are ignored. A line that is no such object is a
// *FormatError that names the line; a last line without a line feed is ignored.
func ReadLogAs[T any](path string) ([]T, error) {
	var all []T
	err := scanLog(path, func(line int, record []byte, _ int64) error {
		var t T
		if err := json.Unmarshal(record, &t); err != nil {
			return fmt.Errorf("%s: %w", path, &FormatError{Format: "log", Line: line, Reason: err.Error()})
		}
		all = append(all, t)
		return nil
	})
	return all, err
}

// scanLog also passes the number of the line and the offset of the next one.
func scanLog(path string, each func(line int, record []byte, next int64) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return scanRecords(f, path, each)
}

func scanRecords(source io.Reader, path string, each func(line int, record []byte, next int64) error) error {
	r := bufio.NewReader(source)
	next := int64(0)
	for line := 1; ; line++ {
		record, err := r.ReadBytes('\n')
		if err == io.EOF {
			return nil // also with a truncated record
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, reason(err))
		}
		next += int64(len(record))
		record = bytes.TrimSpace(record)
		if len(record) == 0 || record[0] != '{' || !json.Valid(record) {
			return fmt.Errorf("%s: %w", path, &FormatError{Format: "log", Line: line, Reason: "not a JSON object"})
		}
		if err := each(line, record, next); err != nil {
			return err
		}
	}
}

// Float is a float64 that JSON can always hold: values that are not finite are
// the strings "NaN", "+Inf" and "-Inf".
type Float float64

// MarshalJSON implements json.Marshaler.
func (f Float) MarshalJSON() ([]byte, error) {
	switch x := float64(f); {
	case math.IsNaN(x):
		return []byte(`"NaN"`), nil
	case math.IsInf(x, 1):
		return []byte(`"+Inf"`), nil
	case math.IsInf(x, -1):
		return []byte(`"-Inf"`), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Float) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case `"NaN"`:
		*f = Float(math.NaN())
	case `"+Inf"`:
		*f = Float(math.Inf(1))
	case `"-Inf"`:
		*f = Float(math.Inf(-1))
	default:
		return json.Unmarshal(text, (*float64)(f))
	}
	return nil
}
