package data

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pihc/internal/disk"
	"pihc/internal/words"
)

// VTK's XML formats: an image (.vti) has the values of one time at the points of a uniform grid, a collection (.pvd) names one
// file for each time. https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html

// vtkImages are fields as images, one for each time.
type vtkImages struct {
	points  [3]int // along VTK's x, y and z
	origin  [3]float64
	spacing [3]float64
	strides [3]int // in the values of one time
	size    int    // values of one time
	times   []float64
	steady  bool
	arrays  []vtkArray
	further []Variable // of samples: field data
}

// vtkArray is one sample of one unknown, times one after another.
type vtkArray struct {
	name   string
	values []float64
}

// vtk arranges fields as images. Axes that are named x, y and z are VTK's of the name, others come in their order. Of several samples each
// has an array of its own, u_sample0 and so on. Coordinates that are not uniform are an error.
func (f *Fields) vtk() (*vtkImages, error) {
	v := &vtkImages{points: [3]int{1, 1, 1}, spacing: [3]float64{1, 1, 1}, times: []float64{0}, steady: f.Time == ""}
	space := slices.DeleteFunc(slices.Clone(f.Axes), func(name string) bool { return name == f.Time })
	if len(space) > 3 {
		return nil, fmt.Errorf("%d axes of space; VTK has three", len(space))
	}
	byName := !slices.ContainsFunc(space, func(name string) bool { return !slices.Contains([]string{"x", "y", "z"}, name) })
	find := func(name string) []float64 {
		for _, v := range f.Variables {
			if v.Name == name {
				return v.Array.Float64()
			}
		}
		return nil
	}
	if f.Time != "" {
		v.times = find(f.Time)
	}
	v.size = 1
	for k, name := range slices.Backward(space) {
		x := find(name)
		at := k
		if byName {
			at = int(name[0] - 'x')
		}
		if len(x) == 0 {
			return nil, fmt.Errorf("there are no coordinates %q", name)
		}
		v.points[at], v.origin[at], v.strides[at] = len(x), x[0], v.size
		v.size *= len(x)
		if len(x) == 1 {
			continue
		}
		step := (x[len(x)-1] - x[0]) / float64(len(x)-1)
		v.spacing[at] = step
		for i, c := range x {
			if !(step > 0) || math.Abs(c-(x[0]+float64(i)*step)) > 1e-6*step {
				return nil, words.WithHint(fmt.Errorf("point %d of axis %s is at %g: the coordinates are not uniform, as those of a .vti are", i, name, c), ".npz and .nc hold any")
			}
		}
	}
	return v, v.fill(f)
}

// fill adds the arrays.
func (v *vtkImages) fill(f *Fields) error {
	onGrid := append([]string{SampleDimension}, f.Axes...)
	for _, x := range f.Variables {
		switch {
		case slices.Contains(f.Axes, x.Name):
		case !slices.Equal(x.Dimensions, onGrid):
			v.further = append(v.further, x)
		default:
			values, count := x.Array.Float64(), x.Array.Shape[0]
			one := v.size * len(v.times)
			if len(values) != count*one {
				return fmt.Errorf("variable %q has shape %s, the coordinates have %d points", x.Name, words.Shape(x.Array.Shape), one)
			}
			for i := range count {
				name := x.Name
				if count > 1 {
					name += "_sample" + strconv.Itoa(i)
				}
				if slices.ContainsFunc(v.arrays, func(a vtkArray) bool { return a.name == name }) {
					return fmt.Errorf("two arrays named %q", name)
				}
				v.arrays = append(v.arrays, vtkArray{name, values[i*one : (i+1)*one]})
			}
		}
	}
	if len(v.arrays) == 0 {
		return errors.New("there is no field on the grid")
	}
	return nil
}

