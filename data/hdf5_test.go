package data

import (
	"bytes"
	"context"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pihc/internal/words"
)

// hdf5Header is what h5dump -p -H says of a dataset /tensor.
func hdf5Header(shape, layout, filters string) string {
	return `HDF5 "a.h5" {
GROUP "/" {
   DATASET "tensor" {
      DATATYPE  H5T_IEEE_F32LE
      DATASPACE  SIMPLE { ( ` + shape + ` ) / ( ` + shape + ` ) }
      STORAGE_LAYOUT {
         ` + layout + `
      }
      FILTERS {
         ` + filters + `
      }
      ATTRIBUTE "a" {
         DATATYPE  H5T_STD_I32LE
         DATASPACE  SIMPLE { ( 7 ) / ( 7 ) }
      }
   }
   GROUP "g" {
      DATASET "same" {
         HARDLINK "/tensor"
      }
   }
}
}
`
}

// What makes h5dump read other files, run others' code, or make up values, is refused before a value is read.
func TestHDF5Refuses(t *testing.T) {
	const deflate = "COMPRESSION DEFLATE { LEVEL 4 }"
	for _, c := range []struct{ shape, layout, filters, want string }{
		{"3, 4", "CONTIGUOUS\n SIZE 48\n OFFSET 2048", "NONE", ""},
		{"3, 4", "COMPACT\n SIZE 48", "NONE", ""},
		{"3, 4", "CHUNKED ( 1, 4 )\n SIZE 30 (1.6:1 COMPRESSION)", "PREPROCESSING SHUFFLE\n" + deflate, ""},
		{"3, 4", "CHUNKED ( 1, 4 )\n SIZE 30 (1.6:1 COMPRESSION)", "USER_DEFINED_FILTER {\n FILTER_ID 32000\n COMMENT lzf\n }", ""},
		{"3, 4", "CHUNKED ( 1, 4 )\n SIZE 30 (1.6:1 COMPRESSION)", "USER_DEFINED_FILTER {\n FILTER_ID 1073\n }", "a.h5: dataset /tensor goes through the filter 1073, which is none of the compressions that pihc knows"},
		{"3, 4", "CONTIGUOUS\n EXTERNAL {\n FILENAME /etc/passwd SIZE 48 OFFSET 0\n }", "NONE", `a.h5: /tensor has values or a link in another file, "EXTERNAL {": what stands in other files is not read`},
		{"3, 4", "MAPPING 0 { \n VIRTUAL {\n SELECTION ALL\n }\n SOURCE {\n FILE \"b.h5\"\n }\n }", "NONE", `"VIRTUAL {"`},
		{"100000, 1000, 1000", "CONTIGUOUS\n SIZE 0\n OFFSET 18446744073709551615", "NONE", "a.h5: dataset /g/same: 0 bytes of values are in the file, 100000 x 1000 x 1000 of 4 are 400000000000: the others were never written"},
		{"3, 4", "CHUNKED ( 1, 4 )\n SIZE 32", "NONE", "32 bytes of values are in the file, 3 x 4 of 4 are 48"},
		{"3, 4", "CHUNKED ( 1, 4 )\n SIZE 0 (0.000:1 COMPRESSION)", deflate, "0 bytes of values are in the file"},
		{"3, 4", "", "NONE", "0 bytes of values are in the file"}, // h5dump does not say
		{"1000000000000, 1000", "CHUNKED ( 1000, 1000 )\n SIZE 9000000 (1000:1 COMPRESSION)", deflate, "a.h5: dataset /g/same: 1e+15 values take about 1.6e+07 GB of memory; this machine has"},
		{"3, 4", "CHUNKED ( 1000000000000, 1000 )\n SIZE 9000 (1000:1 COMPRESSION)", deflate, "1e+15 values take about"},
		{"9223372036854775807, 2", "CONTIGUOUS\n SIZE 8", "NONE", "is more than there can be"},
		{"3, 4", "CHUNKED ( 99999999999, 99999999999 )\n SIZE 9", deflate, "is more than there can be"},
		{"99999999999999999999", "CONTIGUOUS\n SIZE 8", "NONE", "value out of range"},
		{"3, 4", strings.Repeat("X {\n", 200), "NONE", "more groups within each other"},
	} {
		f := &HDF5{path: "a.h5", datasets: map[string]hdf5Dataset{}}
		err := f.decode(strings.NewReader(hdf5Header(c.shape, c.layout, c.filters)))
		if err == nil {
			_, _, err = f.selection("/g/same", 0)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.layout, err, c.want)
		}
	}
	f := &HDF5{path: "a.h5", datasets: map[string]hdf5Dataset{}}
	if err := f.decode(strings.NewReader(hdf5Header("3, 4", "CHUNKED ( 1, 4 )\n SIZE 32", "NONE"))); err != nil {
		t.Fatal(err)
	}
	if shape, args, err := f.selection("/tensor", 2); err != nil || words.Shape(shape) != "2 x 4" || strings.Join(args, " ") != "-s 0,0 -c 2,4" {
		t.Errorf("the two samples that were written: %v %v %v", shape, args, err)
	}
	list := "HDF5 \"a.h5\" {\nFILE_CONTENTS {\n group      /\n ext link   /tensor -> /etc/passwd /x\n }\n}\n"
	if err := f.refuseLinks(strings.NewReader(list)); err == nil || !strings.Contains(err.Error(), "it has a link to another file") {
		t.Errorf("a link: %v", err)
	}
	if err := f.refuseLinks(strings.NewReader(" group /\n link       /g/soft -> /g\n dataset    /ext link\n")); err != nil {
		t.Errorf("a link within the file: %v", err)
	}
}

