// Package inverse fits numbers of a problem to observations of its solution: constants, inputs that are numbers, and coefficients of
// the series that an input is drawn from. It minimises the sum of squared residuals over their standard deviations (package lm) over
// solutions of the problem's own rows, with exact derivatives by tangents (package discrete), on grids that are refined until the
// estimates no longer depend on them, and says what the data tell: estimates with profile-likelihood intervals (D. J. Venzon and S. H.
// Moolgavkar, Applied Statistics 37, 1988), whether they agree with the equation, and which combinations they do not see.
package inverse
