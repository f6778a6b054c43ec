// Package lm solves nonlinear least-squares problems,
//
//	minimise ½‖r(w)‖² + ½ε²‖w‖²  over w in R^n,
//
// for n up to a few hundred and any number of rows, and differentiates the
// solution.
//
// # Which functions to use
//
// State the problem with [NewDense] (callbacks for the residual and, if you
// have it, its Jacobian) or by implementing [Problem], which only asks for JᵀJ
// and Jᵀr, so that rows need never be stored. Make one [Solver] with [NewSolver]
// and call [Solver.Solve]; the zero [Options] are the recommended ones. Problems
// that are solved at the same time need a Solver each. The solution comes with a
// [Result]: how the run ended, the work it took and how far the minimum may be.
// Look at Result.Status.Err.
//
// # Method
//
// Levenberg-Marquardt with Nielsen's damping, Moré's scaling and, where the
// problem is [Accelerated], geodesic acceleration ([Descent] and
// [Scaling] name the alternatives); each step from a Cholesky
// factorisation of the normal equations scaled to unit diagonal, refined once
// when the smallest pivot falls below 1e-9 and replaced by QR of the rows with
// column pivoting below 1e-12; MINPACK's three tests; a second run with identity
// scaling where the first ended on a plateau or J has lost rank; and, if asked,
// a final Newton step with the exact Hessian. docs/reference/least-squares.md
// gives the algorithm, the source of each constant, and the results on the
// MGH and NIST suites.
//
// NaN and Inf are answers, not errors: such a trial is rejected, and such a
// start is reported. Nothing here panics on data; panics mark a caller's bug.
//
// # Derivatives of the solution
//
// At a minimum w*(θ) the gradient g(w, θ) = Jᵀr + ε²w vanishes, so that
//
//	H dw = −(∂g/∂θ) dθ,   H = JᵀJ + Σ r_i∇²r_i + ε²I,
//
// which gives, for a loss L(w*) with w̄ = ∂L/∂w,
//
//	λ = H⁻¹w̄,  ∂L/∂θ = −(∂g/∂θ)ᵀλ.
//
// [Solver.FactorSolution] evaluates and factors H, [Solver.SolveAdjoint] gives λ.
// [Hessian] names the approximations of H. At a distance δ from w* the error of the
// gradient is O(δ); [Options.NewtonCorrection] makes that O(δ²).
//
// # Guarantees
//
// After the first solve nothing is allocated that grows with the rows or the
// unknowns. The result of a problem is bitwise the same whatever the solver did
// before.
package lm
