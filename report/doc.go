// Package report turns scores into tables, figures and one HTML page.
//
// Its inputs are plain structs ([Method], [Case], [Page]) that any
// program can fill. [Page.Write] writes a
// single self-contained file, with every figure, style and script inside, and
// the figures once more as PNG and SVG files for papers and slides. [Table]
// prints aligned columns on a terminal.
//
// Fields are flat slices, row-major, axis 0 (time) slowest.
package report
