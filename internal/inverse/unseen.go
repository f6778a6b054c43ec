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

// findUnseen names the null directions of the information.
func (f *fitter) findUnseen(x *information) (all []Unseen) {
	n := x.n
	for k := range n {
		if x.seen(k) {
			continue
		}
		direction, largest := make([]float64, n), 0.0
		for j := range n {
			direction[j] = x.vectors[j*n+k]
			if x.scale[j] > 0 {
				direction[j] /= x.scale[j]
			}
			largest = max(largest, math.Abs(direction[j]))
		}
		var support []int
		var names, parts []string
		for j := range n {
			part := math.Abs(x.vectors[j*n+k])
			if direction[j] /= largest; part < 1e-4 {
				continue
			}
			name := f.Parameters[j].Name
			support, names = append(support, j), append(names, name)
			if f.Parameters[j].Log {
				name = "log " + name
			}
			parts = append(parts, fmt.Sprintf("%+.3g %s", direction[j], name))
		}
		u := Unseen{Parameters: names}
		switch {
		case len(support) == 1:
			u.Text = names[0] + " changes nothing that was observed"
		case len(support) != 2 || !f.nameSeen(&u, x, support, direction):
			u.Text = fmt.Sprintf("%s: nothing that was observed changes along %s", strings.Join(names, ", "), strings.Join(parts, " "))
		}
		all = append(all, u)
	}
	return all
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
// moving along far enough that either parameter alone changes the predictions much more.
func (f *fitter) nameSeen(u *Unseen, x *information, support []int, direction []float64) bool {
	a, b := support[0], support[1]
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
