#!/usr/bin/env bash
# same.sh OLD NEW [quick|full] does the same work with two binaries of pihc and compares
# what they write: datasets, tensors, predictions and figures' numbers byte for byte, logs,
# metrics, page data and output but for times. It prints a line a comparison, and exits 1
# where one differs. SAME_KEEP=DIR keeps both folders there; what OLD writes is kept in
# ${TMPDIR:-/tmp}/pihc-same for the next time.
set -euo pipefail

usage="usage: $0 OLD NEW [quick|full]"
old=$(realpath "${1:?$usage}") new=$(realpath "${2:?$usage}") size=${3:-quick}
case $size in quick | full) ;; *) echo "$usage" >&2; exit 2 ;; esac
repository=$(cd "$(dirname "$0")/.." && pwd)
# The examples as both binaries read them: what a later commit writes OLD may not know.
examples=0f74648

work=${SAME_KEEP:-$(mktemp -d)}
mkdir -p "$work"
[ -n "${SAME_KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
rm -rf "$work/old" "$work/new" "$work/inputs"
mkdir "$work/old" "$work/new" "$work/inputs"
git -C "$repository" archive $examples examples | tar -x -C "$work/inputs"

cat >"$work/inputs/advection.yaml" <<'YAML'
name: adv
unknown: u
axes:
  t: {range: [0, 1], points: 17, boundary: nodes}
  x: {range: [0, 1], points: 24, boundary: periodic}
constants: {c: 1.0}
terms:
  u_t: {axis: t, derivative: 1, order: 2}
  u_x: {axis: x, derivative: 1, order: 4}
residual: {expression: u_t + c*u_x, rows: {t: [1, 0]}}
conditions:
  initial: {kind: initial, at: {t: low}, expression: u - u0}
initial: {distribution: random-series, series: periodic, parameters: {modes: 2}, scale: 0.3}
reference: {solver: discrete}
YAML
sed 's/solver: discrete/file: given.npz/; s/c: 1.0/c: 0.8/' "$work/inputs/advection.yaml" >"$work/inputs/given.yaml"
sed '/^reference/d; /^initial: /d; s/c: 1.0/c: 0.8/' "$work/inputs/advection.yaml" >"$work/inputs/bare.yaml"
echo 'reference: {file: given.npz}' >>"$work/inputs/bare.yaml"
cat >"$work/inputs/advection-spec.yaml" <<'YAML'
version: 1
problem: advection.yaml
constants: {c: 0.8}
network: {width: 6, layers: 1, modes: {t: 3, x: 3}, projection: 6, basis: 4}
constraint: {experts: {x: 2}, points: 80}
training: {steps: 12, batch: 2, validate: 4, validate_count: 2, checkpoint: 4, log: 1}
data: {train: {count: 16, seed: 1}, validation: {count: 3, seed: 2}, test: {count: 21, seed: 3}}
YAML
sed 's/advection.yaml/given.yaml/; s/count: 16/count: 21/; s/test: {count: 21/test: {count: 6/; /^constants/d' "$work/inputs/advection-spec.yaml" >"$work/inputs/given-spec.yaml"

# ranks N runs what follows on N ranks of Open MPI.
mpirun=$(command -v mpirun.openmpi || command -v mpirun || true)
[ -n "$mpirun" ] || echo "skipped: no mpirun here, so nothing is compared on several ranks (apt-get install openmpi-bin)"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none

# all BINARY does the work in the current folder.
all() {
	local pihc=$1 launch=() m s n
	# r NAME ARGUMENTS...: output, errors and exit status are NAME.out, NAME.err, NAME.rc.
	r() {
		local name=$1 rc=0 begin=$EPOCHREALTIME
		shift
		"${launch[@]}" "$pihc" -q "$@" >"$name.out" 2>"$name.err" || rc=$?
		echo $rc >"$name.rc"
		[ -z "${SAME_TIMES:-}" ] || echo "$(bc <<<"$EPOCHREALTIME - $begin") s: $name" >&2
	}
	initial() { # initial SHARD: its array of initial conditions, as NPY
		python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read("initial.npy"))' "$1"
	}
	cp -r "$work/inputs" .
	pwd >root.txt # the path that files of the folder may name
	local count=(--set data.train.count=64 --set data.validation.count=2 --set data.test.count=4)
	local steps=(--set training.steps=50 --set training.batch=2 --set training.validate=20 --set training.validate_count=2 --set training.checkpoint=25 --set training.log=5)
	local small=(--set network.width=8 --set network.layers=2 --set network.projection=12)
	local ds=(diffusion-sorption-demo "${count[@]}" --set grid.t=41 --set grid.x=64)
	local ns=(navier-stokes-demo "${count[@]}" --set 'grid={t: 8, x: 16, y: 16}')

	r data-ds generate "${ds[@]}" --out data-ds --workers 1
	r data-ns generate "${ns[@]}" --out data-ns --workers 2
	r data-ns-again generate "${ns[@]}" --out data-ns
	[ -z "$mpirun" ] || launch=("$mpirun" -np 2)
	[ -z "$mpirun" ] || r data-ds-2ranks generate "${ds[@]}" --out data-ds-2ranks
	launch=()
	ds+=(--set constraint.points=400)
	ns+=(--set 'network.modes={t: 3, x: 5, y: 5}' --set network.passes=4 --set constraint.points=200)
	r data-advection generate inputs/advection-spec.yaml --out data-advection --workers 1
	r given import data-advection/test-00000.npz --initial initial --train initial --out inputs/given.npz
	r data-given generate inputs/given-spec.yaml --out data-given --workers 2
	initial data-ds/test-00000.npz >ds.npy || true
	initial data-ns/test-00000.npz >ns.npy || true

	for m in soft hard moe; do
		r train-ds-$m train "${ds[@]}" "${steps[@]}" "${small[@]}" --method $m --data data-ds --out train-ds-$m --workers 1
		r train-ns-$m train "${ns[@]}" "${steps[@]}" "${small[@]}" --method $m --data data-ns --out train-ns-$m --workers 1
		[ $m = moe ] || [ $size = full ] || continue
		for s in ds ns; do
			local -n spec=$s
			r train-$s-$m-2workers train "${spec[@]}" "${steps[@]}" "${small[@]}" --method $m --data data-$s --out train-$s-$m-2workers --workers 2
			[ -n "$mpirun" ] || continue
			launch=("$mpirun" -np 2)
			r train-$s-$m-2ranks train "${spec[@]}" "${steps[@]}" "${small[@]}" --method $m --data data-$s --out train-$s-$m-2ranks --workers 1
			launch=()
		done
	done
	if [ -n "$mpirun" ]; then
		launch=("$mpirun" -np 2)
		r slabs train "${ds[@]}" "${steps[@]}" "${small[@]}" --slabs 2 --data data-ds --out slabs --workers 1
		r slabs-eval eval slabs --slabs 2 --json
		r ranks-predict predict train-ns-moe --initial ns.npy --out ranks-predict.npz
		launch=()
	fi
	# Continued, extended, begun from another run, and other keys of the spec.
	cp -r train-ds-moe extended || true
	r extended train --resume extended --set training.steps=60 --workers 1
	r from train "${ds[@]}" "${steps[@]}" "${small[@]}" --set training.steps=5 --method hard --seed 3 --from train-ds-hard --data data-ds --out from --workers 1
	r stages train "${ns[@]}" "${steps[@]}" --set 'network={kind: ffno, width: 8, layers: 2, modes: {t: 3, x: 4, y: 4}, projection: 8, passes: 2, features: {w: 1, residual: 0.2}}' \
		--set 'training.stages=[{steps: 20, grid: {x: 8, y: 8}, points: 60}]' --set training.average=0.9 --data data-ns --out stages --workers 1
	r window train "${ds[@]}" "${steps[@]}" "${small[@]}" --set 'training.window={t: [0, 400]}' --set network.precision=float64 --data data-ds --out window --workers 1
	local published=(diffusion-sorption-published "${count[@]}" --set grid.t=41 --set grid.x=64)
	r published-data generate "${published[@]}" --out published-data
	r published train "${published[@]}" --set constraint.points=400 "${steps[@]}" "${small[@]}" --set training.steps=20 --set constraint.adjoint=paper --data published-data --out published --workers 1

	r eval-ds eval train-ds-moe --json --workers 1
	r eval-ds-grid eval train-ds-moe --grid x=96 --points 300 --tolerance 1e-6 --split validation --out eval-ds-grid.json
	r eval-ns eval train-ns-moe --workers 2
	r eval-ns-hard eval train-ns-hard --grid x=32,y=32 --passes auto --residual 0.1 --samples 2 --out eval-ns-hard.json
	r eval-window eval window --last --json
	r predict-ds predict train-ds-moe --initial ds.npy --out predict-ds.npz
	r predict-ds-soft predict train-ds-soft --initial ds.npy --out predict-ds-soft.npz --remove-mean
	r predict-ns predict train-ns-moe --initial ns.npy --out predict-ns.npz --workers 1
	r predict-ns-hard predict train-ns-hard --initial ns.npy --out predict-ns-hard.npz --passes 3
	r predict-stages predict stages --initial ns.npy --out predict-stages.npz --passes 2
	r report-ds report train-ds-soft train-ds-hard train-ds-moe --out report-ds.html
	r check-ds check "${ds[@]}" "${small[@]}" --grid t=21,x=24 --json
	r check-advection check inputs/advection-spec.yaml
	r init-heat init heat --out init-heat --minutes 1e-4
	r init-bare init inputs/bare.yaml --out init-bare --minutes 1e-4
	r reproduce-given reproduce inputs/given-spec.yaml --out reproduce-given --fair --json

	# Of the gallery: a weight of rows, two unknowns, inputs of its own without time.
	local gallery='allen-cahn fitzhugh-nagumo poisson'
	[ $size = quick ] || gallery+=' heat kuramoto-sivashinsky shallow-water sorption darcy wave allen-cahn-2d'
	for n in $gallery; do
		local grid=()
		case $n in
		allen-cahn | heat) grid=(--set grid.t=21 --set grid.x=32) ;;
		allen-cahn-2d) grid=(--set grid.t=9 --set grid.x=12 --set grid.y=12) ;;
		poisson | darcy) grid=(--set grid.x=17 --set grid.y=17) ;;
		kuramoto-sivashinsky | wave | shallow-water | fitzhugh-nagumo) grid=(--set grid.t=25 --set grid.x=32) ;;
		esac
		local spec_of=("inputs/examples/$n/spec.yaml" "${count[@]}" --set data.train.count=16 "${grid[@]}")
		r example-$n-data generate "${spec_of[@]}" --out example-$n-data
		r example-$n train "${spec_of[@]}" --set network.width=8 --set network.layers=2 "${steps[@]}" --set training.steps=24 --data example-$n-data --out example-$n --workers 1
		r example-$n-eval eval example-$n --json
	done
	r example-predict predict example-fitzhugh-nagumo --initial example-fitzhugh-nagumo-data/test-00000.npz --out example-predict.npz
	r example-report report example-fitzhugh-nagumo --out example-report.html
	[ $size = full ] || return 0

	r report-ns report train-ns-soft train-ns-moe --out report-ns.html
	r check-ns check "${ns[@]}" "${small[@]}" --set network.passes=2 --grid t=6,x=12,y=12 --json
	r check-published check "${published[@]}" --grid t=21,x=24
	r init-system init system --out init-system --minutes 1e-4
	r init-steady init steady --out init-steady --minutes 1e-4
	local tiny=(--set grid.t=11 --set grid.x=24 --set network.width=4 --set network.layers=1 --set network.modes.t=3 --set network.modes.x=3 --set network.projection=4 --set network.basis=4
		--set constraint.points=20 --set training.steps=4 --set training.validate=2 --set training.batch=2 --set data.train.count=8 --set data.validation.count=2 --set data.test.count=3 --scale demo)
	r study-temporal reproduce temporal "${tiny[@]}" --out study-temporal --json
	for n in interpolation residuals experts; do
		r study-$n reproduce $n "${tiny[@]}" --out study-$n
	done
	r reproduce-ns reproduce navier-stokes "${ns[@]:1}" --scale demo "${steps[@]}" "${small[@]}" --set training.steps=6 --methods moe,hard --out reproduce-ns
}

