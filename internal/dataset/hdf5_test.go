package dataset

import (
	"math/big"
	"testing"
)

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
      }
   }
}
}`))
	f.Add([]byte("DATASET \"\" {\nDATASPACE  SIMPLE { ( 4611686018427387904, 4 ) / ( 1 ) }\n}}}}"))
	f.Add([]byte("DATASET \"a\" {\nDATASPACE SIMPLE { ( 0, 9223372036854775807, 2 ) }"))
	f.Fuzz(func(t *testing.T, text []byte) {
		h := &HDF5{path: "a.h5", datasets: map[string]hdf5Dataset{}}
		if h.decode(text) != nil {
			return
		}
		for _, name := range h.Names {
			d, there := h.datasets[name]
			size := big.NewInt(1)
			for _, n := range d.shape {
				size.Mul(size, big.NewInt(int64(n)))
			}
			if !there || d.shape != nil && size.Cmp(big.NewInt(int64(d.size))) != 0 {
				t.Errorf("dataset %q: %+v", name, d)
			}
		}
	})
}
