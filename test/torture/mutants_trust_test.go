//go:build linux

package torture_test

// trustMutants believe those who are paid, or whoever is careless.
var trustMutants = []mutant{
	{
		name:  "a day on which the service was down from end to end has no record",
		fault: "TestOutages_PayByLength",
		in:    "internal/rewards",
		file:  "internal/heartbeat/open_days.go",
		old:   `!known && k.needs(day, today) {`,
		new:   `!known && k.needs(day, today) && (day == today || !k.service.allDay(day)) {`,
		says:  "closed false",
	},
	{
		name:  "a visit that is farther off than measurements allow is a move",
		fault: "TestPlaceOn",
		in:    "internal/beacon",
		file:  "internal/beacon/visit.go",
		old:   `PlaceWithinM || exact && found.Moved:`,
		new:   `PlaceWithinM || exact:`,
		says:  "is recorded",
	},
	{
		name:  "a visit within both accuracies is a move",
		fault: "TestPlaceOn",
		in:    "internal/beacon",
		file:  "internal/beacon/place.go",
		old:   `max(placeWithinM, p.AccuracyM+accuracyM)`,
		new:   `placeWithinM`,
		says:  "no farther off than both accuracies",
	},
	{
		name:  "a hotspot that is back begins anew",
		fault: "TestPlaces/sqlite",
		in:    "internal/rewards",
		file:  "internal/beacon/place.go",
		old: `			p.Since, p.AccuracyM = was.Since, was.AccuracyM
`,
		new:  ``,
		says: "Standing",
	},
	{
		name:  "an hour a day makes as senior as all of it",
		fault: "TestMinutes_Seniority/sqlite",
		in:    "internal/rewards",
		file:  "internal/rewards/policy/policy.go",
		old:   `return min(served, p.StandingADay)`,
		new:   `return min(served*10, p.StandingADay)`,
		says:  "short days, by minutes",
	},
	{
		name:  "days out of service do not count against an excused minute",
		fault: "TestMinutes_Outage/sqlite",
		in:    "internal/rewards",
		file:  "internal/rewards/places/recent.go",
		old: `			of[id].add(new(past[id]))
`,
		new: `			if did := past[id]; did.Expected > 0 {
				of[id].add(&did)
			}
`,
		says: "six clones",
	},
	{
		name:  "who was never found is paid like those whose proof has ended",
		fault: "TestMinutes_NeverFound/sqlite",
		in:    "internal/rewards",
		file:  "internal/rewards/places/divide.go",
		old: `		c.Proof = 0
`,
		new: `		c.Proof = int64(rules.Unproven)
`,
		says: "nobody has found",
	},
	{
		name:  "what an outage leaves for traffic is paid twice",
		fault: "TestMinutes_Traffic/sqlite",
		in:    "internal/rewards",
		file:  "internal/rewards/policy/places.go",
		old:   `+ f.Spare - utilization`,
		new:   `+ f.Spare`,
		says:  "step 4",
	},
	{
		name:  "neighbours of where a hotspot will be may judge it",
		fault: "TestVerification_ByNeighbourOfNewcomer/sqlite",
		in:    "internal/api",
		file:  "internal/registry/unverify.go",
		old:   `append(h.Paid(now), h.Location.Point)`,
		new:   `h.Paid(now)[:1]`,
		says:  "when it is registered there",
	},
	{
		name:  "an address that never was in service is reserved",
		fault: "TestMAC_NotReserved/sqlite",
		in:    "internal/api",
		file:  "internal/beacon/mac.go",
		old:   `case h.ActiveSince().IsZero():`,
		new:   `case false:`,
		says:  "never in service",
	},
	{
		name:  "an address in service is free when its operator gives it up",
		fault: "TestMAC_Reserved/sqlite",
		in:    "internal/api",
		file:  "internal/beacon/mac.go",
		old: `	return at.Add(macReserved)
`,
		new: `	return at
`,
		says: "a stranger registers it",
	},
	{
		name:  "giving up an address again ends its reservation",
		fault: "TestMAC_Reserved/sqlite",
		in:    "internal/api",
		file:  "internal/store/freed.go",
		old:   ` || until.IsZero() {`,
		new:   ` {`,
		says:  "a stranger registers it",
	},
	{
		name:  "neighbours may say that a shop is a home",
		fault: "TestVerification_ByNeighbourOfType/sqlite",
		in:    "internal/api",
		file:  "internal/registry/register.go",
		old:   `takes || retypes {`,
		new:   `takes || retypes && takes {`,
		says:  "want 403",
	},
}