// vtkNumbers are finite numbers as text.
func vtkNumbers(values []float64) string {
	var text []string
	for _, x := range values {
		text = append(text, strconv.FormatFloat(x, 'g', -1, 64))
	}
	return strings.Join(text, " ")
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

const vtkFile = "<?xml version=\"1.0\"?>\n<VTKFile type=%q version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"

// encode writes the image of one time: a header in XML, then values as they are in memory, appended.
func (v *vtkImages) encode(w io.Writer, at int) error {
	var b bytes.Buffer
	extent := fmt.Sprintf("0 %d 0 %d 0 %d", v.points[0]-1, v.points[1]-1, v.points[2]-1)
	fmt.Fprintf(&b, vtkFile, "ImageData")
	fmt.Fprintf(&b, " <ImageData WholeExtent=\"%s\" Origin=\"%s\" Spacing=\"%s\">\n  <FieldData>\n", extent, vtkNumbers(v.origin[:]), vtkNumbers(v.spacing[:]))
	offset := len(v.arrays) * 8 * (v.size + 1)
	if !v.steady {
		fmt.Fprintf(&b, "   <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">%s</DataArray>\n", vtkNumbers(v.times[at:at+1]))
	}
	for _, x := range v.further { // appended, as VTK reads no NaN in text
		n := x.Array.Len()
		fmt.Fprintf(&b, "   <DataArray type=\"Float64\" Name=\"%s\" NumberOfTuples=\"%d\" format=\"appended\" offset=\"%d\"/>\n", escaped(x.Name), n, offset)
		offset += 8 * (n + 1)
	}
	fmt.Fprintf(&b, "  </FieldData>\n  <Piece Extent=\"%s\">\n   <PointData Scalars=\"%s\">\n", extent, escaped(v.arrays[0].name))
	for k, a := range v.arrays {
		fmt.Fprintf(&b, "    <DataArray type=\"Float64\" Name=\"%s\" format=\"appended\" offset=\"%d\"/>\n", escaped(a.name), k*8*(v.size+1))
	}
	b.WriteString("   </PointData>\n  </Piece>\n </ImageData>\n <AppendedData encoding=\"raw\">\n_")
	if _, err := w.Write(b.Bytes()); err != nil {
		return err
	}
	var line []byte
	for _, a := range v.arrays {
		values := a.values[at*v.size : (at+1)*v.size]
		line = binary.LittleEndian.AppendUint64(line[:0], uint64(8*v.size))
		for z := range v.points[2] {
			for y := range v.points[1] {
				for x := range v.points[0] { // fastest
					line = binary.LittleEndian.AppendUint64(line, math.Float64bits(values[x*v.strides[0]+y*v.strides[1]+z*v.strides[2]]))
				}
				if _, err := w.Write(line); err != nil {
					return err
				}
				line = line[:0]
			}
		}
	}
	for _, x := range v.further {
		line = binary.LittleEndian.AppendUint64(line[:0], uint64(8*x.Array.Len()))
		for _, value := range x.Array.Float64() {
			line = binary.LittleEndian.AppendUint64(line, math.Float64bits(value))
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\n </AppendedData>\n</VTKFile>\n")
	return err
}

func (v *vtkImages) writeImage(path string, at int) error {
	return disk.WriteAtomic(path, func(w io.Writer) error { return v.encode(w, at) })
}

// seriesFolder is where the images of a .pvd file are: u for u.pvd.
func seriesFolder(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }

var seriesImage = regexp.MustCompile(`^[0-9]{4,}\.vti$`)

// seriesImages are the images in a folder, which has nothing else.
func seriesImages(dir string) (names []string, err error) {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.IsDir() {
		return nil, words.WithHint(fmt.Errorf("%s, for the images of the series, exists already and is no folder", dir), "choose another name for --out")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, disk.Reason(err))
	}
	for _, e := range entries {
		if disk.IsPartial(e.Name()) {
			continue
		}
		if !e.Type().IsRegular() || !seriesImage.MatchString(e.Name()) {
			return nil, words.WithHint(fmt.Errorf("%s, for the images of the series, has other files, such as %s", dir, e.Name()), "choose another name for --out")
		}
		names = append(names, e.Name())
	}
	return names, nil
}

// checkSeries is an error for a .pvd file whose folder has something else than images, or, without overwrite, images.
func checkSeries(path string, overwrite bool) error {
	dir := seriesFolder(path)
	names, err := seriesImages(dir)
	if err == nil && len(names) > 0 && !overwrite {
		err = words.WithHint(fmt.Errorf("%s, for the images of the series, has images already", dir), "choose another name, or replace them with --force")
	}
	return err
}

// writeSeries writes an image for each time into a folder beside path, then path, which names them. What was there of an earlier series is
// removed first, path before the images. After an error none of these is there.
func (v *vtkImages) writeSeries(path string) (err error) {
	dir := seriesFolder(path)
	old, err := seriesImages(dir)
	if err != nil {
		return err
	}
	remove := func(names []string) error {
		all := []error{disk.Remove(path)}
		for _, name := range names {
			all = append(all, disk.Remove(filepath.Join(dir, name)))
		}
		return errors.Join(all...)
	}
	if err := remove(old); err != nil {
		return fmt.Errorf("%s: %w", path, disk.Reason(err))
	}
	disk.RemovePartials(dir)
	made, err := disk.MakeFolder(dir)
	if err != nil {
		return err
	}
	var written []string
	defer func() {
		if err == nil {
			return
		}
		_ = remove(written)
		if made {
			_ = disk.Remove(dir)
		}
	}()
	var index bytes.Buffer
	fmt.Fprintf(&index, vtkFile+" <Collection>\n", "Collection")
	for i, t := range v.times {
		name := fmt.Sprintf("%04d.vti", i)
		if err = v.writeImage(filepath.Join(dir, name), i); err != nil {
			return err
		}
		written = append(written, name)
		fmt.Fprintf(&index, "  <DataSet timestep=\"%s\" part=\"0\" file=\"%s/%s\"/>\n", vtkNumbers([]float64{t}), escaped(filepath.Base(dir)), name)
	}
	index.WriteString(" </Collection>\n</VTKFile>\n")
	return disk.WriteFile(path, index.Bytes())
}
