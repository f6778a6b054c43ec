# Sums up fields.csv, the lines of fields.py after problem, noise and window. python3 fields_table.py [FILE]
import csv, pathlib, statistics, sys

path = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("fields.csv")
groups = {}
for row in csv.DictReader(open(path)):
    groups.setdefault((row["problem"], row["noise"], row["window"], row["method"]), []).append(row)
print("| problem | noise of the truth | window | method | cases | median error | error below 0.5 | band covers | rejected |\n|---|---|---|---|---|---|---|---|---|")
for key, rows in sorted(groups.items()):
    done = [r for r in rows if r["error"] != "nan"]
    if not done:
        print("| " + " | ".join(key) + f" | {len(rows)} | none ended in time | | | |")
        continue
    error = [float(r["error"]) for r in done]
    covered = statistics.mean(float(r["covered"]) for r in done)
    rejected = sum(float(r["p"]) < 1e-3 for r in done)
    unended = f" ({len(rows) - len(done)} not in time)" if len(done) < len(rows) else ""
    print("| " + " | ".join(key) + f" | {len(rows)}{unended} | {statistics.median(error):.3f} | {sum(e < 0.5 for e in error)} | {covered:.1%} | {rejected} |")

# Where the statement is true: strong of an exact truth, weak of a noisy one.
true = [rows for (_, noise, _, method), rows in groups.items() if (noise == "0") == (method == "strong")]
ended = [[r for r in rows if r["error"] != "nan"] for rows in true]
of_draws = [100 * statistics.stdev(float(r["covered"]) for r in rows) / len(rows) ** 0.5 for rows in ended]
found = sum(float(r["error"]) < 0.5 for rows in ended for r in rows)
count, late = sum(map(len, true)), sum(map(len, true)) - sum(map(len, ended))
print(f"\nwhere the statement is true: the standard error over draws is {min(of_draws):.1f} to {max(of_draws):.1f} points; error below 0.5 in {found} of {count}; {late} not in time")
