package experiment

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pihc/internal/words"
	"pihc/pde"
	"pihc/report"
)

var greek = map[string]string{
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ",
	"mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
}

var identifier = regexp.MustCompile(`[\pL_][\pL\pN_]*`)

// letter writes a name of a PDE file as mathematics does: rho_s is ρ_s.
func letter(name string) string {
	head, tail, cut := strings.Cut(name, "_")
	if g, ok := greek[head]; ok {
		head = g
	}
	if cut {
		return head + "_" + strings.ReplaceAll(tail, "_", ",")
	}
	return head
}

// termSymbol writes a term: w_xx, Δw, v_x.
func termSymbol(p *pde.Problem, t pde.Term) string {
	u := letter(p.Unknowns[t.Of].Name)
	if s := t.Spectral; s != nil {
		switch s.Kind {
		case "laplacian":
			return "Δ" + u
		case "velocity":
			return "v_" + s.Axis
		}
		return u + "_" + strings.Repeat(s.Axis, max(s.Derivative, 1))
	}
	index := ""
	for _, f := range t.Factors {
		n := f.Scheme.Derivative
		if f.Edge != nil {
			if n = f.Edge.Derivative; n == 0 {
				return letter(t.Name) // a value at an end, by the file's name for it
			}
		}
		index += strings.Repeat(f.Axis, n)
	}
	if index == "" {
		return u
	}
	return u + "_" + index
}

// equations writes a problem in symbols, and its constants.
func equations(p *pde.Problem) (lines []string, constants []report.Fact) {
	symbols := map[string]string{}
	for _, u := range p.Unknowns {
		symbols[u.InitialName()] = letter(u.Name) + "₀"
	}
	for _, t := range p.Terms {
		symbols[t.Name] = termSymbol(p, t)
	}
	write := func(text string) string {
		return identifier.ReplaceAllStringFunc(text, func(name string) string {
			if s, ok := symbols[name]; ok {
				return s
			}
			return letter(name)
		})
	}
	for _, r := range p.Residuals {
		lines = append(lines, write(r.Text)+" = 0")
	}
	for _, e := range p.Expressions {
		lines = append(lines, letter(e.Name)+" = "+write(e.Text))
	}
	for _, c := range p.Conditions {
		var at []string
		for _, axis := range slices.Sorted(maps.Keys(c.At)) {
			for _, a := range p.Axes {
				if a.Name == axis {
					at = append(at, fmt.Sprintf("%s = %g", axis, map[string]float64{"low": a.Lo, "high": a.Hi}[c.At[axis]]))
				}
			}
		}
		where := ""
		if len(at) > 0 {
			where = " at " + strings.Join(at, ", ")
		}
		lines = append(lines, write(c.Text)+" = 0"+where)
	}
	for _, u := range p.Unknowns {
		if v, ok := u.Ansatz.Offset.Constant(); !ok || v != 0 {
			smooth := ""
			for _, axis := range slices.Sorted(maps.Keys(u.Ansatz.Smooth)) {
				how := "smoothed"
				if !p.Steady && axis == p.Axes[0].Name {
					how = "integrated"
				}
				smooth += fmt.Sprintf(", %s along %s over %g", how, letter(axis), u.Ansatz.Smooth[axis])
			}
			if u.Ansatz.Duhamel {
				lines = append(lines, fmt.Sprintf("%s = (linear part from %s) + (linear part driven by a combination of basis functions)", letter(u.Name), write(words.Clip(u.Ansatz.Offset.String(), 1000))))
				continue
			}
			lines = append(lines, fmt.Sprintf("%s = %s + %s*(combination of basis functions)%s", letter(u.Name), write(words.Clip(u.Ansatz.Offset.String(), 1000)), write(words.Clip(u.Ansatz.Multiplier.String(), 1000)), smooth))
		}
	}
	var domain []string
	for _, a := range p.Axes {
		text := fmt.Sprintf("%s ∈ [%g, %g]", letter(a.Name), a.Lo, a.Hi)
		if a.Unit != "" {
			text += " " + a.Unit
		}
		domain = append(domain, text)
	}
	lines = append(lines, strings.Join(domain, ", "))
	for _, c := range p.Constants {
		constants = append(constants, report.Fact{Name: letter(c.Name), Value: strconv.FormatFloat(c.Value, 'g', 5, 64)})
	}
	return lines, constants
}
