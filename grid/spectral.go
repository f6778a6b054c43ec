package grid

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"pihc/compute"
	"pihc/internal/fft"
	"pihc/internal/kernel"
)

// Spectral makes operators that act on the slices of a field along its first
// axis (time), each by one Fourier transform over all other axes, one
// multiplication of every mode and one inverse transform. On a slice that is a
// trigonometric polynomial the grid resolves, they are exact up to rounding.
//
// With k the angular wave numbers and N an axis's points, the mode N/2 of an even
// N counts as zero in derivatives of odd order, so that real fields stay real
// and the operators antisymmetric; derivatives of even order keep it.
//
// Operators of one Spectral share its workspaces. They may be used by many
// goroutines at once: each takes a workspace from a free list for the time of a
// call.
type Spectral struct {
	axes  []Axis
	shape []int // of a slice
	width int   // points of a slice
	size  int   // points of the grid

	workspaces freeList[workspace]
}

// freeList keeps workspaces between calls, by the number of fields.
type freeList[W any] struct {
	mu   sync.Mutex
	free map[int][]*W
}

// take returns one for n fields, a new one where all are in use.
func (l *freeList[W]) take(n int, create func(n int) *W) *W {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.free[n]
	if len(list) == 0 {
		return create(n)
	}
	l.free[n] = list[:len(list)-1]
	return list[len(list)-1]
}

// give returns one to the list.
func (l *freeList[W]) give(n int, w *W) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.free == nil {
		l.free = map[int][]*W{}
	}
	l.free[n] = append(l.free[n], w)
}

// workspace is the memory to transform one slice of a number of fields.
type workspace struct {
	transform        *fft.Real
	re, im           []float64 // a spectrum
	timesRe, timesIm []float64 // one multiplied by a symbol
	values           []float64 // (slice, fields)
}

// NewSpectral prepares spectral operators on g, which must have two axes or more.
func (g *Grid) NewSpectral() *Spectral {
	if len(g.Axes) < 2 {
		panic("grid: NewSpectral: want an axis of slices and one of space at least")
	}
	s := &Spectral{axes: slices.Clone(g.Axes), shape: g.Shape()[1:], size: g.Size()}
	s.width = s.size / g.Axes[0].Points
	return s
}

// newWorkspace makes one for n fields.
func (s *Spectral) newWorkspace(n int) *workspace {
	t := fft.NewReal(s.shape, n)
	return &workspace{
		transform: t, re: make([]float64, t.Modes()), im: make([]float64, t.Modes()),
		timesRe: make([]float64, t.Modes()), timesIm: make([]float64, t.Modes()),
		values: make([]float64, t.Size()),
	}
}

// periodic returns an error unless axis is a periodic axis of a slice.
func (s *Spectral) periodic(axis int, what string) error {
	switch {
	case axis < 0 || axis >= len(s.axes):
		panic("grid: Spectral: no such axis")
	case axis == 0:
		return fmt.Errorf("a spectral %s acts on slices along %s and has none of that axis", what, s.axes[0].Name)
	case s.axes[axis].Boundary != Periodic:
		return fmt.Errorf("axis %s has boundary %v; a spectral %s needs it periodic", s.axes[axis].Name, s.axes[axis].Boundary, what)
	}
	return nil
}

func (s *Spectral) allPeriodic(what string) error {
	for a := range s.axes[1:] {
		if err := s.periodic(1+a, what); err != nil {
			return err
		}
	}
	return nil
}

// Derivative returns the derivative of the given order, 1 to MaxDerivative, along an axis
// other than the first, which must be periodic.
func (s *Spectral) Derivative(axis, order int) (Operator, error) {
	if order < 1 || order > MaxDerivative {
		return nil, fmt.Errorf("spectral derivative of order %d: want 1 to %d", order, MaxDerivative)
	}
	if err := s.periodic(axis, "derivative"); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("spectral %s derivative along %s", ordinals[order], s.axes[axis].Name)
	return s.operator(name, order%2 == 1, func(k []mode) float64 {
		x := k[axis-1].even
		if order%2 == 1 {
			x = k[axis-1].odd
		}
		v := float64(1 - order/2%2*2) // (ik)^order, without the i of odd orders
		for range order {
			v *= x
		}
		return v
	}), nil
}

// Laplacian returns the sum of the second derivatives along all axes but the
// first, which must be periodic.
func (s *Spectral) Laplacian() (Operator, error) {
	if err := s.allPeriodic("laplacian"); err != nil {
		return nil, err
	}
	return s.operator("spectral laplacian along "+s.names(), false, func(k []mode) float64 { return -square(k) }), nil
}

// Velocity returns the component along an axis (1 or 2) of the velocity whose
// vorticity the field is, on a grid with two periodic axes after the first:
//
//	-Δψ = w,   velocity = (∂ψ/∂axis 2, -∂ψ/∂axis 1).
//
// Modes with |k| = 0, the mean, give no velocity.
func (s *Spectral) Velocity(axis int) (Operator, error) {
	if len(s.shape) != 2 {
		return nil, fmt.Errorf("a velocity needs two axes of space, not %d", len(s.shape))
	}
	if err := s.allPeriodic("velocity"); err != nil {
		return nil, err
	}
	if axis != 1 && axis != 2 {
		return nil, fmt.Errorf("a velocity has no component along %s", s.axes[axis].Name)
	}
	name := fmt.Sprintf("spectral velocity along %s of the vorticity", s.axes[axis].Name)
	return s.operator(name, true, func(k []mode) float64 {
		kk := square(k)
		switch {
		case kk == 0:
			return 0
		case axis == 1:
			return k[1].odd / kk
		default:
			return -k[0].odd / kk
		}
	}), nil
}

