package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"pihc/data"
)

// hdf5File reads datasets of floating-point numbers of an HDF5 file by the program
// h5dump, which the HDF5 project distributes.
type hdf5File struct {
	path, scratch string // scratch: a folder for what h5dump writes
	names         []string
	datasets      map[string]hdf5Dataset // by path, such as /0000/data
}

type hdf5Dataset struct {
	kind  string // such as H5T_IEEE_F32LE
	shape []int
}

// lzfLibrary has what the plugin for LZF that Debian distributes lacks.
const lzfLibrary = "liblzf.so.1"

// errNoH5dump is the lack of the program.
var errNoH5dump = withHint(errors.New("HDF5 files are read by the program h5dump, which is not there"), "Debian and Ubuntu: apt install hdf5-tools; or convert the file to NPZ (numpy.savez)")

// h5dump runs the program, with a library loaded before it unless that is "". Its error is what the program
// says.
func h5dump(ctx context.Context, preload string, args ...string) ([]byte, error) {
	program, err := exec.LookPath("h5dump")
	if err != nil {
		return nil, errNoH5dump
	}
	command := exec.CommandContext(ctx, program, args...)
	if preload != "" {
		command.Env = append(os.Environ(), "LD_PRELOAD="+preload)
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err == nil {
		return out, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var said []string
	for line := range strings.Lines(stderr.String()) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, "ld.so: ") { // of a library that is not there
			said = append(said, strings.TrimPrefix(line, "h5dump error: "))
		}
	}
	return nil, errors.New(cmp.Or(strings.Join(said, "; "), err.Error()))
}

var (
	hdf5Name  = regexp.MustCompile(`^\s*(GROUP|DATASET|ATTRIBUTE) "(.*)" \{`)
	hdf5Type  = regexp.MustCompile(`^\s*DATATYPE\s+(\w+)`)
	hdf5Space = regexp.MustCompile(`^\s*DATASPACE\s+SIMPLE \{ \( ([0-9, ]+) \)`)
)

// openHDF5 reads the names, types and shapes of all datasets.
func openHDF5(ctx context.Context, path string) (*hdf5File, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	header, err := h5dump(ctx, "", "-H", path)
	if errors.Is(err, errNoH5dump) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, withHint(fmt.Errorf("h5dump cannot read %s: %w", path, err), "is it an HDF5 file, and whole?")
	}
	f := &hdf5File{path: path, datasets: map[string]hdf5Dataset{}}
	if err := f.decode(header); err != nil {
		return nil, err
	}
	if f.scratch, err = os.MkdirTemp("", "pihc-import-"); err != nil {
		return nil, err
	}
	return f, nil
}

// decode reads what h5dump -H writes.
func (f *hdf5File) decode(header []byte) error {
	var open []string // what stands around a line: the path of a group or dataset, or ""
	lines := bufio.NewScanner(bytes.NewReader(header))
	for lines.Scan() {
		line := lines.Text()
		if m := hdf5Name.FindStringSubmatch(line); m != nil {
			at := ""
			if m[1] != "ATTRIBUTE" {
				for i := len(open) - 1; i >= 0 && at == ""; i-- {
					at = open[i]
				}
				at = strings.TrimSuffix(at, "/") + "/" + strings.Trim(m[2], "/")
				if m[1] == "DATASET" {
					f.names = append(f.names, at)
					f.datasets[at] = hdf5Dataset{}
				}
			}
			open = append(open, at)
			continue
		}
		if len(open) > 0 {
			at := open[len(open)-1]
			if d, dataset := f.datasets[at]; dataset {
				if m := hdf5Type.FindStringSubmatch(line); m != nil {
					d.kind = m[1]
				}
				if m := hdf5Space.FindStringSubmatch(line); m != nil {
					for _, n := range strings.Split(m[1], ",") {
						size, err := strconv.Atoi(strings.TrimSpace(n))
						if err != nil {
							return fmt.Errorf("%s: dataset %s: %w", f.path, at, err)
						}
						d.shape = append(d.shape, size)
					}
					if d.size() < 0 {
						return fmt.Errorf("%s: dataset %s: %s is more than there can be", f.path, at, data.FormatShape(d.shape))
					}
				}
				f.datasets[at] = d
			}
		}
		for range strings.Count(line, "{") {
			open = append(open, "")
		}
		for range strings.Count(line, "}") {
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if len(f.names) == 0 {
		return fmt.Errorf("%s holds no dataset", f.path)
	}
	return nil
}

// size is the number of values, -1 if that is more than memory can be.
func (d hdf5Dataset) size() int {
	size := 1
	for _, n := range d.shape {
		if n > 0 && size > math.MaxInt/8/n {
			return -1
		}
		size *= n
	}
	return size
}

func (f *hdf5File) close() { os.RemoveAll(f.scratch) }

// read returns a dataset of float32 or float64.
func (f *hdf5File) read(ctx context.Context, name string) (*data.Array, error) {
	d := f.datasets[name]
	width := 8
	switch d.kind {
	case "H5T_IEEE_F32LE", "H5T_IEEE_F32BE":
		width = 4
	case "H5T_IEEE_F64LE", "H5T_IEEE_F64BE":
	default:
		return nil, fmt.Errorf("%s: dataset %s is of type %s; want float32 or float64", f.path, name, d.kind)
	}
	size := d.size()
	out := filepath.Join(f.scratch, "values")
	dump := func(preload string) error {
		_, err := h5dump(ctx, preload, "-d", name, "-b", "LE", "-o", out, f.path)
		return err
	}
	if err := dump(""); err != nil && dump(lzfLibrary) != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, withHint(fmt.Errorf("h5dump cannot read dataset %s of %s: %w", name, f.path, err),
			"if its data are compressed by LZF, as PDEBench's are, h5dump needs the plugin (Debian: apt install hdf5-plugin-lzf liblzf1)")
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	if len(raw) != size*width {
		return nil, fmt.Errorf("%s: dataset %s: h5dump gave %d bytes; %s of %d bytes are %d", f.path, name, len(raw), data.FormatShape(d.shape), width, size*width)
	}
	values := make([]float64, size)
	for i := range values {
		if width == 4 {
			values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		} else {
			values[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		}
	}
	return data.NewArray(d.shape, values), nil
}
