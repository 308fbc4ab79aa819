# Verifies a statement by the book, not by our code: fractions, and SHA-256.
#   python3 verify.py statement.json
import hashlib, json, sys
from fractions import Fraction

def sha(*lines):
    return hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()

def micro(credits):  # whole millionths, rounded down
    return Fraction(credits) * 1000000 // 1

def devices(p, r):  # availability, and the most that traffic earns
    score = Fraction(r["served_minutes"], r["expected_minutes"]) if r["expected_minutes"] else 0
    return micro(p["availability"] * score), micro(p["utilization_cap"])

def places(p, r):
    time = r["owned_minutes"] + r["excused_minutes"] * r["recent_share"]
    return [micro(Fraction(micro(rate * Fraction(time) / 1440), 1000000) * r["proof"])
            for rate in (p["availability"], p["utilization_cap"])]

minutes = ["served_minutes", "expected_minutes"]
amounts = ["availability", "performance", "utilization"]
facts = ["date", "hotspot_id", "policy", *minutes, "closed_minutes", "excused_minutes", "outside_minutes", "traffic_bytes",
         "performance_tier"]
shares = ["owned_minutes", "recent_share", "proof"]
ground = ["days_served", "place_lat_e7", "place_lng_e7", "shared_minutes", "shared_with"]

s = json.load(open(sys.argv[1]), parse_float=Fraction)
s = s.get("data", s)
chain = sha("beacon rewards", s["user_id"], s["period"])
sums, hotspots = [0] * 5, set()
for n, r in enumerate(s["rows"], 1):
    p = [p for p in s["policies"] if p["effective_from"] <= r["date"]][-1]
    a, most = (places if "radius_m" in p else devices)(p, r)
    f = micro(Fraction(a, 1000000) * p["performance"][r["performance_tier"]])
    u = min(most, micro(p["utilization_per_gb"] * Fraction(r["traffic_bytes"], 10**9)))
    line = [r[k] for k in facts] + [a, f, u]
    if "radius_m" in p:
        line += [micro(r[k]) for k in shares] + [r[k] for k in ground]
    chain = sha(chain, ",".join(map(str, line)))
    if (p["version"], [micro(r[k]) for k in amounts], r["hash"]) != (r["policy"], [a, f, u], chain):
        sys.exit(f"row {n} does not hold: {r}")
    sums = [x + y for x, y in zip(sums, [r[k] for k in minutes] + [a, f, u])]
    hotspots.add(r["hotspot_id"])
lines = [",".join(map(str, ["policy", p["version"], p["effective_from"]] + [micro(x) for x in (
    p["availability"], *(p["performance"][t] for t in ("standard", "enhanced", "premium")),
    p["utilization_per_gb"], p["utilization_cap"])] + (
    [p["radius_m"], micro(p["unproven_share"])] if "radius_m" in p else []))) for p in s["policies"]]
total = ",".join(map(str, [s["user_id"], s["period"], len(s["rows"]), len(hotspots)] + sums))
seal = sha(s["previous_hash"] or "0" * 64, chain, total, *lines)
print(seal) if seal == s["hash"] else sys.exit(f"the seal does not hold: {seal}")
