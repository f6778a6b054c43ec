package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// about is the metadata of a wheel, but for version and description.
const about = `Metadata-Version: 2.1
Name: pihc
Version: %s
Summary: Neural operators under physics-informed hard constraints: networks trained on a PDE alone, with experts by domain decomposition
License: BSD-3-Clause
Keywords: pde,physics-informed,neural operator,hard constraints,scientific machine learning
Classifier: Environment :: Console
Classifier: Intended Audience :: Science/Research
Classifier: License :: OSI Approved :: BSD License
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering
Classifier: Typing :: Typed
Requires-Python: >=3.9
Requires-Dist: numpy>=1.22
Provides-Extra: xarray
Requires-Dist: xarray; extra == "xarray"
Description-Content-Type: text/markdown

%s`

// wheel packs the program and python/pihc for a platform, as PEP 427 has it: the program goes into the environment's folder of scripts.
func (r *release) wheel(p platform, program []byte) (string, []byte, error) {
	sources, err := filepath.Glob("python/pihc/*.py")
	if err != nil || len(sources) == 0 {
		return "", nil, fmt.Errorf("python/pihc has no sources: %v", err)
	}
	var files []file
	for _, path := range append(sources, "python/pihc/py.typed") {
		content, err := os.ReadFile(path)
		if err != nil {
			return "", nil, err
		}
		files = append(files, file{name: "pihc/" + filepath.Base(path), content: content})
	}
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return "", nil, err
	}
	text, err := os.ReadFile("docs/guide/python.md")
	if err != nil {
		return "", nil, err
	}
	info := "pihc-" + r.version + ".dist-info/"
	files = append(files, file{"pihc-" + r.version + ".data/scripts/" + p.program(), program, true})
	licences, err := notices()
	if err != nil {
		return "", nil, err
	}
	for _, l := range append(licences, file{name: "licences/LICENSE", content: licence}) {
		l.name = info + l.name
		files = append(files, l)
	}
	files = sorted(files)
	var tags strings.Builder
	for tag := range strings.SplitSeq(p.wheel, ".") {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", tag)
	}
	files = append(files,
		file{name: info + "METADATA", content: fmt.Appendf(nil, about, r.version, text)},
		file{name: info + "WHEEL", content: []byte("Wheel-Version: 1.0\nGenerator: pihc\nRoot-Is-Purelib: false\n" + tags.String())})
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.content)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	content, err := r.zip(append(files, file{name: info + "RECORD", content: []byte(record.String())}))
	return "pihc-" + r.version + "-py3-none-" + p.wheel + ".whl", content, err
}
