package data

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pihc/internal/machine"
	"pihc/internal/words"
)

// HDF5 is a file whose datasets of numbers the program h5dump reads, which
// the HDF5 project distributes. What makes it read other files (links to them, values stored there) or run code of other
// parties is refused.
type HDF5 struct {
	names    []string // paths of all datasets, such as 0000/data, in the order of h5dump
	ctx      context.Context
	path     string
	datasets map[string]hdf5Dataset // by path, such as /0000/data
}

type hdf5Dataset struct {
	kind    string // such as H5T_IEEE_F32LE
	shape   []int
	chunk   int  // values that are stored together, all of which are read for one of them
	stored  int  // bytes in the file, -1 where h5dump does not say
	encoded bool // compressed, say, so that there may be fewer bytes than values take
	packed  bool // it has an attribute by which values are to be scaled
	fill    string
	filled  bool // values of fill were never written, as NetCDF-4 marks them
}

const (
	// lzfLibrary has functions that Debian's plugin for LZF needs and does not load.
	lzfLibrary = "liblzf.so.1"
	// mostHDF5 is how many datasets a file may have; PDEBench's have 50,000.
	mostHDF5 = 1_000_000
	// deepestHDF5 is how many blocks of h5dump's text may be within each other: two or three are of groups.
	deepestHDF5 = 100
	// slowestHDF5 is how long h5dump may take to list a file: PDEBench's take seconds, a chain of some thousand groups hours.
	slowestHDF5 = 5 * time.Minute
)

// hdf5Bytes are those of values of the types that are read.
var hdf5Bytes = map[string]int{
	"H5T_IEEE_F32LE": 4, "H5T_IEEE_F32BE": 4, "H5T_IEEE_F64LE": 8, "H5T_IEEE_F64BE": 8,
	"H5T_STD_I32LE": 4, "H5T_STD_I32BE": 4, "H5T_STD_I64LE": 8, "H5T_STD_I64BE": 8,
}

// hdf5Filters are compressions of other parties, by HDF5's registered numbers. Another one might do anything: 1073 runs programs.
var hdf5Filters = []string{"305", "307", "32000", "32001", "32004", "32008", "32013", "32015", "32017", "32026"}

// errNoH5dump is the lack of the program.
var errNoH5dump = words.WithHint(errors.New("HDF5 files are read by the program h5dump, which is not there"), "Debian and Ubuntu: apt install hdf5-tools; or convert the file to NPZ (numpy.savez)")

// h5dump runs the program, with a library loaded before it unless that is "", and reads what it writes. An error is that of
// read, or has the program's message.
func h5dump(ctx context.Context, preload string, read func(io.Reader) error, args ...string) error {
	program, err := exec.LookPath("h5dump")
	if err != nil {
		return errNoH5dump
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	// Without a driver named it would try others, of which some read files with longer names.
	command := exec.CommandContext(running, program, append([]string{"--filedriver=sec2"}, args...)...)
	if preload != "" {
		command.Env = append(os.Environ(), "LD_PRELOAD="+preload)
	}
	stderr := &firstBytes{}
	command.Stderr = stderr
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return err
	}
	bad := read(out)
	var few *earlyEnd
	early := errors.As(bad, &few) // of which h5dump may know why
	if bad != nil && !early {
		cancel()
	}
	err = command.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil && bad == nil || bad != nil && !early:
		return bad
	}
	var said []string
	for line := range strings.Lines(stderr.String()) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, "ld.so: ") { // of a library that is not there
			said = append(said, strings.TrimPrefix(line, "h5dump error: "))
		}
	}
	if len(said) > 0 {
		return errors.New(strings.Join(said, "; "))
	}
	return cmp.Or(err, bad)
}

// firstBytes keeps the beginning of what is written.
type firstBytes struct{ bytes.Buffer }

func (b *firstBytes) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, 1000-b.Len()))])
	return len(p), nil
}

