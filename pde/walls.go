package pde

import (
	"cmp"
	"maps"
	"slices"

	"pihc/grid"
)

// betweenTimes reports whether conditions hold at both ends of time, as where one unknown is given at first and another at last: all of it is solved at once then.
func (p *Problem) betweenTimes() bool {
	at := func(end string) bool {
		return slices.ContainsFunc(p.Conditions, func(c Rows) bool { return len(c.At) == 1 && c.At[p.Axes[0].Name] == end })
	}
	return !p.Steady && at("low") && at("high")
}

// firstWall is the first axis whose ends residuals leave to conditions: that of time is none, unless conditions hold at both its ends.
func (p *Problem) firstWall() int {
	if p.Steady || p.betweenTimes() {
		return 0
	}
	return 1
}

// leaveWalls leaves the points at ends of axes of space, and of time between conditions at both its ends, to the conditions that hold there: as many rows of a residual are left
// out at an end as conditions hold its unknown on the whole of it (gives), where the residual says nothing of that axis (`rows`). With
// both, rows outnumber values, and a march by least squares, which ends between the two, need not be stable.
//
// Nothing is left out of a problem whose rows are not more than its values (conditions that enter by ghost values are no rows),
// or would be fewer then, or where it is not clear which residual is which unknown's.
func (p *Problem) leaveWalls() {
	owner := p.owners()
	if owner == nil || p.surplus() <= 0 {
		return
	}
	before, first := make([]map[string][2]int, len(p.Residuals)), p.firstWall()
	for i := range p.Residuals {
		r := &p.Residuals[i]
		before[i] = r.Skip
		skip := maps.Clone(r.Skip)
		for a, axis := range p.Axes {
			if _, stated := r.Skip[axis.Name]; stated || axis.Boundary == grid.Periodic || a < first {
				continue
			}
			var both [2]int
			for end, name := range []string{"low", "high"} {
				held := p.held(axis.Name, name, owner)
				for u := range p.Unknowns {
					if p.gives(u, axis.Name, owner, held) == i {
						both[end] += held[u]
					}
				}
			}
			if both != [2]int{} {
				skip[axis.Name] = both
			}
		}
		r.Skip = skip
	}
	if p.surplus() < 0 {
		for i := range p.Residuals {
			p.Residuals[i].Skip = before[i]
		}
	}
}

// gives is the residual that gives way to conditions of an unknown at an end of an axis: its own, unless that has no derivative in space, as
// where it names a velocity (u_t - v): then that with its highest derivative along the axis, if none hold the unknown of that (held).
func (p *Problem) gives(unknown int, axis string, owner, held []int) int {
	own, best, most := slices.Index(owner, unknown), -1, 0
	for i, r := range p.Residuals {
		for _, t := range p.Terms {
			if !r.Expr.DependsOn(t.Name) {
				continue
			}
			if i == own && t.Spectral != nil {
				return own
			}
			for _, f := range t.Factors {
				if i == own && !p.isTime(p.Axis(f.Axis)) && f.Scheme.Derivative > 0 {
					return own
				}
				if t.Of == unknown && f.Axis == axis && f.Scheme.Derivative > most {
					best, most = i, f.Scheme.Derivative
				}
			}
		}
	}
	if best < 0 || held[owner[best]] > 0 {
		return own
	}
	return best
}

// leaveCorners leaves the points where two sides meet to the conditions of the earlier axis: with both, rows are more than values,
// and large systems of such are not solved. A condition leaves out as many points at an end of an earlier axis as conditions of its
// unknown hold there (two on a plate whose moments vanish), unless its own `rows` name that axis.
func (p *Problem) leaveCorners() {
	if p.surplus() <= 0 {
		return
	}
	owner := p.owners()
	held := map[string][2][]int{}
	for _, axis := range p.Axes[p.firstWall():] {
		if axis.Boundary == grid.Periodic {
			continue
		}
		held[axis.Name] = [2][]int{p.held(axis.Name, "low", owner), p.held(axis.Name, "high", owner)}
	}
	before := make([]map[string][2]int, len(p.Conditions))
	for i := range p.Conditions {
		c := &p.Conditions[i]
		before[i] = c.Skip
		if c.Kind != BoundaryRows || len(c.At) != 1 {
			continue
		}
		skip := map[string][2]int{}
		maps.Copy(skip, c.Skip)
		for _, axis := range p.Axes {
			if c.At[axis.Name] != "" {
				break // later axes give way to this one
			}
			ends, is := held[axis.Name]
			if _, stated := c.Skip[axis.Name]; stated || !is {
				continue
			}
			another := p.Holds(*c)
			moved := another >= 0 && !p.Concerns(*c, another)
			for u := range p.Unknowns {
				if both := [2]int{ends[0][u], ends[1][u]}; both != [2]int{} && (moved && u == another || !moved && p.Concerns(*c, u)) {
					skip[axis.Name] = both
				}
			}
		}
		c.Skip = skip
	}
	if p.surplus() < 0 {
		for i := range p.Conditions {
			p.Conditions[i].Skip = before[i]
		}
	}
}

