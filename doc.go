// Package pihc is the guide to the library: neural operators trained on a partial
// differential equation in the place of its solutions. A network proposes N basis
// functions for an initial condition; a differentiable least-squares solve, split
// among experts by domain decomposition, combines them so as to lower the residual
// of the equation as far as that basis allows ("Scaling physics-informed hard
// constraints with mixture-of-experts", ICLR 2024). Training sees initial
// conditions and the equation, and solutions only for a control (loss.data).
//
// This package holds no code of its own. The library is the packages below it,
// each importing only those further down:
//
//	cmd/pihc              the command: flags, words, progress
//	internal/paper        the paper's studies
//	experiment            open, generate, train, predict, score, check, size, compare
//	report                pages and figures
//	train                 fitting parameters in a run folder
//	score                 metrics, baselines
//	dist, xla             several processes as one; the engine on PJRT plugins
//	engine                loss, passes, predictions, gradients; the engine "cpu"
//	model                 Spec: an experiment as data, its defaults, its network
//	internal/dataset      draws of inputs, reference solutions, files of solutions
//	constraint            rows, sampled points, Router, solve and its adjoint
//	internal/discrete     a problem solved by its own rows
//	pde, sim              problems as data; classical solvers as the witness
//	grid fno ffno lm data expr network compute    operators; networks; least squares; files; expressions; what all share
//	internal/...          transforms, kernels, configuration, checks for tests
//
// # From a problem to a prediction
//
// Package [pihc/experiment] is all that a program needs to generate, train, predict and score, as the command does. The
// example of this package walks the whole way.
//
// Below it, [pihc/pde] reads a problem: a built-in name or a YAML file with axes, terms, residual, conditions and the
// distribution of initial conditions. On a grid it becomes a System, whose terms are operators of [pihc/grid] and
// whose rows are compiled programs. [pihc/model] reads a Spec, which names the problem and holds every other constant:
// grid, network, constraint, loss, training, data. An Engine of [pihc/engine] computes two things from both, for
// parameters in one flat slice: the constrained fields of a batch of inputs, and the loss with its gradient.
// [pihc/train] turns a Spec and a dataset into a run folder that can be interrupted at any time and continues
// bitwise identically.
//
// Networks, classical solvers, decompositions and engines of other modules are registered by name: model.RegisterNetwork,
// sim.Register, constraint.RegisterRouter, engine.Register. The suites that judge them are
// [pihc/network/networktest] and [pihc/engine/enginetest]; examples/go has a network, a solver, a decomposition and an engine.
//
// # Methods
//
// A Spec's method is one of three, by the paper's names:
//
//	soft  PI-SC      the network outputs u; the equation is a penalty in the loss
//	hard  PI-HC      one least-squares solve over the whole domain
//	moe   PI-HC-MoE  one solve for each subdomain, in parallel
//
// # Conventions
//
// Fields are flat row-major slices, axis 0 (time) slowest and the last axis
// contiguous. The network is float32 or float64, and everything outside it float64,
// but for the basis and the rows of a float32 network on a problem with spectral
// terms. Randomness is a seed in the Spec: the same spec, dataset, build and width
// of vectors give the same bits for any number of workers and processes. A caller's bug panics with a
// constant message; what is wrong with the world (a file, a value) is an error
// that says what and where.
package pihc