// openHDF5 reads the names, types and shapes of all datasets. The program h5dump runs until ctx ends.
func openHDF5(ctx context.Context, path string) (*HDF5, error) {
	f := &HDF5{ctx: ctx, path: path, datasets: map[string]hdf5Dataset{}}
	slow := fmt.Errorf("%s: h5dump has not listed it after %v", path, slowestHDF5)
	limited, cancel := context.WithTimeoutCause(ctx, slowestHDF5, slow)
	defer cancel()
	err := h5dump(limited, "", f.refuseLinks, "-n", operand(path)) // -H follows them
	if err == nil {
		err = h5dump(limited, "", f.decode, "-p", "-H", operand(path))
	}
	if err == nil && len(f.names) == 0 {
		err = f.fail("it holds no dataset")
	}
	var own *hdf5Error
	switch {
	case err == nil || errors.Is(err, slow) || errors.As(err, &own) || ctx.Err() != nil:
		return f, err
	case errors.Is(err, errNoH5dump):
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return nil, words.WithHint(fmt.Errorf("h5dump cannot read %s: %w", path, err), "is it an HDF5 file, and whole?")
}

// operand is a path that no program takes for an option.
func operand(path string) string {
	if strings.HasPrefix(path, "-") {
		return "." + string(filepath.Separator) + path
	}
	return path
}

// An hdf5Error says what pihc does not read of a file that h5dump reads.
type hdf5Error struct{ text string }

func (e *hdf5Error) Error() string { return e.text }

func (f *HDF5) fail(format string, args ...any) error {
	return &hdf5Error{f.path + ": " + fmt.Sprintf(format, args...)}
}

func (f *HDF5) outside(what string) error {
	return words.WithHint(f.fail("%s: what stands in other files is not read", what), "copy it into one file with h5py or h5copy, or to NPZ (numpy.savez)")
}

// Names are the paths of all datasets, without the first slash, such as 0000/data, in the order of h5dump.
func (f *HDF5) Names() []string {
	names := make([]string, len(f.names))
	for i, name := range f.names {
		names[i] = strings.TrimPrefix(name, "/")
	}
	return names
}

// Shape is that of a dataset, nil if there is none of the name.
func (f *HDF5) Shape(name string) ([]int, error) {
	d, ok := f.datasets["/"+name]
	if !ok {
		return nil, nil
	}
	if _, _, err := f.selection("/"+name, 1); err != nil {
		return nil, err
	}
	return append([]int{}, d.shape...), nil
}

// Close does nothing: h5dump opens the file for each dataset.
func (f *HDF5) Close() error { return nil }

// selection is what there is to read of a dataset, and the options of h5dump that say so; an error where it cannot be read.
func (f *HDF5) selection(name string, samples int) (shape []int, args []string, err error) {
	d := f.datasets[name]
	shape = slices.Clone(d.shape)
	if samples > 0 && len(shape) > 0 && samples < shape[0] {
		shape[0] = samples
		args = []string{"-s", strings.TrimSuffix(strings.Repeat("0,", len(shape)), ","), "-c", strings.ReplaceAll(words.Shape(shape), " x ", ",")}
	}
	bytes := hdf5Bytes[d.kind]
	if bytes == 0 {
		return nil, nil, f.fail("dataset %s is of type %s; want float32, float64, int32 or int64", name, d.kind)
	}
	if d.packed {
		return nil, nil, words.WithHint(f.fail("dataset %s is packed: it has scale_factor or add_offset", name), "`ncpdq -U IN OUT` unpacks, and so does xarray: open_dataset, then drop_encoding, then to_netcdf")
	}
	count := countOf(shape)
	if least := min(1, count); d.stored < least || !d.encoded && d.stored < bytes*count {
		return nil, nil, f.fail("dataset %s: %d bytes of values are in the file, %s of %d are %d: the others were never written", name, max(0, d.stored), words.Shape(shape), bytes, bytes*count)
	}
	if err := machine.CheckValues(max(float64(count), float64(d.chunk))); err != nil {
		return nil, nil, words.WithHint(f.fail("dataset %s: %v", name, err), "--samples takes the first ones alone")
	}
	return shape, args, nil
}

func countOf(shape []int) int {
	count := 1
	for _, n := range shape {
		count *= n
	}
	return count
}

// Read returns the first samples, along the first axis, of a dataset, as float64; all for 0.
func (f *HDF5) Read(name string, samples int) (*Array, error) {
	name = "/" + name
	shape, selected, err := f.selection(name, samples)
	if err != nil {
		return nil, err
	}
	var values []float64
	decode := func(r io.Reader) (err error) {
		values, err = decodeNumbers(r, f.datasets[name].kind, countOf(shape))
		return err
	}
	args := slices.Concat([]string{"-O", "-d", name}, selected, []string{"-b", "LE", "-o", "/dev/stdout", operand(f.path)})
	if err := h5dump(f.ctx, "", decode, args...); err != nil && h5dump(f.ctx, lzfLibrary, decode, args...) != nil {
		if f.ctx.Err() != nil {
			return nil, f.ctx.Err()
		}
		return nil, words.WithHint(
			fmt.Errorf("h5dump cannot read dataset %s of %s: %w", name, f.path, err),
			"if its data are compressed by LZF, as PDEBench's are, h5dump needs the plugin (Debian: apt install hdf5-plugin-lzf liblzf1)",
		)
	}
	a := NewArray(shape, values)
	fill := []float64{netcdfFill, netcdfFill32}
	if v, err := strconv.ParseFloat(f.datasets[name].fill, 64); err == nil && f.datasets[name].filled {
		fill = append(fill, v, float64(float32(v)))
	}
	if at := a.find(fill); at >= 0 {
		return nil, f.fail("dataset %s: value at index (%s) is NetCDF's fill value: nothing was written there", name, a.index(at))
	}
	return a, nil
}

// earlyEnd is an end of values before the last.
type earlyEnd struct{ got, want int }

func (e *earlyEnd) Error() string { return fmt.Sprintf("it gave %d of %d values", e.got, e.want) }

// decodeNumbers reads count little-endian numbers of a type of hdf5Bytes, and the end.
func decodeNumbers(r io.Reader, kind string, count int) ([]float64, error) {
	values, buffer, bytes, order := make([]float64, count), make([]byte, 1<<16), hdf5Bytes[kind], binary.LittleEndian
	for at := 0; at < count; {
		part := buffer[:min(len(buffer), bytes*(count-at))]
		if n, err := io.ReadFull(r, part); err != nil {
			return nil, &earlyEnd{at + n/bytes, count}
		}
		for ; len(part) > 0; part, at = part[bytes:], at+1 {
			switch whole := strings.HasPrefix(kind, "H5T_STD_"); {
			case bytes == 4 && whole:
				values[at] = float64(int32(order.Uint32(part)))
			case bytes == 4:
				values[at] = float64(math.Float32frombits(order.Uint32(part)))
			case whole:
				values[at] = float64(int64(order.Uint64(part)))
			default:
				values[at] = math.Float64frombits(order.Uint64(part))
			}
		}
	}
	if n, _ := r.Read(buffer[:1]); n > 0 {
		return nil, fmt.Errorf("it has more than %d values", count)
	}
	return values, nil
}
