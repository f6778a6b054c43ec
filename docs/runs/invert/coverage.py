# How often the 95 % intervals of sorption.py's lines hold the truth. python3 coverage.py sorption.csv
import csv, sys

rows = list(csv.DictReader(open(sys.argv[1])))
for name in "Dk":
    held = sum(float(r[name + "_low"] or 0) <= float(r[name]) <= float(r[name + "_high"] or "inf") for r in rows)
    open_ = sum(not r[name + "_low"] or not r[name + "_high"] for r in rows)
    print(f"{name}: {held} of {len(rows)} intervals hold the truth ({held / len(rows):.1%}); {open_} have one end alone")
seconds = sorted(float(r["seconds"]) for r in rows)
print(f"seconds: median {seconds[len(seconds) // 2]:.2f}, most {seconds[-1]:.2f}; p below 0.05 in {sum(float(r['p']) < 0.05 for r in rows) / len(rows):.1%}")