// held is the number of conditions on the whole of an end of an axis by the unknown that they hold (holds).
func (p *Problem) held(axis, end string, owner []int) []int {
	held := make([]int, len(p.Unknowns))
	for _, u := range p.holds(axis, end, owner) {
		held[u]++
	}
	return held
}

// Holds is the unknown that a condition on the whole of an end of an axis holds: the one whose equation has no row there; -1 of other rows.
func (p *Problem) Holds(r Rows) int {
	for axis, end := range r.At {
		for i, u := range p.holds(axis, end, p.owners()) {
			if p.Conditions[i].Name == r.Name {
				return u
			}
		}
	}
	return -1
}

// holds is the unknown that each condition on the whole of an end of an axis holds, by its place in Conditions: the one it contains or, of several, the one held
// by the fewest there and, in time, of these at the other end. Of more conditions than half the order of an unknown's derivatives along the axis, if it has none in time, one with a
// derivative holds another unknown, that its equation contains and nothing else holds: a velocity at a wall holds the vorticity beside a stream function.
func (p *Problem) holds(axis, end string, owner []int) map[int]int {
	holds := map[int]int{}
	held, beyond := make([]int, len(p.Unknowns)), make([]int, len(p.Unknowns))
	var shared []int
	for i, c := range p.Conditions {
		if c.Kind == ResidualRows || len(c.At) != 1 || c.At[axis] == "" {
			continue
		}
		of := p.unknownsOf(c.Expr)
		switch {
		case len(of) == 1 && c.At[axis] == end:
			holds[i] = of[0]
			held[of[0]]++
		case len(of) == 1 && !p.Steady:
			beyond[of[0]]++
		case len(of) > 1 && c.At[axis] == end:
			shared = append(shared, i)
		}
	}
	for _, i := range shared {
		holds[i] = slices.MinFunc(p.unknownsOf(p.Conditions[i].Expr), func(a, b int) int { return cmp.Or(held[a]-held[b], beyond[a]-beyond[b]) })
		held[holds[i]]++
	}
	if owner == nil {
		return holds
	}
	for u := range held {
		if !p.Steady && p.timeOrder(u) > 0 {
			continue // its equation makes room for two: a clamped beam with its moment as an unknown
		}
		most := (p.Highest(u, p.Axis(axis)) + 1) / 2
		equation := p.Residuals[slices.Index(owner, u)]
		other := -1
		for v, n := range held {
			if n == 0 && other < 0 && p.Highest(v, p.Axis(axis)) > 0 && p.Concerns(equation, v) {
				other = v
			}
		}
		for i, c := range p.Conditions {
			if of, ok := holds[i]; ok && of == u && most > 0 && held[u] > most && other >= 0 && held[other] == 0 && p.HasDerivative(c) {
				holds[i] = other
				held[u], held[other] = held[u]-1, 1
			}
		}
	}
	return holds
}

// Concerns reports whether rows contain an unknown, by its place in Unknowns, or a term of it.
func (p *Problem) Concerns(r Rows, unknown int) bool {
	if r.Expr.DependsOn(p.Unknowns[unknown].Name) {
		return true
	}
	for _, t := range p.Terms {
		if t.Of == unknown && r.Expr.DependsOn(t.Name) {
			return true
		}
	}
	return false
}

