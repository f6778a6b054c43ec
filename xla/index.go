package xla

import (
	"fmt"
	"slices"
	"strings"
)

// rows is x[index], x (P, ...) and index (...) of integers: their axes, then those of
// x after the first.
func (b *builder) rows(x, index value) value {
	if x.samples > 0 && index.samples > 0 { // of one array of all samples
		flat, places := b.overSamples(x, index)
		return b.rows(flat, places).apart()
	}
	before, rank := x.before(), index.whole().rank()
	var window, sizes []int
	if before > 0 {
		window, sizes = []int{0}, []int{x.samples}
	}
	sizes = append(sizes, 1)
	for i, n := range x.shape[1:] {
		window, sizes = append(window, before+rank+i), append(sizes, n)
	}
	return b.call(append(slices.Clone(index.shape), x.shape[1:]...), x.dtype, fmt.Sprintf(`"stablehlo.gather"(%%s, %%s) <{dimension_numbers = #stablehlo.gather<offset_dims = %s, collapsed_slice_dims = [%d], start_index_map = [%d], index_vector_dim = %d>, indices_are_sorted = false, slice_sizes = array<i64: %s>}>`,
		list(window), before, before, rank, strings.Trim(list(sizes), "[]")), x, index)
}

// overSamples is x (P, ...) of all samples one after another, (samples P, ...), and the places of index in that: those
// outside of x are outside of all.
func (b *builder) overSamples(x, index value) (flat, places value) {
	n, all := x.shape[0], x.samples*x.shape[0]
	index = index.whole()
	first := b.spread(b.times(b.iota(i32, x.samples), float64(n)), index.shape, 0)
	places = b.where(b.than("LT", index, float64(n)), b.add(index, first), b.full(float64(all), i32, index.shape...))
	return b.reshape(x.whole(), append([]int{all}, x.shape[1:]...)...), places
}

// put sets x[index[i]] (P, ...) to u[i], or adds u[i] to it; the indices (m) differ from
// each other, and those outside of x are left out.
func (b *builder) put(x, index, u value, add bool) value {
	if b.align(&x, &index, &u); x.samples > 0 {
		flat, places := b.overSamples(x, index)
		u = u.whole()
		return b.reshape(b.put(flat, b.reshape(places, places.size()), u, add), x.whole().shape...).apart()
	}
	var window []int
	for i := range x.rank() - 1 {
		window = append(window, 1+i)
	}
	u = b.reshape(u, append([]int{index.size()}, x.shape[1:]...)...)
	a, c := b.fresh(), b.fresh()
	element := tensor(nil, x.dtype)
	body := fmt.Sprintf("stablehlo.return %s : %s", c, element)
	if add {
		sum := b.fresh()
		body = fmt.Sprintf("%s = stablehlo.add %s, %s : %s\nstablehlo.return %s : %s", sum, a, c, element, sum, element)
	}
	return b.emit(x, `"stablehlo.scatter"(%s, %s, %s) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = %s, inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
^bb0(%s: %s, %s: %s):
%s
}) : (%s, %s, %s) -> %s`,
		x.name, index.name, u.name, list(window), a, element, c, element, body, x.mlir(), index.mlir(), u.mlir(), x.mlir())
}
