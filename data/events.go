package data

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pihc/internal/disk"
)

// TensorBoard reads event files: records as TensorFlow frames them (length, its checksum, bytes, their checksum), each a message Event of
// protocol buffers. https://www.tensorflow.org/tutorials/load_data/tfrecord, tensorboard/compat/proto/event.proto

// Events appends scalars to an event file.
type Events struct{ log *disk.Log }

// A Scalar is a value under a name; TensorBoard groups names by what is before a slash.
type Scalar struct {
	Name  string
	Value float64 // written as float32
}

// eventPrefix begins the name of an event file, before the seconds of its beginning.
const eventPrefix = "events.out.tfevents."

// CreateEvents begins a new event file in a folder, which is made. It comes after those that are there, and takes the place of all their scalars:
// TensorBoard forgets these.
func CreateEvents(dir string) (*Events, error) { return createEvents(dir, time.Now()) }

func createEvents(dir string, now time.Time) (*Events, error) {
	if _, err := disk.MakeFolder(dir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, disk.Reason(err))
	}
	begin := now.Unix()
	for _, e := range entries { // read in the order of names
		if rest, ok := strings.CutPrefix(e.Name(), eventPrefix); ok {
			rest, _, _ = strings.Cut(rest, ".")
			if other, err := strconv.ParseInt(rest, 10, 64); err == nil && other >= begin && other < math.MaxInt32 {
				begin = other + 1
			}
		}
	}
	log, err := disk.CreateLog(filepath.Join(dir, fmt.Sprintf("%s%010d.pihc", eventPrefix, begin)))
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s: another process began an event file at the same time", dir)
	}
	if err != nil {
		return nil, err
	}
	e := &Events{log}
	// The version, then a message that says what is to be forgotten: all from step 0 on (SessionLog, START).
	version := append(eventTime(now), 0x1a, byte(len(eventVersion)))
	err = e.write(append(version, eventVersion...))
	if err = cmp.Or(err, e.write(append(eventTime(now), 0x3a, 2, 0x08, 1))); err != nil {
		log.Close()
		return nil, err
	}
	return e, nil
}

const eventVersion = "brain.Event:2"

// eventTime is the first field of an Event: seconds since 1970, as a double.
func eventTime(t time.Time) []byte {
	return binary.LittleEndian.AppendUint64([]byte{0x09}, math.Float64bits(float64(t.Unix())+float64(t.Nanosecond())/1e9))
}

// appendField appends a field of bytes.
func appendField(b []byte, number byte, bytes []byte) []byte {
	return append(binary.AppendUvarint(append(b, number<<3|2), uint64(len(bytes))), bytes...)
}

// Write appends the scalars of a step, in one record.
func (e *Events) Write(at time.Time, step int, scalars []Scalar) error {
	var summary []byte
	for _, s := range scalars {
		value := appendField(nil, 1, []byte(s.Name))
		value = binary.LittleEndian.AppendUint32(append(value, 2<<3|5), math.Float32bits(float32(s.Value)))
		summary = appendField(summary, 1, value)
	}
	event := binary.AppendUvarint(append(eventTime(at), 0x10), uint64(step))
	return e.write(appendField(event, 5, summary))
}

// write frames a message.
func (e *Events) write(event []byte) error {
	record := binary.LittleEndian.AppendUint64(nil, uint64(len(event)))
	record = binary.LittleEndian.AppendUint32(record, maskedChecksum(record))
	record = append(record, event...)
	return e.log.Append(binary.LittleEndian.AppendUint32(record, maskedChecksum(event)))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskedChecksum is CRC-32C, changed so that checksums of checksums are none.
func maskedChecksum(b []byte) uint32 {
	sum := crc32.Checksum(b, castagnoli)
	return (sum>>15 | sum<<17) + 0xa282ead8
}

// Close ends the file.
func (e *Events) Close() error { return e.log.Close() }
