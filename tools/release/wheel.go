package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// about is the metadata of a wheel (core metadata 2.4), but for version, files of licences, and description.
const about = `Metadata-Version: 2.4
Name: pihc
Version: %s
Summary: Neural operators under physics-informed hard constraints: networks trained on a PDE alone, with experts by domain decomposition
License-Expression: BSD-3-Clause
%sKeywords: pde,physics-informed,neural operator,hard constraints,scientific machine learning
Classifier: Development Status :: 3 - Alpha
Classifier: Environment :: Console
Classifier: Framework :: Jupyter
Classifier: Intended Audience :: Science/Research
Classifier: Operating System :: MacOS
Classifier: Operating System :: Microsoft :: Windows
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Go
Classifier: Programming Language :: Python :: 3
Classifier: Programming Language :: Python :: 3 :: Only
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Classifier: Topic :: Scientific/Engineering :: Mathematics
Classifier: Topic :: Scientific/Engineering :: Physics
Classifier: Typing :: Typed
Requires-Python: >=3.9
Requires-Dist: numpy>=1.22
Provides-Extra: xarray
Requires-Dist: xarray; extra == "xarray"
Description-Content-Type: text/markdown

%s`

// besideLink is a link of a document to a file beside it, which a wheel has not.
var besideLink = regexp.MustCompile(`\[([^\]]*)\]\([^):]*\)`)

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
	var licenceFiles strings.Builder
	for _, l := range licences { // among them pihc.txt, its own
		_, name, _ := strings.Cut(l.name, "/")
		fmt.Fprintf(&licenceFiles, "License-File: %s\n", name)
		files = append(files, file{name: info + "licenses/" + name, content: l.content})
	}
	files = sorted(files)
	var tags strings.Builder
	for tag := range strings.SplitSeq(p.wheel, ".") {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", tag)
	}
	files = append(files,
		file{name: info + "METADATA", content: fmt.Appendf(nil, about, r.version, &licenceFiles, besideLink.ReplaceAll(text, []byte("$1")))},
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
