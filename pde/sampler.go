package pde

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"pihc/grid"
	"pihc/internal/config"
)

// Sampler is the distribution of an input. A draw z of it gives Offset + Scale·f(z), with f
// named by Positive or given by Levels.
type Sampler struct {
	Distribution string // "uniform-constant", "random-sines", "random-field", "random-series", "mixture" or, of numbers, "uniform" or "log-uniform"
	Low, High    float64
	Field        string             // random-field: its covariance, by the name sim.NewField knows
	Series       string             // random-series: its functions along axes with walls, as sim.NewSeries knows them
	Parameters   map[string]float64 // of either
	Mixture      []Sampler          // mixture: drawn from in proportion to Weight
	Weight       float64
	Positive     string    // "" for z itself, "exp", "square" or "softplus"
	Levels       []float64 // two values, for z < 0 and others; none: z itself
	Offset       float64
	Scale        float64 // 0 counts as 1
}

// Transform replaces draws by values of the input.
func (s Sampler) Transform(z []float64) {
	scale := s.Scale
	if scale == 0 {
		scale = 1
	}
	if s.Positive == "" && len(s.Levels) == 0 && scale == 1 && s.Offset == 0 {
		return
	}
	for i, v := range z {
		if len(s.Levels) > 0 {
			level := s.Levels[0]
			if v >= 0 {
				level = s.Levels[1]
			}
			v = level
		}
		switch s.Positive {
		case "exp":
			v = math.Exp(v)
		case "square":
			v *= v
		case "softplus":
			v = max(v, 0) + math.Log1p(math.Exp(-math.Abs(v)))
		}
		z[i] = s.Offset + scale*v
	}
}

// Slope is the derivative of Transform at a draw z.
func (s Sampler) Slope(z float64) float64 {
	slope := cmp.Or(s.Scale, 1)
	switch {
	case len(s.Levels) > 0:
		return 0
	case s.Positive == "exp":
		slope *= math.Exp(z)
	case s.Positive == "square":
		slope *= 2 * z
	case s.Positive == "softplus":
		slope /= 1 + math.Exp(-z)
	}
	return slope
}

// Constant returns the constant initial condition at a fraction of the range, if
// the distribution is one of constants.
func (s Sampler) Constant(fraction float64) (float64, bool) {
	v := []float64{s.Low + fraction*(s.High-s.Low)}
	s.Transform(v)
	return v[0], s.Distribution == "uniform-constant"
}

// String describes the distribution in one line.
func (s Sampler) String() string {
	var b strings.Builder
	switch s.Distribution {
	case "random-field":
		b.WriteString("random field, " + s.Field)
	case "random-series":
		b.WriteString("random series, " + s.Series)
	case "mixture":
		b.WriteString("mixture of ")
		for i, part := range s.Mixture {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%g (%s)", part.Weight, part)
		}
	default:
		fmt.Fprintf(&b, "%s from %g to %g", s.Distribution, s.Low, s.High)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		fmt.Fprintf(&b, ", %s %g", name, s.Parameters[name])
	}
	if s.Positive != "" {
		b.WriteString(", its " + s.Positive)
	}
	if len(s.Levels) > 0 {
		fmt.Fprintf(&b, ", %g below 0 and %g above", s.Levels[0], s.Levels[1])
	}
	if s.Scale != 0 && s.Scale != 1 {
		fmt.Fprintf(&b, ", times %g", s.Scale)
	}
	if s.Offset != 0 {
		fmt.Fprintf(&b, ", plus %g", s.Offset)
	}
	return b.String()
}

// fileSampler is `initial` in a PDE file, one of `inputs`, and each part of a mixture.
type fileSampler struct {
	Distribution string                    `yaml:"distribution"`
	Low          config.Scalar             `yaml:"low"`
	High         config.Scalar             `yaml:"high"`
	Field        string                    `yaml:"field"`
	Series       string                    `yaml:"series"`
	Parameters   config.Map[config.Scalar] `yaml:"parameters"`
	Of           []fileSampler             `yaml:"of"`
	Weight       config.Scalar             `yaml:"weight"`
	Positive     string                    `yaml:"positive"`
	Offset       config.Scalar             `yaml:"offset"`
	Scale        config.Scalar             `yaml:"scale"`
	Levels       []config.Scalar           `yaml:"levels"`
	// Of inputs alone.
	Axes          []string        `yaml:"axes"`
	Interpolation string          `yaml:"interpolation"`
	Pos           config.Position `yaml:"-"`
}

// samplerParameters are the parameters of all distributions.
var samplerParameters = []string{"alpha", "decay", "lambda", "modes", "points", "tau"}

// UnmarshalConfig sends parameters of a distribution to where they belong.
func (f *fileSampler) UnmarshalConfig(n config.Node) error {
	type plain fileSampler
	for _, key := range samplerParameters {
		if at, ok := n.Lookup(key); ok {
			what := strings.Split(n.Path(), ".of.")[0]
			return at.Errorf("%s: %s is a parameter of a distribution", what, key).WithHint("it belongs in %s.parameters: parameters: {%s: ...}", what, key)
		}
	}
	return n.Decode((*plain)(f))
}

// samplerKeys are the keys that belong to some distributions only.
var samplerKeys = map[string][]string{
	"uniform":          {"low", "high"},
	"log-uniform":      {"low", "high"},
	"uniform-constant": {"low", "high"},
	"random-sines":     {"low", "high"},
	"random-field":     {"field", "parameters"},
	"random-series":    {"series", "parameters"},
	"mixture":          {"of"},
}

