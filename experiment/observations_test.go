package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pihc/internal/inverse"
)

// Tables come with the ends of lines and marks of other systems.
func TestReadColumns(t *testing.T) {
	for text, fault := range map[string]string{
		"t,value\n1,2\n3,4\n":                       "",
		"t,value\r\n1,2\r\n3,4\r\n":                 "",
		"t,value\r1,2\r3,4\r":                       "",
		"\ufefft, value\n1, 2\n# a comment\n3, 4\n": "",
		"\xff\xfet\x00\n\x00":                       "is UTF-16",
		"t;value\n1;2\n":                            "is one column",
		"t,t\n1,2\n":                                `column "t" is there twice`,
		"t,value\n1,x\n":                            `line 2: value: "x" is no number`,
	} {
		path := filepath.Join(t.TempDir(), "o.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := readColumns(path)
		switch {
		case fault != "":
			if err == nil || !strings.Contains(err.Error(), fault) {
				t.Errorf("%q: %v, want %q", text, err, fault)
			}
		case err != nil:
			t.Errorf("%q: %v", text, err)
		case len(c.numbers["t"]) != 2 || c.numbers["t"][1] != 3 || c.numbers["value"][1] != 4:
			t.Errorf("%q: %v", text, c.numbers)
		}
	}
}

// An observation that is there twice is told of.
func TestDoubled(t *testing.T) {
	o := func(at, value float64) inverse.Observation {
		return inverse.Observation{At: []float64{at, 0.5}, Value: value, Sigma: 0.1}
	}
	for want, all := range map[string][]inverse.Observation{
		"": {o(0, 1), o(1, 1), o(0, 2)},
		"observation 2 is observation 0 again, and counts as one of its own":                                                   {o(0, 1), o(1, 1), o(0, 1)},
		"2 observations are there before, such as observation 1, which is observation 0 again, and count as ones of their own": {o(0, 1), o(0, 1), o(0, 1)},
	} {
		if got := doubled(all); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
