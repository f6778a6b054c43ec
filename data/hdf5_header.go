package data

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pihc/internal/words"
)

var (
	hdf5Name  = regexp.MustCompile(`^\s*(GROUP|DATASET|ATTRIBUTE) "(.*)" \{`)
	hdf5Type  = regexp.MustCompile(`^\s*DATATYPE\s+(\w+)`)
	hdf5Space = regexp.MustCompile(`^\s*DATASPACE\s+SIMPLE \{ \( ([0-9, ]+) \)`)
	hdf5Chunk = regexp.MustCompile(`^\s*CHUNKED \( ([0-9, ]+) \)`)
	hdf5Size  = regexp.MustCompile(`^\s*SIZE ([0-9]+)`)
	// What h5dump says of values or objects in other files. A name cannot take such a line away.
	hdf5Outside = regexp.MustCompile(`^\s*(EXTERNAL \{|VIRTUAL \{|EXTERNAL_LINK |USERDEFINED_LINK )`)
	hdf5Link    = regexp.MustCompile(`^ *(ext link|UD link)\b`)
	hdf5Hard    = regexp.MustCompile(`^\s*HARDLINK "(.*)"`)
	hdf5Fill    = regexp.MustCompile(`^\s*VALUE\s+(\S+)$`)
	hdf5Filter  = regexp.MustCompile(`^\s*FILTER_ID ([0-9]+)`)
)

// refuseLinks reads the output of h5dump -n, which follows no link.
func (f *HDF5) refuseLinks(list io.Reader) error {
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		if hdf5Link.MatchString(lines.Text()) {
			return f.outside("it has a link to another file, " + strconv.Quote(strings.TrimSpace(lines.Text())))
		}
	}
	return f.scanned(lines)
}

func (f *HDF5) scanned(lines *bufio.Scanner) error {
	if err := lines.Err(); err != nil {
		return f.fail("what h5dump says of it: %v", err)
	}
	return nil
}

// decode reads the output of h5dump -p -H.
func (f *HDF5) decode(header io.Reader) error {
	var open []string     // the blocks around a line: the path of a group or dataset, or ""
	in := func() string { // the innermost of these
		for _, at := range slices.Backward(open) {
			if at != "" {
				return at
			}
		}
		return ""
	}
	lines := bufio.NewScanner(header)
	for lines.Scan() {
		line := lines.Text()
		if hdf5Outside.MatchString(line) {
			return f.outside(fmt.Sprintf("%s has values or a link in another file, %q", cmp.Or(in(), "/"), strings.TrimSpace(line)))
		}
		if len(open) > deepestHDF5 || len(f.names) > mostHDF5 {
			return f.fail("more groups within each other, or more datasets, than there may be (%d, %d)", deepestHDF5, mostHDF5)
		}
		if m := hdf5Name.FindStringSubmatch(line); m != nil {
			at := ""
			if d, ok := f.datasets[in()]; ok && m[1] == "ATTRIBUTE" {
				d.packed = d.packed || m[2] == "scale_factor" || m[2] == "add_offset"
				d.filled = d.filled || m[2] == "_FillValue"
				f.datasets[in()] = d
			}
			if m[1] != "ATTRIBUTE" {
				at = strings.TrimSuffix(in(), "/") + "/" + strings.Trim(m[2], "/")
				if m[1] == "DATASET" {
					f.names = append(f.names, at)
					f.datasets[at] = hdf5Dataset{chunk: 1, stored: -1, encoded: true}
				}
			}
			open = append(open, at)
			continue
		}
		if d, ok := f.datasets[in()]; ok {
			if err := f.property(&d, in(), line, open[len(open)-1] != ""); err != nil {
				return err
			}
			f.datasets[in()] = d
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
	return f.scanned(lines)
}

// property reads what a line says of a dataset; one in a block within that is not of its type and shape.
func (f *HDF5) property(d *hdf5Dataset, name, line string, own bool) (err error) {
	if m := hdf5Type.FindStringSubmatch(line); m != nil && own {
		d.kind = m[1]
	}
	if m := hdf5Space.FindStringSubmatch(line); m != nil && own {
		d.shape, _, err = f.sizes(name, m[1])
	}
	if m := hdf5Hard.FindStringSubmatch(line); m != nil && own {
		*d = f.datasets[m[1]] // another name of one that came before
	}
	if m := hdf5Chunk.FindStringSubmatch(line); m != nil {
		_, d.chunk, err = f.sizes(name, m[1])
	}
	if m := hdf5Size.FindStringSubmatch(line); m != nil && d.stored < 0 {
		if d.stored, err = strconv.Atoi(m[1]); err != nil {
			return f.fail("dataset %s: %v", name, err)
		}
	}
	if m := hdf5Fill.FindStringSubmatch(line); m != nil {
		d.fill = m[1]
	}
	if strings.TrimSpace(line) == "NONE" { // of FILTERS
		d.encoded = false
	}
	if m := hdf5Filter.FindStringSubmatch(line); m != nil && !slices.Contains(hdf5Filters, m[1]) {
		return words.WithHint(f.fail("dataset %s goes through the filter %s, which is none of the compressions that pihc knows", name, m[1]), "h5repack -f GZIP=4 writes it with one that all programs have")
	}
	return err
}

// sizes reads the numbers of points along axes, and of all.
func (f *HDF5) sizes(name, list string) (shape []int, count int, err error) {
	count = 1
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, 0, f.fail("dataset %s: %v", name, err)
		}
		shape = append(shape, n)
	}
	for _, n := range shape {
		if n > 0 && count > math.MaxInt/8/n {
			return nil, 0, f.fail("dataset %s: %s is more than there can be", name, words.Shape(shape))
		}
		count *= n
	}
	return shape, count, nil
}
