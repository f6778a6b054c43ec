package inverse

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

func sortBy(list []int, key func(int) float64) {
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(key(a), key(b)) })
}

// Unseen is a combination that the data do not see: along it the parameters may change and the predictions stay.
type Unseen struct {
	Parameters []string
	Text       string  // which combination the data do see, or along which they do not
	Seen       string  // that combination, "" where none is found
	Value      float64 // of Seen
	Low, High  float64 // its 95 % interval by Gauss and Newton
}

// leastPart is what a number of a direction counts from, of the largest in scaled coordinates.
const leastPart = 1e-4

// findUnseen names the null directions of the information. Numbers that no direction joins are spoken of by themselves, and of two that
// share one direction with no other number what the data see is said.
func (f *fitter) findUnseen(x *information) (all []Unseen) {
	for _, directions := range f.nullDirections(x) {
		for _, d := range directions {
			var names, parts []string
			for _, j := range f.byName() {
				if d[j] == 0 {
					continue
				}
				name := f.Parameters[j].Name
				if names = append(names, name); f.Parameters[j].Log {
					name = "log " + name
				}
				parts = append(parts, fmt.Sprintf("%+.3g %s", d[j], name))
			}
			u := Unseen{Parameters: names}
			switch {
			case len(names) == 1:
				u.Text = names[0] + " changes nothing that was observed"
			case len(names) != 2 || len(directions) > 1 || !f.nameSeen(&u, x, d):
				u.Text = fmt.Sprintf("%s: nothing that was observed changes along %s", strings.Join(names, ", "), strings.Join(parts, " "))
			}
			all = append(all, u)
		}
	}
	return all
}

// byName lists the parameters in an order that is not that of the command line.
func (f *fitter) byName() (order []int) {
	for j := range f.Parameters {
		order = append(order, j)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f.Parameters[a].Name, f.Parameters[b].Name) })
	return order
}

// nullDirections is a basis of the unseen directions, in groups that share no number. It is reduced, as the rows of a matrix are, so that it
// does not depend on which basis the eigenvectors are: each direction has a number, the first by name that it can be, with the part 1 and
// in no other.
func (f *fitter) nullDirections(x *information) (groups [][][]float64) {
	n := x.n
	var rows [][]float64
	for k := range n {
		if x.seen(k) {
			continue
		}
		row := make([]float64, n)
		for j := range n {
			row[j] = x.vectors[j*n+k]
		}
		rows = append(rows, row)
	}
	order := f.byName()
	for done := range rows {
		left, largest := rows[done:], 0.0
		size := func(j int) (s float64) {
			for _, row := range left {
				s = max(s, math.Abs(row[j]))
			}
			return s
		}
		for j := range n {
			largest = max(largest, size(j))
		}
		pivot := order[slices.IndexFunc(order, func(j int) bool { return size(j) >= 0.1*largest })]
		for i, row := range left {
			if math.Abs(row[pivot]) == size(pivot) {
				left[0], left[i] = row, left[0]
				break
			}
		}
		own := left[0]
		copy(own, scaled(own, 1/own[pivot]))
		for _, row := range rows {
			if by := row[pivot]; &row[0] != &own[0] {
				for j := range row {
					row[j] -= by * own[j]
				}
			}
		}
	}
	for _, row := range rows {
		largest, first := 0.0, 0.0
		for _, v := range row {
			largest = max(largest, math.Abs(v))
		}
		for _, j := range order {
			switch {
			case math.Abs(row[j]) < leastPart*largest:
				row[j] = 0
			case x.scale[j] > 0:
				row[j] /= x.scale[j]
			}
			if first == 0 {
				first = row[j]
			}
		}
		copy(row, scaled(row, 1/first))
		group := [][]float64{row}
		groups = slices.DeleteFunc(groups, func(other [][]float64) bool {
			if shared := slices.ContainsFunc(other, func(o []float64) bool { return overlap(o, row) }); !shared {
				return false
			}
			group = append(other, group...)
			return true
		})
		groups = append(groups, group)
	}
	return groups
}

// overlap reports whether two directions have a number in common.
func overlap(a, b []float64) bool {
	for j, v := range a {
		if v != 0 && b[j] != 0 {
			return true
		}
	}
	return false
}

// A form is a function of one number that combinations are products or sums of.
type form struct {
	holds    func(v float64) bool
	of, back func(v float64) float64
	slope    func(v float64) float64
	up, down string // text of the factor and of its reciprocal
}

