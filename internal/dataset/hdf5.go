package dataset

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
	"pihc/internal/words"
)

// HDF5 is a file whose datasets of floating-point numbers the program h5dump reads, which
// the HDF5 project distributes.
type HDF5 struct {
	// Names are the paths of all datasets, such as /0000/data, in the order of h5dump.
	Names []string

	path     string
	datasets map[string]hdf5Dataset // by name
}

type hdf5Dataset struct {
	kind  string // such as H5T_IEEE_F32LE
	shape []int
	size  int
}

// lzfLibrary has functions that Debian's plugin for LZF needs and does not load.
const lzfLibrary = "liblzf.so.1"

// errNoH5dump is the lack of the program.
var errNoH5dump = words.WithHint(errors.New("HDF5 files are read by the program h5dump, which is not there"), "Debian and Ubuntu: apt install hdf5-tools; or convert the file to NPZ (numpy.savez)")

// h5dump runs the program, with a library loaded before it unless that is "". Its error has the program's
// message.
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

// OpenHDF5 reads the names, types and shapes of all datasets.
func OpenHDF5(ctx context.Context, path string) (*HDF5, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	header, err := h5dump(ctx, "", "-H", path)
	if errors.Is(err, errNoH5dump) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, words.WithHint(fmt.Errorf("h5dump cannot read %s: %w", path, err), "is it an HDF5 file, and whole?")
	}
	f := &HDF5{path: path, datasets: map[string]hdf5Dataset{}}
	return f, f.decode(header)
}

// decode reads the output of h5dump -H.
func (f *HDF5) decode(header []byte) error {
	var open []string // the blocks around a line: the path of a group or dataset, or ""
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
					f.Names = append(f.Names, at)
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
					d.size = 1
					for _, n := range d.shape {
						if n > 0 && d.size > math.MaxInt/8/n {
							return fmt.Errorf("%s: dataset %s: %s is more than there can be", f.path, at, words.Shape(d.shape))
						}
						d.size *= n
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
	if len(f.Names) == 0 {
		return fmt.Errorf("%s holds no dataset", f.path)
	}
	return nil
}

// Read returns a dataset of float32 or float64, as float64.
func (f *HDF5) Read(ctx context.Context, name string) (*data.Array, error) {
	d := f.datasets[name]
	bytes := 8
	switch d.kind {
	case "H5T_IEEE_F32LE", "H5T_IEEE_F32BE":
		bytes = 4
	case "H5T_IEEE_F64LE", "H5T_IEEE_F64BE":
	default:
		return nil, fmt.Errorf("%s: dataset %s is of type %s; want float32 or float64", f.path, name, d.kind)
	}
	scratch, err := os.MkdirTemp("", "pihc-hdf5-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	out := filepath.Join(scratch, "values")
	dump := func(preload string) error {
		_, err := h5dump(ctx, preload, "-d", name, "-b", "LE", "-o", out, f.path)
		return err
	}
	if err := dump(""); err != nil && dump(lzfLibrary) != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, words.WithHint(
			fmt.Errorf("h5dump cannot read dataset %s of %s: %w", name, f.path, err),
			"if its data are compressed by LZF, as PDEBench's are, h5dump needs the plugin (Debian: apt install hdf5-plugin-lzf liblzf1)",
		)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	if len(raw) != d.size*bytes {
		return nil, fmt.Errorf("%s: dataset %s: h5dump gave %d bytes; %s of %d bytes are %d", f.path, name, len(raw), words.Shape(d.shape), bytes, d.size*bytes)
	}
	values := make([]float64, d.size)
	for i := range values {
		if bytes == 4 {
			values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		} else {
			values[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		}
	}
	return data.NewArray(d.shape, values), nil
}
