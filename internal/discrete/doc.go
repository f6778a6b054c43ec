// Package discrete solves a problem by its own rows: on a grid refined in space
// and time, without a network, for solutions to compare with where no classical
// solver of the equation is at hand.
//
// Where the first axis is time, which the problem shows by rows of the residual with
// a derivative along it of order 1 or 2 and conditions at its low end alone, it is
// marched: the rows of one instant are kept as the file has them, and derivatives
// in time are those of the collocation polynomial of Radau IIA (three stages, order
// 5; E. Hairer and G. Wanner, Solving Ordinary Differential Equations II, section
// IV.8). Rows without a derivative in time, those of walls say, hold at every stage.
// Nothing but the rows' first derivatives is needed, so the residual may depend on
// u_t in any way. Refinements march problems on periodic axes that are linear but for a
// part of low order by ETDRK4 instead where that takes less work. Otherwise all values of the grid are solved for at once, by
// Gauss-Newton steps. Rows may outnumber unknowns in both; least squares then.
//
// Steps of Newton's method are by a factored matrix: a band, or of several axes one that is divided (package sparse). In time, where a factorisation
// takes much work, they are tried by GMRES first.
package discrete
