package grid

import (
	"slices"

	"pihc/compute"
	"pihc/internal/kernel"
)

// Rows are rows of some operators of a Gatherer: row r of Values[j] (len(Points), n)
// belongs to Points[r] and to operator Operators[j]. Points ascend, but may repeat. A
// nil Values[j] is left out.
type Rows[T compute.Float] struct {
	Points    []int32
	Operators []int
	Values    [][]T
}

// Cut gives the rows other points, at most as many as were allocated, with values of n fields.
func (r *Rows[T]) Cut(points []int32, n int) {
	r.Points = points
	for j, v := range r.Values {
		if v != nil {
			r.Values[j] = v[:len(points)*n]
		}
	}
}

// within returns the range of ascending points that lies in [first, end).
func within(points []int32, first, end int) (lo, hi int) {
	lo, _ = slices.BinarySearch(points, int32(first))
	hi, _ = slices.BinarySearch(points[lo:], int32(end))
	return lo, lo + hi
}

// A Gatherer forms rows of several operators on one grid together, slice by slice
// along the first axis: stencils then read from a cache, and the Fourier transform of a
// slice serves all operators and lists of rows. It serves one caller at a time.
type Gatherer struct {
	ops    []gathered
	fields int       // that the operators act on
	space  *Spectral // of the spectral operators; nil without any
	dense  []*dense  // per field: the spectral operators for float32 bases, made when they are needed

	slices, width int // of the grid along its first axis; points of one
	begin         int // slices before the first that has rows
	pool          *compute.Pool
	spread        [][]float64 // per worker (P): values on the grid, zero between uses
}

// gathered is an operator of a Gatherer.
type gathered struct {
	stencil  *stencil    // nil where spectral
	spectral *multiplier // nil where a stencil
	field    int         // that it acts on
	to       int         // the operator that its rows are added to, or -1
	factor   float64     // of these rows
}

// NewGatherer prepares the operators, which must belong to g, and the spectral ones
// among them to one Spectral. A nil pool runs everything on the caller.
func (g *Grid) NewGatherer(ops []Operator, pool *compute.Pool) *Gatherer {
	r := &Gatherer{
		ops: make([]gathered, len(ops)), fields: 1,
		slices: g.Axes[0].Points, width: g.Size() / g.Axes[0].Points, pool: pool, spread: make([][]float64, pool.Workers()),
	}
	for i, op := range ops {
		r.ops[i].to = -1
		switch op := op.(type) {
		case *stencil:
			r.ops[i].stencil = op
		case *multiplier:
			if r.space != nil && r.space != op.space {
				panic("grid: NewGatherer: spectral operators of different Spectrals")
			}
			r.ops[i].spectral, r.space = op, op.space
		default:
			panic("grid: NewGatherer: want operators made by this package")
		}
	}
	return r
}

// Fields makes operator o act on field of[o] of several. Gather then takes (fields, P, n) and
// Scatter (fields, P).
func (g *Gatherer) Fields(of []int) {
	if len(of) != len(g.ops) || slices.Min(of) < 0 {
		panic("grid: Gatherer.Fields: want a field for every operator")
	}
	for i, field := range of {
		g.ops[i].field = field
	}
	g.fields, g.dense = 1+slices.Max(of), nil
}

// Begin declares that slices before the given one have no rows: blocks of slices start there.
func (g *Gatherer) Begin(slice int) { g.begin = slice }

// blocks is the number of blocks of so many slices.
func (g *Gatherer) blocks(size int) int { return (g.slices - g.begin + size - 1) / size }

// block returns the slices of block i of so many.
func (g *Gatherer) block(i, size int) (first, count int) {
	first = g.begin + i*size
	return first, min(size, g.slices-first)
}

// size is the number of points of one field.
func (g *Gatherer) size() int { return g.slices * g.width }

// Add makes Gather add the rows of a spectral operator, times factor, to the rows of an
// operator with a stencil, in all lists that have both.
func (g *Gatherer) Add(operator, to int, factor float64) {
	if g.ops[operator].spectral == nil || g.ops[to].stencil == nil {
		panic("grid: Gatherer.Add: want a spectral operator and one with a stencil")
	}
	g.ops[operator].to, g.ops[operator].factor = to, factor
}

// Single reports whether rows of float32 bases should be kept in float32: there are spectral
// operators, and slices have at most two axes.
func (g *Gatherer) Single() bool { return g.space != nil && len(g.space.shape) <= 2 }

// denseReach is the largest sum of the points of both axes of a slice for which dense matrices
// are used. With 24 functions and all rows they take 0.7 times as long as Fourier transforms on
// 32 x 32 points, 1.2 on 64 x 64, 1.6 on 96 x 96, 2.2 on 128 x 128 (Zen 4, whose 512-bit vectors
// work in two halves; with whole ones they gain up to twice as much).
const denseReach = 160

// denseTables reports whether float32 bases of n fields are multiplied by dense matrices in the place of
// Fourier transforms.
func (g *Gatherer) denseTables(n int) bool {
	if n < 2 || !g.Single() {
		return false
	}
	points := 0
	for _, n := range g.space.shape {
		points += n
	}
	return points <= denseReach
}

