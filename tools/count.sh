#!/usr/bin/env bash
# Counts of the program, from the files that git tracks: how large it is, what it
# exports, what is longest. Lines are those of wc, blank ones and comments included.
#
# Code is Go outside tests (*_test.go), testdata, examples and generated files
# ("// Code generated" begins a line). An exported name is a constant, variable,
# function or type of a package outside cmd, internal and tools that begins with a
# capital; methods and fields are not counted, and a name that platforms have in
# several files is one. Files are as gofmt leaves them, which is all the patterns
# below rely on. A sentence ends at . ! or ?, and with its paragraph, item or cell.
set -euo pipefail
cd "$(dirname "$0")/.."

written() { # tracked Go without tests and generated files
	git ls-files '*.go' | grep -v -e '_test\.go$' -e '/testdata/' | xargs -r grep -L '^// Code generated'
}
code() { written | grep -v '^examples/'; }
lines() { xargs -r cat | wc -l; }

printf '%7d  lines of Go, without tests and generated files (60408 at 0f74648)\n' "$(code | lines)"
printf '%7d  of them in cmd\n' "$(code | { grep '^cmd/' || true; } | lines)"
printf '%7d  lines of Go in examples\n' "$(written | { grep '^examples/' || true; } | lines)"
printf '%7d  the longest file of cmd: %s\n' $(code | grep '^cmd/' | xargs wc -l | grep -v ' total$' | sort -n | tail -1)

code | grep -v -e '^cmd/' -e '^internal/' -e '^tools/' | xargs awk '
	function name(n) {
		package = FILENAME
		if (!sub(/\/[^\/]*$/, "", package)) package = "."
		if (n ~ /^[A-Z]/ && !seen[package, n]++) count++
	}
	function names(list) { # "A, B = ..." or "A T"
		while (match(list, /^[A-Za-z0-9_]+, /)) {
			name(substr(list, 1, RLENGTH - 2))
			list = substr(list, RLENGTH + 1)
		}
		sub(/[^A-Za-z0-9_].*/, "", list)
		name(list)
	}
	/^[^\t]/ { group = /^(const|var|type) \($/ }
	group && /^\t[A-Z]/ { names(substr($0, 2)) }
	/^(const|var|type|func) [A-Z]/ { sub(/^[a-z]+ /, ""); names($0) }
	END { printf "%7d  exported names outside cmd and internal (481 at 0f74648)\n", count }'

echo; echo 'lines by package'
code | xargs wc -l | grep -v ' total$' | awk '
	{ if (!sub(/\/[^\/]*$/, "", $2)) $2 = "."; lines[$2] += $1 }
	END { for (p in lines) printf "%7d  %s\n", lines[p], p }' | sort -k2

echo; echo 'functions of more than 80 lines'
written | xargs awk '
	/^func / { first = FNR; head = $0; sub(/ {$/, "", head) }
	/^}/ && first { if (FNR - first + 1 > 80) printf "%7d  %s: %s\n", FNR - first + 1, FILENAME, head; first = 0 }' | sort -rn

echo; echo 'README.md'
printf '%7d  lines\n%7d  words\n' "$(wc -l <README.md)" "$(wc -w <README.md)"
awk '
	function flush() { if (text != "") print text; text = "" }
	/^```/ { flush(); fence = !fence; next }
	fence || /^ *$/ { flush(); next }
	/^\|/ { flush(); n = split($0, cell, "|"); for (i = 1; i <= n; i++) print cell[i]; next }
	/^#/ { flush(); print; next }
	/^ *([-*]|[0-9]+\.) / { flush() }
	{ text = text " " $0 }
	END { flush() }' README.md | sed -E 's/\]\([^)]*\)/]/g; s/([.!?][])*"]*) +/\1\n/g' |
	awk 'NF > most { most = NF; longest = $0 } END { printf "%7d  words in the longest sentence: %s\n", most, longest }'
