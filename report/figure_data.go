package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"maps"
	"math"
	"slices"
	"strconv"

	"pihc/data"
	"pihc/internal/words"
	"pihc/score"
)

// A dataFile has the numbers of one or several figures.
type dataFile struct {
	name    string
	content []byte
}

// dataFiles are the numbers of all figures: tables as CSV, fields as NPZ.
func (p *Page) dataFiles() ([]dataFile, error) {
	var out []dataFile
	type table struct {
		name string
		rows [][]string
	}
	tables := []table{
		{"samples.csv", p.sampleRows()}, {"curves.csv", p.curveRows()}, {"error_over_time.csv", p.overTimeRows()}, {"spectrum.csv", p.spectrumRows()}, {"solver.csv", p.solverRows()}, {costFile, p.Cost.rows()},
	}
	for _, c := range p.Charts {
		tables = append(tables, table{c.Name + ".csv", c.rows()})
	}
	for _, t := range tables {
		if len(t.rows) > 1 {
			content, err := encodeCSV(t.rows)
			if err != nil {
				return nil, err
			}
			out = append(out, dataFile{t.name, content})
		}
	}
	for i, c := range p.Cases {
		var b bytes.Buffer
		if err := data.EncodeNPZ(&b, p.caseArrays(c)); err != nil {
			return nil, err
		}
		out = append(out, dataFile{caseName(i) + ".npz", b.Bytes()})
	}
	return out, nil
}

func encodeCSV(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err := w.WriteAll(rows)
	return b.Bytes(), err
}

// exact writes all digits, and nothing for a number that is absent.
func exact(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// exactAt does so for entry k of a list that may end before.
func exactAt(list []float64, k int) string {
	if k >= len(list) {
		return ""
	}
	return exact(list[k])
}

// key is the short name of a method in files.
func (m *Method) key() string { return cmp.Or(m.Key, fileName(m.Label)) }

// sampleRows has a row for every sample of methods and baselines, on every grid.
func (p *Page) sampleRows() [][]string {
	var like score.Sample
	names, _ := like.Fields()
	parts := p.sampleParts()
	rows := [][]string{slices.Concat([]string{"method", "grid", "sample"}, names, parts)}
	for _, m := range slices.Concat(p.Methods, p.Baselines) {
		for _, x := range m.Evaluation.OnGrids() {
			for _, s := range x.PerSample {
				row := []string{m.key(), words.Shape(x.Grid), strconv.Itoa(s.Index)}
				_, values := s.Fields()
				for _, v := range values {
					row = append(row, exact(*v))
				}
				of := partValues(s)
				for _, name := range parts {
					v, ok := of[name]
					if !ok {
						v = math.NaN()
					}
					row = append(row, exact(v))
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// partValues are the metrics of a sample by unknown and residual, by their names in tables.
func partValues(s score.Sample) map[string]float64 {
	out := map[string]float64{}
	for name, v := range s.Unknowns {
		out["relative_l2_"+name] = v
	}
	for name, v := range s.Residuals {
		out["residual_rms_"+name] = v
	}
	return out
}

// sampleParts are the names of those that samples of the methods have.
func (p *Page) sampleParts() []string {
	all := map[string]float64{}
	for i := range p.Methods {
		for _, s := range p.Methods[i].Evaluation.PerSample {
			maps.Copy(all, partValues(s))
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func (p *Page) curveRows() [][]string {
	rows := [][]string{{"quantity", "unit", "method", "step", "value"}}
	for _, m := range p.Methods {
		for _, s := range m.Curves {
			for i, step := range s.Steps {
				rows = append(rows, []string{s.Name, s.Unit, m.key(), exact(step), exact(s.Values[i])})
			}
		}
	}
	return rows
}

func (p *Page) spectrumRows() [][]string {
	rows := [][]string{{"method", "grid", "quantity", "time", "k", "truth", "prediction"}}
	for _, m := range p.Methods {
		for _, e := range m.Evaluation.OnGrids() {
			if e.Spectra == nil {
				continue
			}
			for _, at := range e.Spectra.At {
				for k := range max(len(at.Truth), len(at.Prediction)) {
					rows = append(rows, []string{m.key(), words.Shape(e.Grid), e.Spectra.Quantity, exact(at.Time), strconv.Itoa(k), exactAt(at.Truth, k), exactAt(at.Prediction, k)})
				}
			}
		}
	}
	return rows
}

func (p *Page) solverRows() [][]string {
	rows := [][]string{{"method", "expert", "iterations_mean", "iterations_std", "iterations_max", "constraint_rms_mean", "constraint_rms_std", "constraint_rms_max"}}
	for _, m := range p.Methods {
		for k, x := range m.Evaluation.Experts {
			row := []string{m.key(), strconv.Itoa(k)}
			for _, s := range []score.Summary{x.Iterations, x.ConstraintRMS} {
				row = append(row, exact(s.Mean), exact(s.Std), exact(s.Max))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// caseArrays are the coordinates, the inputs, the classical solution and the predictions of a case.
func (p *Page) caseArrays(c Case) []data.Named {
	var out []data.Named
	var shape []int
	for _, a := range p.Axes {
		out = append(out, data.Named{Name: a.Name, Array: data.NewArray([]int{len(a.Values)}, a.Values)})
		shape = append(shape, len(a.Values))
	}
	add := func(name string, u []float64) {
		if u != nil {
			out = append(out, data.Named{Name: name, Array: data.NewArray(shape, u)})
		}
	}
	for _, in := range c.Inputs {
		add("input_"+fileName(in.Name), in.Values)
	}
	add("reference", c.Truth)
	for i, u := range c.Predictions {
		add("prediction_"+p.Methods[i].key(), u)
	}
	return out
}
