package experiment

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
)

// lineariseAbout makes rows of a steady problem, where the ansatz that was added has their linear part, linear about the means of solutions in the place of zero,
// for unknowns that vary less about those: an equation may be far from linear between zero and there, as that of currents at a metal, exp(u/b), is.
func (d *draft) lineariseAbout(ctx context.Context, o *SizeOptions) error {
	const rows = "{duhamel: rows}"
	at := slices.IndexFunc(d.added, func(what string) bool {
		return strings.HasPrefix(what, "added ansatz: ") && strings.Contains(what, rows)
	})
	if !d.p.Steady || at < 0 || d.p.AllLinear() {
		return nil
	}
	spec, err := scaledSpec(d.p, nil)
	if err != nil {
		return err
	}
	_, centers, err := sizesOfSolutions(ctx, d.p, spec, o)
	if err != nil {
		return err
	}
	src, said := d.src, d.added[at]
	for c, center := range centers {
		if center == 0 {
			continue
		}
		after := fmt.Sprintf("{offset: %.3g, duhamel: rows}", center)
		of := []string{"ansatz: "}
		if name := d.p.Unknowns[c].Name; len(d.p.Unknowns) > 1 {
			of = []string{"{" + name + ": ", ", " + name + ": "}
		}
		for _, name := range of {
			src, said = bytes.Replace(src, []byte(name+rows), []byte(name+after), 1), strings.Replace(said, name+rows, name+after, 1)
		}
	}
	if bytes.Equal(src, d.src) {
		return ctx.Err()
	}
	if p := loadSound(d.file, src); p != nil {
		d.src, d.p, d.added[at] = src, p, said+"; rows are linear about the means of solutions"
	}
	return ctx.Err()
}
