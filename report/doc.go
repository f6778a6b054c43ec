// Package report turns results into numbers, tables, figures and one HTML page.
//
// Its inputs are plain structs ([Evaluation], [Method], [Case], [Page]) that any
// command can fill; [Evaluate] fills the first from an engine. [WritePage] writes a
// single self-contained file, with every figure, style and script inside, and
// the figures once more as PNG and SVG files for papers and slides. [Table]
// prints aligned columns on a terminal.
//
// Fields are flat slices, row-major, axis 0 (time) slowest. Errors and metrics
// are fractions: 0.036 is shown as 3.60 %.
package report