var forms = []form{
	{
		func(v float64) bool { return v > 0 }, math.Log, math.Exp,
		func(v float64) float64 { return 1 / v }, "%s", "1/%s",
	},
	{
		func(v float64) bool { return v > 0 && v < 1 },
		func(v float64) float64 { return math.Log(v / (1 - v)) }, func(z float64) float64 { return 1 / (1 + math.Exp(-z)) },
		func(v float64) float64 { return 1 / (v * (1 - v)) }, "%[1]s/(1 - %[1]s)", "(1 - %[1]s)/%[1]s",
	},
}

// nameSeen finds the product of powers of v or v/(1 - v) of two parameters that is constant along a direction, and makes sure of it by
// moving along far enough that either parameter alone changes the predictions much more. The first by name has the power 1 where the other
// then has a whole one.
func (f *fitter) nameSeen(u *Unseen, x *information, direction []float64) bool {
	support := slices.DeleteFunc(f.byName(), func(j int) bool { return direction[j] == 0 })
	return f.namePair(u, x, support[0], support[1], direction) || f.namePair(u, x, support[1], support[0], direction)
}

// namePair is nameSeen with the power 1 of parameter a.
func (f *fitter) namePair(u *Unseen, x *information, a, b int, direction []float64) bool {
	theta := slices.Clone(f.at)
	pa, pb := &f.Parameters[a], &f.Parameters[b]
	va, vb := pa.Value(theta[a]), pb.Value(theta[b])
	rate := func(p *Parameter, v, d float64) float64 {
		if p.Log {
			return v * d
		}
		return d
	}
	f.move(theta)
	before := slices.Clone(f.residual[:len(f.Observations)])
	c := x.covariance()
	defer f.move(theta)
	for _, first := range forms {
		for _, second := range forms {
			if !first.holds(va) || !second.holds(vb) {
				continue
			}
			power := -first.slope(va) * rate(pa, va, direction[a]) / (second.slope(vb) * rate(pb, vb, direction[b]))
			whole := math.Round(power)
			if math.Abs(power-whole) > 1e-3 || whole == 0 || math.Abs(whole) > 3 {
				continue
			}
			const far = 0.3
			na := first.back(first.of(va) + far)
			nb := second.back(second.of(vb) - far/whole)
			both, alone := slices.Clone(theta), slices.Clone(theta)
			both[a], both[b], alone[a] = pa.Coordinate(na), pb.Coordinate(nb), pa.Coordinate(na)
			if !(f.change(before, both) < 1e-3*f.change(before, alone)) {
				continue
			}
			u.Seen = product(fmt.Sprintf(first.up, pa.Name), powerText(second, pb.Name, int(whole)))
			z := first.of(va) + whole*second.of(vb)
			ga, gb := first.slope(va)*rate(pa, va, 1), whole*second.slope(vb)*rate(pb, vb, 1)
			n := x.n
			deviation := math.Sqrt(ga*ga*c[a*n+a] + 2*ga*gb*c[a*n+b] + gb*gb*c[b*n+b])
			u.Value, u.Low, u.High = math.Exp(z), math.Exp(z-1.96*deviation), math.Exp(z+1.96*deviation)
			u.Text = fmt.Sprintf("%s and %s: the data see %s alone, %.4g (%.4g to %.4g)", pa.Name, pb.Name, u.Seen, u.Value, u.Low, u.High)
			return true
		}
	}
	return false
}

// change is the root of the sum of squares of what predictions change by from residuals before, in deviations.
func (f *fitter) change(before, theta []float64) float64 {
	f.move(theta)
	sum := 0.0
	for i, r := range before {
		sum += (f.residual[i] - r) * (f.residual[i] - r)
	}
	return math.Sqrt(sum)
}

func powerText(x form, name string, power int) string {
	text := fmt.Sprintf(x.up, name)
	if power < 0 {
		text, power = fmt.Sprintf(x.down, name), -power
	}
	switch {
	case power == 1:
		return text
	case text == name:
		return fmt.Sprintf("%s^%d", name, power)
	}
	return fmt.Sprintf("(%s)^%d", text, power)
}

func product(a, b string) string {
	if strings.HasPrefix(b, "1/") {
		return a + b[1:]
	}
	return a + "*" + b
}
