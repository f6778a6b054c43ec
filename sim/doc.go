// Package sim has classical solvers and random fields: solutions by other means, which
// predictions are measured against. It knows nothing of terms,
// residuals or networks; a PDE file names one of its solvers by name and
// passes constants.
//
// Solvers are error controlled. A solution is returned on the output times
// alone, as a flat row-major slice, time slowest.
package sim