cache=${TMPDIR:-/tmp}/pihc-same/$(cat "$old" "$0" <(echo "$size $mpirun") | sha256sum | head -c 16)
if [ -d "$cache" ]; then
	cp -r "$cache/." "$work/old"
	(cd "$work/new" && all "$new")
else
	(cd "$work/old" && all "$old") & first=$!
	(cd "$work/new" && all "$new") & second=$!
	wait $first
	wait $second
	mkdir -p "$(dirname "$cache")"
	cp -r "$work/old" "$cache.$$" && { mv -T "$cache.$$" "$cache" 2>/dev/null || rm -rf "$cache.$$"; }
fi

cat >"$work/compare.py" <<'PYTHON'
import json, os, re, sys

# What may differ, and nothing else.
HASHES = {"spec_hash", "checksum"}  # of spec files, and of JSON files that hold one or a time
TIMES = {"seconds", "evaluation_seconds", "total_seconds", "train_seconds", "prediction_seconds", "solution_seconds", "chain", "per_second", "break_even", "prediction_s"}  # chain: of lines that hold seconds
BUILD = {"pihc"}
IGNORED = HASHES | TIMES | BUILD
# Keys of specs that one binary writes and the other does not, or that stand elsewhere.
SPEC_KEYS = re.compile(r"^(version|defaults|  (kind|cost_tolerance|initial_damping|restart|beta1|beta2|epsilon|directions|components|router|recovery_factor|best)):")
GONE = ()  # ends of names of files that the second binary no longer writes
TIMED_FILES = {"cost.csv", "experts_time.csv", "experts_time.png", "experts_time.svg"}
TIME = r"[0-9][0-9.,   ]*(?:e[-+]?[0-9]+)? ?(?:ns|µs|us|ms|s|seconds|min|minutes|h|d)\b"
TIMED_LINES = re.compile(r".*(a step takes|a method, about|pihc version).*\n?")
TIMED_PART = re.compile(r"^Time against the classical solver$.*?^Training has paid off[^\n]*\n", re.M | re.S)
BINARY = (".safetensors", ".npz", ".npy", ".png", ".svg", ".gif", ".csv")

