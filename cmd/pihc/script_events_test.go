package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// events FOLDER COUNT LOG: requires so many event files in a folder, the last of which has every number of a log.
func eventsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: events FOLDER COUNT LOG")
	}
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "events.out.tfevents.*"))
	ts.Check(err)
	if strconv.Itoa(len(files)) != args[1] {
		ts.Fatalf("%d event files in %s, want %s", len(files), args[0], args[1])
	}
	text, err := os.ReadFile(files[len(files)-1])
	ts.Check(err)
	got := readEvents(ts, text)
	log, err := os.Open(ts.MkAbs(args[2]))
	ts.Check(err)
	defer log.Close()
	count := 0
	for d := json.NewDecoder(log); d.More(); {
		var r map[string]any
		ts.Check(d.Decode(&r))
		for _, key := range []string{"loss", "gradient_norm", "learning_rate", "validation_residual", "validation_relative_l2", "mean_squares", "validation_rms"} {
			values := map[string]float64{}
			switch v := r[key].(type) {
			case float64:
				values[key] = v
			case map[string]any:
				for name, x := range v {
					values[key+"/"+name] = x.(float64)
				}
			}
			for name, want := range values {
				at := fmt.Sprintf("%s at %v", name, r["step"])
				if have, ok := got[at]; !ok || have != float32(want) {
					ts.Fatalf("%s: %v in the events, %v in the log", at, have, want)
				}
				count++
			}
		}
	}
	if count < 30 {
		ts.Fatalf("%d numbers in %s", count, args[2])
	}
}

// readEvents parses an event file without a library, as the formats say: scalars by name and step.
func readEvents(ts *testscript.TestScript, text []byte) map[string]float32 {
	sum := func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
	unmask := func(b []byte) uint32 {
		r := binary.LittleEndian.Uint32(b) - 0xa282ead8
		return r<<15 | r>>17
	}
	got := map[string]float32{}
	for len(text) > 0 {
		n := binary.LittleEndian.Uint64(text)
		event := text[12 : 12+n]
		if unmask(text[8:]) != sum(text[:8]) || unmask(text[12+n:]) != sum(event) {
			ts.Fatalf("a checksum does not fit")
		}
		text = text[16+n:]
		step := uint64(0)
		for _, f := range fieldsOf(event) {
			switch f.number {
			case 2:
				step = f.value
			case 5:
				for _, v := range fieldsOf(f.bytes) {
					name, x := "", float32(0)
					for _, f := range fieldsOf(v.bytes) {
						if f.number == 1 {
							name = string(f.bytes)
						} else {
							x = math.Float32frombits(uint32(f.value))
						}
					}
					got[fmt.Sprintf("%s at %d", name, step)] = x
				}
			}
		}
	}
	return got
}

// A protoField is one of a message of protocol buffers.
type protoField struct {
	number uint64
	value  uint64
	bytes  []byte
}

func fieldsOf(b []byte) (all []protoField) {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		b = b[n:]
		f := protoField{number: key >> 3}
		switch key & 7 {
		case 0:
			f.value, n = binary.Uvarint(b)
			b = b[n:]
		case 1:
			f.value, b = binary.LittleEndian.Uint64(b), b[8:]
		case 2:
			size, n := binary.Uvarint(b)
			f.bytes, b = b[n:n+int(size)], b[n+int(size):]
		case 5:
			f.value, b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
		}
		all = append(all, f)
	}
	return all
}
