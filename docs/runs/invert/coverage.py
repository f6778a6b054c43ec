# How often the 95 % intervals of sorption.py's lines hold the truth, with the exact binomial interval (C. J. Clopper and E. S. Pearson,
# 1934) of that part, or how scipy.csv compares. python3 coverage.py sorption.csv [FIRST_CASE], python3 coverage.py scipy.csv
import csv, math, statistics, sys


def exact(held, n):
    """The 95 % interval of a probability of which held of n were met."""

    def at_least(k, p):
        return sum(math.exp(math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(p) + (n - i) * math.log1p(-p)) for i in range(k, n + 1))

    def root(k, tail):  # of a function that rises with p
        low, high = 0.0, 1.0
        for _ in range(60):
            p = (low + high) / 2
            low, high = (p, high) if at_least(k, p) < tail else (low, p)
        return low

    return root(held, 0.025) if held else 0, root(held + 1, 0.975) if held < n else 1



def part(held, n):
    low, high = exact(held, n)
    return f"{held} of {n} ({held / n:.1%}; exact interval {low:.1%} to {high:.1%})"


first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
rows = [r for r in csv.DictReader(open(sys.argv[1])) if int(r["case"]) >= first]
if "pihc_apart" in rows[0]:
    ratios = [float(r["pihc_seconds"]) / float(r["scipy_128_seconds"]) for r in rows]
    held = [r for r in rows if float(r["D_deviation"]) > 0 and float(r["s_deviation"]) > 0]
    print(f"time over SciPy's: {min(ratios):.2g} to {max(ratios):.2g}, median {statistics.median(ratios):.2f}")
    print("estimates within 0.01 deviations:", part(sum(float(r["pihc_apart"]) < 0.01 for r in held), len(held)))
    sys.exit()
for name in "Dk":
    held = sum(float(r[name + "_low"] or 0) <= float(r[name]) <= float(r[name + "_high"] or "inf") for r in rows)
    open_ = sum(not r[name + "_low"] or not r[name + "_high"] for r in rows)
    print(f"{name}: intervals hold the truth in {part(held, len(rows))}; {open_} have one end alone")
seconds = sorted(float(r["seconds"]) for r in rows)
print(f"seconds: median {seconds[len(seconds) // 2]:.2f}, most {seconds[-1]:.2f}; p below 0.05 in {sum(float(r['p']) < 0.05 for r in rows) / len(rows):.1%}")
