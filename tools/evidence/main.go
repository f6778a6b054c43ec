// Command evidence writes the tables of the documents that follow from stored runs: between
// a line <!-- table: NAME --> and the next <!-- end --> everything is made again. Its test
// fails where a table is not what the runs say.
//
//	go run ./tools/evidence
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pihc/internal/disk"
)

// documents are the files that may have tables.
func documents(root string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(root, "docs", "*", "*.md"))
	return append(names, filepath.Join(root, "README.md")), err
}

func main() {
	names, err := documents(".")
	if err != nil {
		fmt.Fprintf(os.Stderr, "evidence: %v\n", err)
		os.Exit(1)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err == nil && !bytes.Contains(text, []byte(opening)) {
			continue
		}
		if err == nil {
			text, err = fill(".", text)
		}
		if err == nil {
			err = disk.WriteFile(name, text)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "evidence: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

// opening is before the name of a table.
const opening = "<!-- table: "

// fill returns text with every table made again from the runs in root/docs/runs.
func fill(root string, text []byte) ([]byte, error) {
	var out bytes.Buffer
	rest := string(text)
	for {
		before, after, found := strings.Cut(rest, opening)
		out.WriteString(before)
		if !found {
			return out.Bytes(), nil
		}
		name, after, ok := strings.Cut(after, " -->\n")
		_, end, ended := strings.Cut(after, "<!-- end -->")
		if !ok || !ended {
			return nil, fmt.Errorf("table %.40q is not closed by <!-- end -->", name)
		}
		table, err := makeTable(filepath.Join(root, "docs", "runs"), name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, opening+"%s -->\n%s<!-- end -->", name, table)
		rest = end
	}
}
