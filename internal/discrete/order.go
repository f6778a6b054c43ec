package discrete

import "slices"

// cuthillMcKee returns the position of every node in the reverse Cuthill-McKee
// order of a graph, which keeps neighbours near each other.
func cuthillMcKee(neighbours [][]int32) []int {
	n := len(neighbours)
	position, seen := make([]int, n), make([]bool, n)
	order := make([]int32, 0, n)
	degree := func(a, b int32) int { return len(neighbours[a]) - len(neighbours[b]) }
	// levels returns the nodes reached from start, nearest first.
	levels := func(start int32, visited []bool) []int32 {
		queue := []int32{start}
		visited[start] = true
		for at := 0; at < len(queue); at++ {
			first := len(queue)
			for _, q := range neighbours[queue[at]] {
				if !visited[q] {
					visited[q] = true
					queue = append(queue, q)
				}
			}
			slices.SortStableFunc(queue[first:], degree)
		}
		return queue
	}
	for start := range n {
		if seen[start] {
			continue
		}
		// A node far from any other is a better start.
		far := levels(int32(start), slices.Clone(seen))
		order = append(order, levels(far[len(far)-1], seen)...)
	}
	for i, p := range order {
		position[p] = n - 1 - i
	}
	return position
}
