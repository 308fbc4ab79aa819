# Verifies a statement by the book, not by our code: fractions, and SHA-256.
#   python3 verify.py [statement.csv] statement.json
# With the CSV, the names of its columns are checked too, under a policy that counts minutes.
import hashlib, json, sys
from datetime import date, timedelta
from fractions import Fraction

def sha(*lines):
    return hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()

def micro(credits):  # whole millionths, rounded down
    return Fraction(credits) * 1000000 // 1

def devices(p, r):  # availability, and the most that traffic earns
    score = Fraction(r["served_minutes"], r["expected_minutes"]) if r["expected_minutes"] else 0
    return micro(p["availability"] * score), micro(p["utilization_cap"])

def places(p, r):
    if "standing_minutes_a_day" in p:
        time = r["owned_minutes"] + Fraction(micro(r["due_minutes"] * r["recent_share"]), 1000000)
        if not r["proof"] <= 1 or r["due_minutes"] > r["excused_minutes"]:
            sys.exit(f"it cannot have been so: {r}")
    else:
        time = r["owned_minutes"] + r["excused_minutes"] * r["recent_share"]
    return [micro(Fraction(micro(rate * Fraction(time) / 1440), 1000000) * r["proof"])
            for rate in (p["availability"], p["utilization_cap"])]

def spare(p, r, most, u):  # what an outage leaves for the traffic of the next day
    if not r["excused_minutes"] or not r["proof"]:
        return 0
    outage = dict(r, owned_minutes=0)
    own = 0 if r["served_minutes"] else micro(r["spare_credits"])
    return min(most - u, places(p, outage)[1] + own)

minutes = ["served_minutes", "expected_minutes"]
amounts = ["availability", "performance", "utilization"]
facts = ["date", "hotspot_id", "policy", *minutes, "closed_minutes", "excused_minutes", "outside_minutes", "traffic_bytes",
         "performance_tier"]
shares = ["owned_minutes", "recent_share", "proof"]
where = ["place_lat_e7", "place_lng_e7", "shared_minutes", "shared_with"]
columns = ",".join(facts + amounts + shares + ["standing_minutes"] + where + ["due_minutes", "spare_credits", "hold_id", "hash"])
if len(sys.argv) > 2:
    columns = open(sys.argv[1]).readline().strip()
    columns = columns if columns.endswith("hold_id,hash") else columns.replace(",hash", ",hold_id,hash")

s = json.load(open(sys.argv[-1]), parse_float=Fraction)
s = s.get("data", s)
chain = sha("beacon rewards", s["user_id"], s["period"])
sums, hotspots, before = [0] * 5, set(), {}
for n, r in enumerate(s["rows"], 1):
    p = [p for p in s["policies"] if p["effective_from"] <= r["date"]][-1]
    a, most = (places if "radius_m" in p else devices)(p, r)
    most += micro(r.get("spare_credits", 0))
    f = micro(Fraction(a, 1000000) * p["performance"][r["performance_tier"]])
    u = min(most, micro(p["utilization_per_gb"] * Fraction(r["traffic_bytes"], 10**9)))
    line = [r[k] for k in facts] + [a, f, u]
    if "standing_minutes_a_day" in p:
        line += [micro(r[k]) for k in shares] + [r["standing_minutes"]] + [r[k] for k in where] + [micro(r["due_minutes"]), micro(r["spare_credits"])]
        place, is_now, day = (r["place_lat_e7"], r["place_lng_e7"]), r["standing_minutes"], date.fromisoformat(r["date"])
        was, was_at, should_be, left = before.get(r["hotspot_id"], (None, None, None, 0))
        if place == was_at and is_now != should_be or was and r["proof"] and micro(r["spare_credits"]) != (left if day - was == timedelta(1) else 0):
            sys.exit(f"row {n} does not follow the one before: {r}")
        before[r["hotspot_id"]] = day, place, is_now + (min(r["served_minutes"], p["standing_minutes_a_day"]) if r["proof"] else 0), spare(p, r, most, u)
    elif "radius_m" in p:
        line += [micro(r[k]) for k in shares] + [r["days_served"]] + [r[k] for k in where]
    chain = sha(chain, ",".join(map(str, line)))
    if (p["version"], [micro(r[k]) for k in amounts], r["hash"]) != (r["policy"], [a, f, u], chain):
        sys.exit(f"row {n} does not hold: {r}")
    sums = [x + y for x, y in zip(sums, [r[k] for k in minutes] + [a, f, u])]
    hotspots.add(r["hotspot_id"])
lines = []
for p in s["policies"]:
    line = ["policy", p["version"], p["effective_from"]] + [micro(x) for x in (
        p["availability"], *(p["performance"][t] for t in ("standard", "enhanced", "premium")),
        p["utilization_per_gb"], p["utilization_cap"])]
    line += [p["radius_m"], micro(p["unproven_share"])] if "radius_m" in p else []
    line += [p["standing_minutes_a_day"]] if "standing_minutes_a_day" in p else []
    lines.append(",".join(map(str, line)))
    if "standing_minutes_a_day" in p:
        lines.append("columns," + columns)
total = ",".join(map(str, [s["user_id"], s["period"], len(s["rows"]), len(hotspots)] + sums))
seal = sha(s["previous_hash"] or "0" * 64, chain, total, *lines)
print(seal) if seal == s["hash"] else sys.exit(f"the seal does not hold: {seal}")
