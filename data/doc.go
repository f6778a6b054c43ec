// Package data holds the file formats: arrays as NPY and NPZ, fields for other
// programs as NetCDF-3 and VTK's XML, tensors as safetensors, datasets as folders
// of shards with a manifest, run logs as lines of JSON, scalars for TensorBoard;
// HDF5 files are read alone.
//
// Files appear under their final name only when complete and synchronised
// ([WriteAtomic]). Decoders never panic, bound what they allocate by what they
// read, and name the byte or the line that is wrong ([FormatError]). It knows
// neither equations nor solvers.
package data
