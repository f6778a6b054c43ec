package constraint

import (
	"math"

	"pihc/compute"
	"pihc/internal/slab"
	"pihc/lm"
)

// share makes this rank's experts those of its part, as Input.Ranks divides them.
func (s *Workspace) share(ranks compute.Ranks) {
	s.shared = nil
	if ranks != nil && ranks.Size() > 1 && len(s.experts) > 1 && !s.c.Options.Fixed {
		if s.c.System.Slab != nil {
			panic("constraint: Assemble: Input.Ranks, and a system that is divided among ranks itself")
		}
		s.sharing.Ranks = ranks
		s.shared = &s.sharing
	}
	clear(s.foreign)
	for _, b := range s.blocks {
		s.foreign[b.index] = s.shared != nil
	}
	for _, e := range s.own() {
		for _, b := range e.blocks {
			s.foreign[b.index] = false
		}
	}
}

// own is the experts that this rank solves.
func (s *Workspace) own() []*expert {
	lo, hi := s.shared.Part(len(s.experts))
	return s.experts[lo:hi]
}

// join gives every rank what each has found of its experts: the numbers that list calls its function with,
// the same list of lengths on all ranks.
func (s *Workspace) join(list func(e *expert, numbers func(v []float64))) {
	if s.shared == nil {
		return
	}
	ends := make([]int, len(s.experts)+1)
	for k, e := range s.experts {
		ends[k+1] = ends[k]
		list(e, func(v []float64) { ends[k+1] += len(v) })
	}
	all := make([]float64, ends[len(s.experts)])
	each := func(experts []*expert, do func(packed, v []float64)) {
		for _, e := range experts {
			at := ends[e.index]
			list(e, func(v []float64) { do(all[at:at+len(v)], v); at += len(v) })
		}
	}
	each(s.own(), func(packed, v []float64) { copy(packed, v) })
	slab.Join(s.shared, all, len(s.experts), func(k int) int { return ends[k] })
	each(s.experts, func(packed, v []float64) { copy(v, packed) })
}

// joinSolutions gives every rank ω_k and how each solve ended.
func (s *Workspace) joinSolutions() {
	results := make([][]float64, len(s.experts))
	for k, e := range s.experts {
		r := &e.result
		results[k] = []float64{
			float64(r.Status), float64(r.Iterations), float64(r.Accepted), float64(r.Evaluations), r.Cost, r.Gradient, r.SmallestPivot,
			float64(r.Rank), r.Distance, number(r.Corrected), number(r.Restarted),
		}
	}
	s.join(func(e *expert, numbers func(v []float64)) {
		numbers(e.omega)
		numbers(results[e.index])
	})
	for k, e := range s.experts {
		v := results[k]
		e.result = lm.Result{
			Status: lm.Status(v[0]), Iterations: int(v[1]), Accepted: int(v[2]), Evaluations: int(v[3]), Cost: v[4], Gradient: v[5], SmallestPivot: v[6],
			Rank: int(v[7]), Distance: v[8], Corrected: v[9] != 0, Restarted: v[10] != 0,
		}
	}
}

// joinAdjoints gives every rank λ_k, the adjoint rows of every block, and which matrix each adjoint used.
func (s *Workspace) joinAdjoints() {
	used := make([]float64, len(s.experts))
	for k, e := range s.experts {
		used[k] = float64(e.adjoint)
	}
	s.join(func(e *expert, numbers func(v []float64)) {
		numbers(e.lambda)
		numbers(used[e.index : e.index+1])
		for i := range e.blocks {
			for j := range e.s[i].Values {
				numbers(e.s[i].Values[j])
				numbers(e.q[i].Values[j])
			}
		}
	})
	for k, e := range s.experts {
		e.adjoint = lm.Hessian(used[k])
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// residualRMS is the root mean square of the residual rows of every expert at its solution, in the PDE file's weighting.
func (s *Workspace) residualRMS() []float64 {
	rms, w := make([]float64, len(s.experts)), s.workers[0]
	for _, e := range s.own() {
		rows := 0
		w.sums.clear()
		for _, b := range e.residuals() {
			s.pass(&w.sums, w, b, wanted{}, e.omega, 0, len(b.Points))
			rows += b.count
		}
		cost := []float64{w.sums.cost}
		s.sum(cost)
		if rows > 0 {
			rms[e.index] = math.Sqrt(2 * cost[0] / float64(rows))
		}
	}
	s.join(func(e *expert, numbers func(v []float64)) { numbers(rms[e.index : e.index+1]) })
	return rms
}