// values returns the rows of a list that operator o writes or, by Add, adds to.
func values[T compute.Float](g *Gatherer, r *Rows[T], o int) []T {
	if to := g.ops[o].to; to >= 0 {
		if !slices.Contains(r.Operators, o) {
			return nil
		}
		o = to
	}
	if j := slices.Index(r.Operators, o); j >= 0 {
		return r.Values[j]
	}
	return nil
}

// Gather sets the rows of all lists, of a basis (P, n), point-major; of several fields,
// (fields, P, n). Rows of float32 bases are summed in float64 and rounded once, except rows
// of dense tables, which have the rounding errors of float32. A row depends neither on the
// other rows nor on the number of workers.
func Gather[T compute.Float](g *Gatherer, basis []T, n int, rows []Rows[T]) {
	if n < 1 || len(basis) != g.fields*g.size()*n {
		panic("grid: Gather: want basis (fields, P, n)")
	}
	for i := range rows {
		for _, v := range rows[i].Values {
			if v != nil && len(v) != len(rows[i].Points)*n {
				panic("grid: Gather: want Values (len(Points), n)")
			}
		}
	}
	block := blockOf(n)
	narrow, _ := any(basis).([]float32)
	narrowRows, _ := any(rows).([]Rows[float32])
	dense := narrow != nil && g.denseTables(n)
	if dense && g.dense == nil {
		for field := range g.fields {
			g.dense = append(g.dense, g.newDense(field))
		}
	}
	g.pool.Run(g.blocks(block), func(_, i int) {
		first, count := g.block(i, block)
		if g.space != nil {
			for field := range g.fields {
				values := basis[field*g.size()*n:]
				g.touch(func(lo, hi int) { kernel.SumSquares(values[lo*n : hi*n]) }, first, count)
			}
		}
		for i := range rows {
			r := &rows[i]
			lo, hi := within(r.Points, first*g.width, (first+count)*g.width)
			for j, o := range r.Operators {
				if s := g.ops[o].stencil; s != nil && r.Values[j] != nil && lo < hi {
					at := g.ops[o].field * g.size() * n
					gatherStencil(s, r.Values[j][lo*n:hi*n], basis[at:at+g.size()*n], n, r.Points[lo:hi])
				}
			}
		}
		for field := range g.fields {
			at := field * g.size() * n
			switch {
			case g.space == nil:
			case dense:
				g.dense[field].gather(first, narrow[at+first*g.width*n:at+(first+1)*g.width*n], n, narrowRows)
			default:
				gatherSpectral(g, field, first, count, basis[at:at+g.size()*n], n, rows)
			}
		}
	})
}

// ahead is how many slices further on stencils in time look, as a rule.
const ahead = 2

// touch reads, in the order of memory, the slices that stencils are about to reach:
// rows are wanted here and there, and fetched one by one they come at a fraction of
// the speed.
func (g *Gatherer) touch(read func(lo, hi int), slice, count int) {
	first, last := slice+ahead, min(slice+count-1+ahead, g.slices-1)
	if slice == g.begin {
		first = 0
	}
	if first <= last {
		read(first*g.width, (last+1)*g.width)
	}
}

// gatherSpectral forms the rows of the spectral operators on one field of a block of
// slices, which is transformed once, and back once for every operator that is wanted.
func gatherSpectral[T compute.Float](g *Gatherer, field, first, count int, basis []T, n int, rows []Rows[T]) {
	s := g.space
	lanes := blockOf(n) * n
	w := s.workspaces.take(lanes, s.newWorkspace)
	transformed := false
	for o, op := range g.ops {
		if op.spectral == nil || op.field != field {
			continue
		}
		multiplied := false
		for i := range rows {
			r := &rows[i]
			lo, hi := within(r.Points, first*s.width, (first+count)*s.width)
			dst := values(g, r, o)
			if dst == nil || lo == hi {
				continue
			}
			if !transformed {
				load(s, w, first, count, basis, n)
				w.transform.Forward(w.re, w.im, w.values)
				transformed = true
			}
			if !multiplied {
				op.spectral.multiply(w, lanes, false, false)
				w.transform.Inverse(w.values, w.timesRe, w.timesIm)
				multiplied = true
			}
			block := blockOf(n)
			for l := 0; l < count; l++ { // points ascend
				slice, next := (first+l)*s.width, lo
				for next < hi && int(r.Points[next]) < slice+s.width {
					next++
				}
				addRows(dst[lo*n:next*n], w.values[l*n:], n, block*n, r.Points[lo:next], slice, op)
				lo = next
			}
		}
	}
	s.workspaces.give(lanes, w)
}