// sampler reads the distribution of an input along axes of space. Parameters are explained
// and checked by sim.
func (l *loader) sampler(space []DomainAxis, f fileSampler, what string) Sampler {
	s := Sampler{Distribution: f.Distribution, Field: f.Field, Series: f.Series, Positive: f.Positive, Scale: 1, Weight: 1}
	bad := l.reporter(f.Pos, what)
	own, known := samplerKeys[f.Distribution]
	if !known {
		if f.Distribution != "" || what != "initial" { // without that one, no dataset can be generated
			bad("distribution %q: want %s", f.Distribution, strings.Join(slices.Sorted(maps.Keys(samplerKeys)), ", "))
		}
		return s
	}
	present := map[string]bool{
		"low": f.Low.Text != "", "high": f.High.Text != "", "field": f.Field != "", "series": f.Series != "",
		"parameters": f.Parameters.Len() > 0, "of": len(f.Of) > 0,
	}
	for _, key := range slices.Sorted(maps.Keys(present)) {
		if present[key] && !slices.Contains(own, key) {
			bad("a %s has no %s", f.Distribution, key)
		}
	}
	for name, v := range f.Parameters.All() {
		if s.Parameters == nil {
			s.Parameters = map[string]float64{}
		}
		s.Parameters[name] = l.number(v, name)
	}
	for _, n := range []struct {
		from config.Scalar
		to   *float64
		name string
	}{{f.Low, &s.Low, "low"}, {f.High, &s.High, "high"}, {f.Offset, &s.Offset, "offset"}, {f.Scale, &s.Scale, "scale"}, {f.Weight, &s.Weight, "weight"}} {
		if n.from.Text != "" {
			*n.to = l.number(n.from, n.name)
		}
	}
	l.transform(&s, f, what)
	switch f.Distribution {
	case "uniform-constant", "random-sines", "uniform", "log-uniform":
		if !present["low"] || !present["high"] {
			bad("%s wants low and high", f.Distribution)
		} else if s.High < s.Low {
			l.report(f.High.Pos.Errorf("%s: high %g is below low %g", what, s.High, s.Low))
		} else if f.Distribution == "log-uniform" && s.Low <= 0 {
			l.report(f.Low.Pos.Errorf("%s: low %g: a log-uniform number is positive", what, s.Low))
		}
	case "random-field", "random-series":
		l.randomField(space, f, what)
	case "mixture":
		if len(f.Of) < 2 {
			bad("a mixture wants of, a list of two distributions or more")
		}
		for _, part := range f.Of {
			if part.Distribution == "mixture" || part.Distribution == "" {
				l.report(part.Pos.Errorf("%s: a part of a mixture wants a distribution that is no mixture", what))
				continue
			}
			s.Mixture = append(s.Mixture, l.sampler(space, part, what))
			if s.Mixture[0].Number() != s.Mixture[len(s.Mixture)-1].Number() {
				l.report(part.Pos.Errorf("%s: a mixture draws numbers or fields, not both", what))
			}
		}
	}
	return s
}

// transform reads what is done to draws, and checks their weight.
func (l *loader) transform(s *Sampler, f fileSampler, what string) {
	bad := l.reporter(f.Pos, what)
	if s.Scale == 0 {
		l.report(f.Scale.Pos.Errorf("%s: scale 0 leaves nothing of the draw", what))
	}
	if s.Weight <= 0 {
		l.report(f.Weight.Pos.Errorf("%s: weight %g: want a positive number", what, s.Weight))
	}
	if !slices.Contains([]string{"", "exp", "square", "softplus"}, s.Positive) {
		bad("positive %q: want exp, square or softplus", s.Positive)
	}
	for _, v := range f.Levels {
		s.Levels = append(s.Levels, l.number(v, "levels"))
	}
	switch {
	case len(s.Levels) == 0:
	case len(s.Levels) != 2:
		bad("levels wants two values, of a draw below 0 and of others")
		s.Levels = nil
	case s.Positive != "":
		bad("levels and positive exclude each other")
	}
}

// randomField checks that a random field or series suits axes of space.
func (l *loader) randomField(space []DomainAxis, f fileSampler, what string) {
	bad := l.reporter(f.Pos, what)
	walls := slices.IndexFunc(space, func(a DomainAxis) bool { return a.Boundary != grid.Periodic })
	if f.Distribution == "random-field" {
		if f.Field == "" {
			bad("a random-field wants field, the name of its covariance").WithHint("periodic-kernel or power-law")
		}
		if walls >= 0 {
			bad("a random-field needs periodic axes of space; axis %s is %v", space[walls].Name, space[walls].Boundary).
				WithHint("a random-series draws fields between walls")
		}
		return
	}
	switch {
	case len(space) > 2:
		bad("a random-series is along one axis or two, not %d", len(space)).WithHint("axes: [...] names those that the input extends along")
	case !slices.Contains([]string{"periodic", "free", "cosine", "sine"}, f.Series):
		bad("series %q: want periodic, free, cosine or sine", f.Series)
	case walls < 0 && len(space) > 0 && f.Series != "periodic":
		bad("series %s is for axes with walls, and all axes of space are periodic", f.Series).WithHint("series: periodic")
	}
}
