# How often the 95 % intervals of sorption.py's lines hold the truth, with the exact binomial interval (C. J. Clopper and E. S. Pearson,
# 1934) of that part. python3 coverage.py sorption.csv
import csv, math, sys


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


rows = list(csv.DictReader(open(sys.argv[1])))
for name in "Dk":
    held = sum(float(r[name + "_low"] or 0) <= float(r[name]) <= float(r[name + "_high"] or "inf") for r in rows)
    open_ = sum(not r[name + "_low"] or not r[name + "_high"] for r in rows)
    low, high = exact(held, len(rows))
    print(f"{name}: {held} of {len(rows)} intervals hold the truth ({held / len(rows):.1%}; exact interval {low:.1%} to {high:.1%}); {open_} have one end alone")
seconds = sorted(float(r["seconds"]) for r in rows)
print(f"seconds: median {seconds[len(seconds) // 2]:.2f}, most {seconds[-1]:.2f}; p below 0.05 in {sum(float(r['p']) < 0.05 for r in rows) / len(rows):.1%}")