old, new = sys.argv[1:3]
roots = {root: open(os.path.join(root, "root.txt")).read().strip() for root in (old, new)}


def text(s, root):
    s = s.replace(roots[root], "ROOT")
    s = TIMED_LINES.sub("", TIMED_PART.sub("", s))
    s = re.sub(r"\btime=\S+", "time=TIME", re.sub(TIME, "TIME", s))
    s = re.sub("─+", "─", s)
    return re.sub(r"[ \t]+", " ", s)


def spec(s):
    return "\n".join(sorted(l for l in s.splitlines() if not SPEC_KEYS.match(l)))


def differences(a, b, at=""):
    """Yields where two JSON values differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        for k in list(a) + [k for k in b if k not in a]:
            if k in IGNORED:
                if (k in a) != (k in b):
                    yield f"{at}.{k}: only in one"
            elif k not in a or k not in b:
                yield f"{at}.{k}: only in one"
            else:
                yield from differences(a[k], b[k], f"{at}.{k}")
    elif isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            yield f"{at}: {len(a)} against {len(b)} elements"
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{at}.{i}")
    elif type(a) is not type(b) or a != b:
        yield f"{at}: {str(a)[:60]} against {str(b)[:60]}"


def lines(a, b):
    a, b = a.split("\n"), b.split("\n")
    for i in range(max(len(a), len(b))):
        x, y = (v[i] if i < len(v) else None for v in (a, b))
        if x != y:
            yield f"line {i + 1}: {x!r} against {y!r}"


def parse(s, root):
    return json.loads(s.replace(roots[root], "ROOT"))


def page(s, root):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', s, re.S)
    return parse(found[1], root) if found else None


def compare(name):
    raw = [open(os.path.join(root, name), "rb").read() for root in (old, new)]
    base = os.path.basename(name)
    if base in TIMED_FILES or base.startswith("lock.json"):
        return
    if raw[0] == raw[1]:
        return
    if name.endswith(BINARY) or base == "manifest.json":
        yield "bytes"
        return
    a, b = (r.decode() for r in raw)
    if base == "log.jsonl":
        a, b = a.splitlines(), b.splitlines()
        if len(a) != len(b):
            yield f"{len(a)} against {len(b)} lines"
        for i, (x, y) in enumerate(zip(a, b)):
            for d in differences(json.loads(x), json.loads(y)):
                yield f"line {i + 1}{d}"
    elif name.endswith(".html"):
        a, b = page(a, old), page(b, new)
        yield from differences(a, b)
    elif name.endswith(".json") or name.endswith(".out") and a[:1] == "{" == b[:1]:
        yield from differences(parse(a, old), parse(b, new))
    elif base == "spec.yaml":
        if "/" in name and name.startswith("init-"):  # comments have times
            a, b = (re.sub(r"^#.*\n", "", s, flags=re.M) for s in (a, b))
        yield from lines(spec(a), spec(b))
    elif base == "problem.yaml":
        yield from lines(a, b)
    else:
        yield from lines(text(a, old), text(b, new))


def files(root):
    for folder, _, names in os.walk(root):
        for n in names:
            if n != "root.txt":
                yield os.path.relpath(os.path.join(folder, n), root)


def group(name):
    first = name.split("/")[0]
    return re.sub(r"(-figures|\.(out|err|rc|npz|npy|json|html))$", "", first)


def show(title, count, found):
    if found:
        print(f"DIFFERS  {title}: " + "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else ""))
    else:
        print(f"same     {title} ({count} files)")
    return bool(found)


groups, failed = {}, 0
both = [set(files(root)) for root in (old, new)]
for name in both[0] | both[1]:
    groups.setdefault(group(name), []).append(name)
broken = [n for n in both[0] if n.endswith(".rc") and open(os.path.join(old, n)).read() != "0\n"]
if broken:
    print("the first binary failed: " + ", ".join(f"{n[:-3]}: {open(os.path.join(old, n[:-2] + 'err')).read().strip()}" for n in broken))
    sys.exit(1)
for title in sorted(groups):
    found = []
    for name in sorted(groups[title]):
        if name not in both[1] and name.endswith(GONE):
            continue
        if name not in both[0] or name not in both[1]:
            found.append(f"{name} only in the {'first' if name in both[0] else 'second'}")
        else:
            found += [f"{name}: {d}" for d in compare(name)]
    failed += show(title, len(groups[title]), found)
# Workers and ranks change nothing.
for title in sorted(groups):
    one = re.sub(r"-2(workers|ranks)$", "", title)
    if one != title:
        names = [n for n in groups[one] if n.startswith(one + "/") and n.endswith((".safetensors", ".npz", "manifest.json"))]
        found = []
        for n in names:
            other = os.path.join(new, title + n[len(one):])
            if not os.path.exists(other) or open(other, "rb").read() != open(os.path.join(new, n), "rb").read():
                found.append(f"{n}: bytes")
        failed += show(f"{title} as {one}", len(names), found)
print(f"{failed} of the comparisons differ" if failed else "all the same")
sys.exit(failed > 0)
PYTHON
python3 "$work/compare.py" "$work/old" "$work/new"