func (s *Spectral) names() string {
	var names []string
	for _, a := range s.axes[1:] {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}

// mode is the angular wave number of one axis as derivatives of odd and of even
// order see it: they differ where the points are even and the mode is half.
type mode struct{ odd, even float64 }

func square(k []mode) float64 {
	sum := 0.0
	for _, m := range k {
		sum += m.even * m.even
	}
	return sum
}

// operator tabulates a symbol over the half spectrum of a slice.
func (s *Spectral) operator(name string, odd bool, symbol func(k []mode) float64) Operator {
	last := len(s.shape) - 1
	count := s.width / s.shape[last] * (s.shape[last]/2 + 1)
	o := &multiplier{space: s, name: name, odd: odd, symbol: make([]float64, count), minus: make([]float64, count)}
	k := make([]mode, len(s.shape))
	for i := range o.symbol {
		rest := i
		for a := last; a >= 0; a-- {
			n := s.shape[a]
			stored := n
			if a == last {
				stored = n/2 + 1
			}
			f := fft.Frequency(rest%stored, n)
			rest /= stored
			axis := s.axes[1+a]
			k[a].even = 2 * math.Pi / (axis.Hi - axis.Lo) * float64(f)
			k[a].odd = k[a].even
			if 2*f == n {
				k[a].odd = 0
			}
		}
		o.symbol[i] = symbol(k) / float64(s.width)
		o.minus[i] = -o.symbol[i]
	}
	return o
}

// multiplier is an Operator that multiplies every mode of a slice by a number,
// times i if odd.
type multiplier struct {
	space  *Spectral
	name   string
	odd    bool
	symbol []float64 // (half spectrum), with the 1/width of the two transforms
	minus  []float64 // -symbol
}

func (o *multiplier) String() string { return o.name }

func (o *multiplier) Affine() bool { return false }

func (o *multiplier) Defined(int) bool { return true }

func (o *multiplier) AddOffset([]float64, []int32) {}

// multiply sets the product of the spectrum of lanes with the symbol, times i if odd,
// transposed where asked, or adds it to the one in the workspace.
func (o *multiplier) multiply(w *workspace, lanes int, transpose, add bool) {
	scale := kernel.ScaleRows
	if add {
		scale = kernel.AddScaledRows
	}
	plus, minus := o.symbol, o.minus
	if !o.odd {
		scale(w.timesRe, lanes, plus, w.re)
		scale(w.timesIm, lanes, plus, w.im)
		return
	}
	if transpose {
		plus, minus = minus, plus
	}
	scale(w.timesRe, lanes, minus, w.im)
	scale(w.timesIm, lanes, plus, w.re)
}

// blockSlices is the number of slices of one field that are transformed together:
// they fill the lanes of a vector.
const blockSlices = kernel.LaneCount

// blockOf is the number of slices of n fields that are transformed together.
func blockOf(n int) int {
	if n == 1 {
		return blockSlices
	}
	return 1
}

// load puts count slices of n fields into a workspace: lane l of a block of b slices
// is field l%n of slice l/n, and a block of one field that is not full has zeros.
func load[T compute.Float](s *Spectral, w *workspace, first, count int, basis []T, n int) {
	if blockOf(n) == 1 {
		toFloat64(w.values, basis[first*s.width*n:][:s.width*n])
		return
	}
	if count < blockSlices {
		clear(w.values)
	}
	for l := range count {
		slice := basis[(first+l)*s.width:][:s.width]
		dst := w.values[l : l+(s.width-1)*blockSlices+1]
		for p, v := range slice {
			dst[p*blockSlices] = float64(v)
		}
	}
}

// add adds the slices of one field in a workspace to the field.
func (s *Spectral) add(field []float64, w *workspace, first, count int) {
	for l := range count {
		src := w.values[l : l+(s.width-1)*blockSlices+1]
		for p, dst := 0, field[(first+l)*s.width:][:s.width]; p < len(dst); p++ {
			dst[p] += src[p*blockSlices]
		}
	}
}

// addApplied adds the operator, or its transpose, of a field to another.
func (o *multiplier) addApplied(dst, src []float64, transpose bool) {
	s := o.space
	w := s.workspaces.take(blockSlices, s.newWorkspace)
	for first := 0; first < s.axes[0].Points; first += blockSlices {
		count := min(blockSlices, s.axes[0].Points-first)
		load(s, w, first, count, src, 1)
		w.transform.Forward(w.re, w.im, w.values)
		o.multiply(w, blockSlices, transpose, false)
		w.transform.Inverse(w.values, w.timesRe, w.timesIm)
		s.add(dst, w, first, count)
	}
	s.workspaces.give(blockSlices, w)
}

func (o *multiplier) Apply(dst, u []float64) {
	if len(dst) != o.space.size || len(u) != o.space.size {
		panic("grid: Apply: fields must have one value per point")
	}
	clear(dst)
	o.addApplied(dst, u, false)
}

func (o *multiplier) ApplyTranspose(dst, z []float64) {
	if len(dst) != o.space.size || len(z) != o.space.size {
		panic("grid: ApplyTranspose: fields must have one value per point")
	}
	o.addApplied(dst, z, true)
}
