// Package sparse solves systems of linear equations by sparse matrices whose unknowns belong to the points of a grid.
package sparse

import "slices"

// A Tree is an order in which the points of a grid are eliminated: parts of the grid before the points that separate them (nested
// dissection; A. George, SIAM J. Numer. Anal. 10, 1973).
type Tree struct {
	nodes []node  // children before their parents
	owner []int32 // per point: the node it is eliminated in
}

type node struct {
	points   []int32 // eliminated here
	boundary []int32 // eliminated later, of those that these and their descendants have in a row
	children []int32
}

// leaf is the most unknowns of a part that is not divided.
const leaf = 32

// Dissect divides the points of a grid of that shape, in row-major order, of each of which so many unknowns are there. near lists the points that
// have one in a row of the matrix with each, both ways.
func Dissect(near [][]int32, shape []int, unknowns int) *Tree {
	t := &Tree{owner: make([]int32, len(near))}
	all := make([]int32, len(near))
	for p := range all {
		all[p] = int32(p)
	}
	d := dissection{Tree: t, near: near, side: make([]int8, len(near)), least: max(1, leaf/unknowns)}
	stride := 1
	for i := len(shape) - 1; i >= 0; i-- {
		d.axes = append(d.axes, [2]int32{int32(stride), int32(shape[i])})
		stride *= shape[i]
	}
	d.divide(all)
	d.boundaries()
	return t
}

type dissection struct {
	*Tree
	near  [][]int32
	axes  [][2]int32 // stride and number of points
	side  []int8     // of each point of the part that is divided: 1 or 2; else 0
	least int        // points of a part that is not divided
}

// divide makes the nodes of a part, and returns the last.
func (d *dissection) divide(part []int32) int32 {
	var children []int32
	own := part
	if len(part) > d.least {
		if low, high, between := d.cut(part); len(low) > 0 && len(high) > 0 {
			children, own = []int32{d.divide(low), d.divide(high)}, between
		}
	}
	k := int32(len(d.nodes))
	for _, p := range own {
		d.owner[p] = k
	}
	d.nodes = append(d.nodes, node{points: own, children: children})
	return k
}

// cut divides a part in two of about as many points by the fewest that separate them, of cuts across each axis.
func (d *dissection) cut(part []int32) (low, high, between []int32) {
	var best []int32
	var axis [2]int32
	var middle int32
	coordinates := make([]int32, len(part))
	for _, a := range d.axes {
		for i, p := range part {
			coordinates[i] = p / a[0] % a[1]
		}
		slices.Sort(coordinates)
		m := coordinates[len(part)/2]
		if m == coordinates[0] {
			continue
		}
		if s := d.separator(part, a, m); best == nil || len(s) < len(best) {
			best, axis, middle = s, a, m
		}
	}
	if best == nil {
		return nil, nil, nil
	}
	for _, p := range best {
		d.side[p] = 3
	}
	for _, p := range part {
		switch {
		case d.side[p] == 3:
			d.side[p] = 0
		case p/axis[0]%axis[1] < middle:
			low = append(low, p)
		default:
			high = append(high, p)
		}
	}
	return low, high, best
}

// separator is the points of a part on one side of a cut that have neighbours on the other: of the side where they are fewer.
func (d *dissection) separator(part []int32, axis [2]int32, middle int32) []int32 {
	for _, p := range part {
		d.side[p] = 1
		if p/axis[0]%axis[1] >= middle {
			d.side[p] = 2
		}
	}
	var at [3][]int32
	for _, p := range part {
		own := d.side[p]
		if slices.ContainsFunc(d.near[p], func(q int32) bool { return d.side[q] == 3-own }) {
			at[own] = append(at[own], p)
		}
	}
	for _, p := range part {
		d.side[p] = 0
	}
	if len(at[1]) < len(at[2]) {
		return append([]int32{}, at[1]...)
	}
	return append([]int32{}, at[2]...)
}

// boundaries sets those of all nodes.
func (d *dissection) boundaries() {
	last := make([]int32, len(d.owner)) // node that has it, plus 1
	for k := range d.nodes {
		n := &d.nodes[k]
		add := func(q int32) {
			if d.owner[q] > int32(k) && last[q] != int32(k)+1 {
				last[q] = int32(k) + 1
				n.boundary = append(n.boundary, q)
			}
		}
		for _, c := range n.children {
			for _, q := range d.nodes[c].boundary {
				add(q)
			}
		}
		for _, p := range n.points {
			for _, q := range d.near[p] {
				add(q)
			}
		}
		slices.Sort(n.boundary)
	}
}

// Work is about the number of products of a factorisation with so many unknowns at each point, and that of the numbers it keeps.
func (t *Tree) Work(unknowns int) (products, numbers float64) {
	for _, n := range t.nodes {
		own, rest := float64(len(n.points)*unknowns), float64(len(n.boundary)*unknowns)
		products += own*own*own/3 + own*own*rest + own*rest*rest
		numbers += own * (own + 2*rest)
	}
	return products, numbers
}