// owners is the unknown that each residual is the equation of, such that no two residuals share one: one whose highest derivative in time
// among all residuals it has or, without any, one of the highest derivative in it. Where that is no choice or more than one, of those one with
// the highest derivative in space, along most axes, where mixed ones do not count (u_xx + u_yy + v_xy is that of u), or any that stands in a
// residual without a derivative in time (q + h*h_x beside h_t + q_x is that of q). It is nil where that does not decide it.
func (p *Problem) owners() []int {
	n := len(p.Unknowns)
	if len(p.Residuals) != n {
		return nil
	}
	type orders struct{ rate, slope, axes int } // highest in time, in space, and the axes along which it is that alone
	of := make([][]orders, n)                   // by residual and unknown
	highest := make([]int, n)                   // in time, of each unknown
	for i, r := range p.Residuals {
		of[i] = make([]orders, n)
		along := make([]map[string]int, n)
		for _, t := range p.Terms {
			if !r.Expr.DependsOn(t.Name) {
				continue
			}
			rate, slope := 0, 0
			for _, f := range t.Factors {
				if p.isTime(p.Axis(f.Axis)) {
					rate += f.Scheme.Derivative
				} else {
					slope += f.Scheme.Derivative
				}
			}
			o := &of[i][t.Of]
			o.rate, o.slope = max(o.rate, rate), max(o.slope, slope)
			highest[t.Of] = max(highest[t.Of], rate)
			if len(t.Factors) == 1 && slope > 0 {
				if along[t.Of] == nil {
					along[t.Of] = map[string]int{}
				}
				axis := t.Factors[0].Axis
				along[t.Of][axis] = max(along[t.Of][axis], slope)
			}
		}
		for u := range n {
			for _, order := range along[u] {
				if order == of[i][u].slope {
					of[i][u].axes++
				}
			}
		}
	}
	var may, most, left [][]int
	for i, r := range p.Residuals {
		// among are the unknowns of some that are first by an order.
		among := func(some []int, compare func(a, b orders) int) (first []int) {
			for _, u := range some {
				if !slices.ContainsFunc(some, func(v int) bool { return compare(of[i][v], of[i][u]) > 0 }) {
					first = append(first, u)
				}
			}
			return first
		}
		var all, rated, stand []int
		for u := range n {
			all = append(all, u)
			if of[i][u].rate > 0 && of[i][u].rate == highest[u] {
				rated = append(rated, u)
			}
			if p.Concerns(r, u) {
				stand = append(stand, u)
			}
		}
		bySlope := func(a, b orders) int { return cmp.Compare(a.slope, b.slope) }
		if rated == nil {
			may, left = append(may, among(all, bySlope)), append(left, stand)
		} else {
			may, left = append(may, rated), append(left, rated)
		}
		most = append(most, among(may[i], func(a, b orders) int { return cmp.Or(bySlope(a, b), cmp.Compare(a.axes, b.axes)) }))
	}
	for _, choice := range [][][]int{may, most, left} {
		var only []int
		if assignments(choice, make([]int, 0, n), &only) == 1 {
			return only
		}
	}
	return nil
}

// assignments counts the ways to choose one of each list, no two alike, after those taken, and sets last to one of them.
func assignments(may [][]int, taken []int, last *[]int) int {
	if len(taken) == len(may) {
		*last = slices.Clone(taken)
		return 1
	}
	count := 0
	for _, u := range may[len(taken)] {
		if !slices.Contains(taken, u) && count < 2 {
			count += assignments(may, append(taken, u), last)
		}
	}
	return count
}

// surplus is by how many the rows of one time, one that no condition in time is of, or of all axes (firstWall) outnumber its values.
func (p *Problem) surplus() int {
	axes := p.Axes[p.firstWall():]
	total := 0
	for _, r := range p.AllRows() {
		n := 1
		if len(axes) < len(p.Axes) && (r.Kind == InitialRows || r.At[p.Axes[0].Name] != "") {
			n = 0
		}
		for _, axis := range axes {
			if r.At[axis.Name] == "" {
				n *= max(0, axis.Points-r.Skip[axis.Name][0]-r.Skip[axis.Name][1])
			}
		}
		total += n
	}
	values := len(p.Unknowns)
	for _, axis := range axes {
		values *= axis.Points
	}
	return total - values
}
