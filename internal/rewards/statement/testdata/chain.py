# Recomputes the hashes of a statement's CSV, and with policies and the hash before from its
# JSON that of the statement, which covers the names in the first line under policy 3:
#   python3 chain.py statement.csv statement.json
import hashlib, json, sys
from decimal import Decimal

def sha(*lines):
    return hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()

names, *rows = open(sys.argv[1]).read().splitlines()
s = json.load(open(sys.argv[2]), parse_float=Decimal)
s = s.get("data", s)
chain = sha("beacon rewards", s["user_id"], s["period"])
sums = [0] * 5  # of minutes served and expected, availability, performance, utilization
for number, line in enumerate(rows, 1):
    row, _, written = line.rpartition(",")
    chain = sha(chain, row)
    if chain != written:
        sys.exit(f"row {number} does not hold: {line}")
    fields = row.split(",")
    sums = [x + int(y) for x, y in zip(sums, fields[3:5] + fields[10:13])]
named = False
lines = [s["previous_hash"] or "0" * 64, chain,
         ",".join(map(str, [s["user_id"], s["period"], len(rows), s["totals"]["hotspot_count"]] + sums))]
for p in s["policies"]:
    tiers = [p["performance"][tier] for tier in ("standard", "enhanced", "premium")]
    terms = [p["availability"], *tiers, p["utilization_per_gb"], p["utilization_cap"]]
    line = ["policy", p["version"], p["effective_from"]] + [int(x * 1000000) for x in terms]
    line += [p["radius_m"], int(p["unproven_share"] * 1000000)] if "radius_m" in p else []
    if named := "standing_minutes_a_day" in p:
        line += [p["standing_minutes_a_day"]]
    lines.append(",".join(map(str, line)))
    if named:
        lines.append("columns," + (names if ",hold_id," in names else names.replace(",hash", ",hold_id,hash")))
if sha(*lines) != s["hash"]:
    sys.exit("the statement's hash does not hold" + (", or the first line has other names" if named else ""))
print(s["hash"])
if not named:
    print("the first line is under no hash: the policy is older than 3")