// addRows sets the rows (points, n) of an operator, or adds them where it has a factor, from values of which those of a point of the slice
// that begins with the point first are n from point times stride on.
func addRows[T compute.Float](dst []T, values []float64, n, stride int, points []int32, first int, op gathered) {
	switch {
	case n == 1 && op.to < 0:
		for i, p := range points {
			dst[i] = T(values[(int(p)-first)*stride])
		}
	default:
		var sum [128]float64
		for i, next := 0, 0; i < len(points); i = next {
			for next = i + 1; next < len(points) && stride == n && points[next] == points[next-1]+1; next++ {
			}
			v, to := values[(int(points[i])-first)*stride:][:(next-i)*n], dst[i*n:next*n]
			if op.to < 0 {
				fromFloat64(to, v)
				continue
			}
			for lo := 0; lo < len(to); lo += len(sum) {
				hi := min(lo+len(sum), len(to))
				part := sum[:hi-lo]
				toFloat64(part, to[lo:hi])
				for l, x := range v[lo:hi] {
					part[l] += op.factor * x
				}
				fromFloat64(to[lo:hi], part)
			}
		}
	}
}

// toFloat64 sets dst to x.
func toFloat64[T compute.Float](dst []float64, x []T) {
	switch x := any(x).(type) {
	case []float32:
		kernel.Widen(dst, x)
	case []float64:
		copy(dst, x)
	}
}

// fromFloat64 sets dst to x, rounded.
func fromFloat64[T compute.Float](dst []T, x []float64) {
	switch dst := any(dst).(type) {
	case []float32:
		kernel.Narrow(dst, x)
	case []float64:
		copy(dst, x)
	}
}

// Scatter adds to every one of fields, (P) or (fields, P), the transpose of Gather for n = 1:
// Σ Tᵀ Sᵀ v over the operators T of its lists, with v their Values and S the selection of
// points. Fields may be of some slices alone, all as many, from first on: P are then their points, and
// values are those they have there on the whole grid. Add has no effect on it.
func (g *Gatherer) Scatter(fields [][]float64, rows [][]Rows[float64], first int) {
	if len(fields) == 0 {
		return
	}
	size := len(fields[0]) / g.fields
	for w := range g.spread {
		if g.spread[w] == nil {
			g.spread[w] = make([]float64, g.slices*g.width)
		}
	}
	g.pool.Run(len(fields), func(worker, i int) {
		for k := range rows[i] {
			g.scatterStencils(worker, fields[i], &rows[i][k], first*g.width)
		}
	})
	if g.space == nil {
		return
	}
	end := first + size/g.width
	blocks := (end - first + blockSlices - 1) / blockSlices
	g.pool.Run(len(fields)*blocks, func(_, i int) {
		from := first + i%blocks*blockSlices
		count := min(blockSlices, end-from)
		for of := range g.fields {
			at := of*size + (from-first)*g.width
			g.scatterSpectral(from, count, of, fields[i/blocks][at:][:count*g.width], rows[i/blocks])
		}
	})
}

// scatterStencils does one list of rows, of fields from the point first on.
func (g *Gatherer) scatterStencils(worker int, fields []float64, r *Rows[float64], first int) {
	// The transposed operator on the whole grid runs on vectors: about as much work
	// as one row in sixteen points alone.
	size, dense := len(fields)/g.fields, 16*len(r.Points) >= g.size()
	for j, o := range r.Operators {
		s, field := g.ops[o].stencil, fields[g.ops[o].field*size:][:size]
		if s == nil || r.Values[j] == nil {
			continue
		}
		lo, hi := within(r.Points, first-s.most, first+size-s.least) // those that may reach there
		points, values := r.Points[lo:hi], r.Values[j][lo:hi]
		if !dense {
			s.scatter(field, first, values, points)
			continue
		}
		spread := g.spread[worker]
		for l, p := range points {
			spread[p] += values[l]
		}
		s.applyTranspose(field, first, spread)
		for _, p := range points {
			spread[p] = 0
		}
	}
}

// scatterSpectral does the spectral operators on one field of some slices: each is
// transformed once, and the sum of all back once.
func (g *Gatherer) scatterSpectral(first, count, of int, field []float64, rows []Rows[float64]) {
	s := g.space
	w := s.workspaces.take(blockSlices, s.newWorkspace)
	found := false
	for o, op := range g.ops {
		if op.spectral == nil || op.field != of {
			continue
		}
		wanted := false
		for i := range rows {
			r := &rows[i]
			j := slices.Index(r.Operators, o)
			lo, hi := within(r.Points, first*s.width, (first+count)*s.width)
			if j < 0 || r.Values[j] == nil || lo == hi {
				continue
			}
			if !wanted {
				clear(w.values)
				wanted = true
			}
			for at := lo; at < hi; at++ {
				p := int(r.Points[at])
				w.values[p%s.width*blockSlices+p/s.width-first] += r.Values[j][at]
			}
		}
		if wanted {
			w.transform.Forward(w.re, w.im, w.values)
			op.spectral.multiply(w, blockSlices, true, found)
			found = true
		}
	}
	if found {
		w.transform.Inverse(w.values, w.timesRe, w.timesIm)
		s.add(field, w, 0, count)
	}
	s.workspaces.give(blockSlices, w)
}
