package grid

import "pihc/internal/kernel"

// A sparseMatrix is a square one by its rows.
type sparseMatrix struct {
	rows   kernel.Stencils
	points []int32 // 0, 1, 2 and so on
}

// append adds a row of entries.
func (m *sparseMatrix) append(columns []int32, values []float64) {
	if len(m.points) == 0 {
		m.rows.Start = append(m.rows.Start, 0)
	}
	row := int32(len(m.points))
	for _, c := range columns {
		m.rows.Offset = append(m.rows.Offset, c-row)
	}
	m.rows.Coef = append(m.rows.Coef, values...)
	m.rows.Start = append(m.rows.Start, int32(len(m.rows.Coef)))
	m.rows.Which, m.points = append(m.rows.Which, uint16(row)), append(m.points, row)
}

// entries visits those of a row.
func (m *sparseMatrix) entries(row int, visit func(column int, value float64)) {
	for k := m.rows.Start[row]; k < m.rows.Start[row+1]; k++ {
		visit(row+int(m.rows.Offset[k]), m.rows.Coef[k])
	}
}

func (m *sparseMatrix) transposed() *sparseMatrix {
	columns, values := make([][]int32, len(m.points)), make([][]float64, len(m.points))
	for i := range m.points {
		m.entries(i, func(column int, value float64) {
			columns[column], values[column] = append(columns[column], int32(i)), append(values[column], value)
		})
	}
	out := &sparseMatrix{}
	for i := range m.points {
		out.append(columns[i], values[i])
	}
	return out
}

// multiply sets dst to the matrix times src, both (rows, Stepped).
func (m *sparseMatrix) multiply(dst, src []float64) {
	kernel.GatherStencils(dst, src, Stepped, m.points, &m.rows)
}