// Numbers of every type that is read, and those that are packed or were never written, as h5dump tells of them.
func TestHDF5Numbers(t *testing.T) {
	for kind, c := range map[string]struct {
		bytes string
		want  float64
	}{
		"H5T_STD_I32LE": {"\xfe\xff\xff\xff", -2}, "H5T_STD_I64BE": {"\xfd\xff\xff\xff\xff\xff\xff\xff", -3},
		"H5T_IEEE_F32LE": {"\x00\x00\x20\x40", 2.5}, "H5T_IEEE_F64BE": {"\x00\x00\x00\x00\x00\x00\x04\xc0", -2.5},
	} {
		if got, err := decodeNumbers(strings.NewReader(c.bytes), kind, 1); err != nil || got[0] != c.want {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
	}
	marked := func(attribute string) *HDF5 {
		f := &HDF5{path: "a.h5", datasets: map[string]hdf5Dataset{}}
		text := strings.Replace(hdf5Header("3, 4", "CONTIGUOUS\n SIZE 48", "NONE\n }\n FILLVALUE {\n FILL_TIME H5D_FILL_TIME_IFSET\n VALUE  -999"), `ATTRIBUTE "a"`, `ATTRIBUTE "`+attribute+`"`, 1)
		if err := f.decode(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, attribute := range []string{"scale_factor", "add_offset"} {
		if _, err := marked(attribute).Shape("tensor"); err == nil || !strings.Contains(err.Error(), "dataset /tensor is packed") {
			t.Errorf("%s: %v", attribute, err)
		}
	}
	if d := marked("_FillValue").datasets["/tensor"]; !d.filled || d.fill != "-999" {
		t.Errorf("a fill value: %+v", d)
	}
	f := marked("a")
	if shape, err := f.Shape("g/same"); err != nil || words.Shape(shape) != "3 x 4" || f.datasets["/tensor"].filled {
		t.Errorf("%v, %v", shape, err)
	}
}

// A name is never an option of h5dump, what is no file never its input, and it is ended once it says more than was asked.
func TestHDF5Program(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // where there is no sh for what stands for h5dump
	}
	dir := t.TempDir()
	program := `#!/bin/sh
for last; do :; done
case " $* " in
*" -n "*) ;;
*" -H "*) printf '%s' '` + hdf5Header("3, 4", `CONTIGUOUS
 SIZE 48`, "NONE") + `' ;;
*) if [ "$last" = endless.h5 ]; then exec cat /dev/zero; fi
   printf '%s' "$*" >args; head -c "${BYTES:-48}" /dev/zero ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "h5dump"), []byte(program), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Chdir(dir)
	ctx := context.Background()
	for name, want := range map[string]string{"-x.h5": "", "endless.h5": "it has more than 12 values"} {
		os.WriteFile(name, nil, 0o666)
		f, err := openHDF5(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Read("tensor", 0)
		if want == "" && (err != nil || words.Shape(a.Shape) != "3 x 4") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if args, _ := os.ReadFile("args"); string(args) != "--filedriver=sec2 -O -d /tensor -b LE -o /dev/stdout ./-x.h5" {
		t.Errorf("h5dump %s", args)
	}
	t.Setenv("BYTES", "20")
	f, err := openHDF5(ctx, "-x.h5")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read("tensor", 0); err == nil || !strings.Contains(err.Error(), "it gave 5 of 12 values") {
		t.Errorf("too few: %v", err)
	}
	if _, err := OpenArrays(ctx, dir); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a folder: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	f.ctx = ended
	if _, err := f.Read("tensor", 0); err != context.Canceled {
		t.Errorf("after an interrupt: %v", err)
	}
}

// What h5dump says of an HDF5 file, on any text: datasets with a size, or an error.
func FuzzHDF5Header(f *testing.F) {
	f.Add([]byte(`HDF5 "a.h5" {
GROUP "/" {
   ATTRIBUTE "x" {
      DATATYPE  H5T_STRING {
         STRSIZE 3;
      }
   }
   GROUP "0000" {
      DATASET "data" {
         DATATYPE  H5T_IEEE_F32LE
         DATASPACE  SIMPLE { ( 3, 24, 1 ) / ( 3, 24, H5S_UNLIMITED ) }
         STORAGE_LAYOUT {
            CHUNKED ( 1, 24, 1 )
            SIZE 80 (3.6:1 COMPRESSION)
         }
         FILTERS {
            USER_DEFINED_FILTER {
               FILTER_ID 32000
            }
         }
      }
   }
}
}`))
	f.Add([]byte("DATASET \"\" {\nDATASPACE  SIMPLE { ( 4611686018427387904, 4 ) / ( 1 ) }\n}}}}"))
	f.Add([]byte("DATASET \"a\" {\nDATASPACE SIMPLE { ( 0, 9223372036854775807, 2 ) }"))
	f.Fuzz(func(t *testing.T, text []byte) {
		h := &HDF5{path: "a.h5", datasets: map[string]hdf5Dataset{}}
		if h.decode(bytes.NewReader(text)) != nil {
			return
		}
		for _, name := range h.names {
			d, there := h.datasets[name]
			size := big.NewInt(8)
			for _, n := range d.shape {
				size.Mul(size, big.NewInt(int64(n)))
			}
			if !there || !size.IsInt64() || d.chunk < 0 {
				t.Errorf("dataset %q: %+v", name, d)
			}
		}
	})
}
