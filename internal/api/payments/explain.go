package payments

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/earnings"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

func DecodeExplain(r *http.Request, q *edge.Query) earnings.ExplainQuery {
	return earnings.ExplainQuery{Hotspot: beacon.HotspotID(r.PathValue("id")), Day: q.Day("date")}
}

func showAmounts(e beacon.Earned) client.BreakdownWithTotal {
	return client.BreakdownWithTotal{Breakdown: showBreakdown(e), Total: client.Amount(e.Total())}
}

func showBreakdown(e beacon.Earned) client.Breakdown {
	return client.Breakdown{
		Availability: client.Amount(e.Availability), Performance: client.Amount(e.Performance), Utilization: client.Amount(e.Utilization),
	}
}

// showPolicy reads the JSON of a policy, which package policy writes.
func showPolicy(p *policy.Policy) (terms client.PolicyTerms) {
	if err := json.Unmarshal(p.AppendJSON(nil), &terms, json.RejectUnknownMembers(true)); err != nil {
		panic(err) // cannot happen: a test compares both
	}
	return terms
}

func showFacts(f beacon.Facts) client.DayFacts {
	shown := client.DayFacts{
		ServedMinutes: f.Served, ExpectedMinutes: f.Expected, ClosedMinutes: f.Closed, ExcusedMinutes: f.Excused, OutsideMinutes: f.Outside,
		TrafficBytes: f.Bytes, PerformanceTier: f.Tier.String(),
	}
	if g := f.Ground; g.Counts != beacon.NoStanding {
		shown.GroundFacts = &client.GroundFacts{
			OwnedMinutes: client.Amount(g.Own), RecentShare: client.Amount(g.Recent), Proof: client.Amount(g.Proof),
			PlaceLatE7: g.Lat, PlaceLngE7: g.Lng, SharedMinutes: g.Shared, SharedWith: g.Older,
		}
		if g.Counts == beacon.InDays {
			shown.DaysServed = &g.Standing
		} else {
			shown.StandingMinutes, shown.DueMinutes, shown.SpareCredits = &g.Standing, new(client.Amount(g.Due)), new(client.Amount(g.Spare))
		}
	}
	return shown
}

// encodeExplanation shows why a day earned what it did (decision X6). The losses and the
// earnings add up to the potential.
func encodeExplanation(_ http.Header, e earnings.Explanation) edge.Payload {
	out := client.Explanation{
		HotspotID: string(e.Hotspot), Date: e.Day.String(), Unit: beacon.RewardUnit, Open: e.Open, Status: string(e.Status), Policy: showPolicy(e.Policy),
		Facts: showFacts(e.Facts), Potential: showAmounts(e.Potential), Earned: showAmounts(e.Earned), Payment: string(e.Payment),
		Approximate: e.Approximate,
	}
	for _, l := range e.Losses {
		out.Losses = append(out.Losses, client.Loss{
			Reason: string(l.Reason), Minutes: l.Minutes, BreakdownWithTotal: showAmounts(l.Amount), Explanation: inWords(e, l),
		})
	}
	if e.Hold != nil {
		out.Hold = new(ShowHold(*e.Hold))
	}
	return edge.Payload{Data: out}
}

// inWords describes a loss.
func inWords(e earnings.Explanation, l policy.Loss) string {
	if e.Policy.PaysPlaces() {
		if text := placesInWords(e, l); text != "" {
			return text
		}
	}
	switch l.Reason {
	case policy.Offline:
		return fmt.Sprintf("The hotspot was expected for %s and sent no heartbeat in %d of them; availability is paid for the share served.",
			minutes(e.Facts.Expected), l.Minutes)
	case policy.Closed:
		return unexpectedInWords(l, "Its operating hours closed the hotspot for %s")
	case policy.Excused:
		if l.Amount != (beacon.Earned{}) {
			return fmt.Sprintf("Our own service was down for %s, which is all the time that the hotspot was expected on this day. "+
				"Policy %d pays the share of the expected time that was served, and cannot pay when none is left: this was lost through our outage.",
				minutes(l.Minutes), e.Policy.Version)
		}
		return unexpectedInWords(l, "Our own service was down for %s")
	case policy.Outside:
		if l.Minutes == beacon.MinutesADay {
			return "There is no record of this day: the hotspot was not verified and linked, or our own service was down all day."
		}
		return unexpectedInWords(l, "The hotspot was not in service for %s: not yet, or no longer, verified and linked")
	case policy.Slow:
		return fmt.Sprintf("Its speed tests made the hotspot %s, which adds %s per credit of availability; premium would add %s.",
			e.Facts.Tier, e.Policy.Performance[e.Facts.Tier], e.Policy.Performance[beacon.Premium])
	case policy.Capped:
		return fmt.Sprintf("Its traffic would be worth %s, but a day pays at most %s for traffic.", e.Potential.Utilization, e.Policy.Cap)
	}
	return "This was not earned for another reason."
}

// placesInWords describes a loss under a policy that pays places, or returns "" if it is
// the same as under the others.
func placesInWords(e earnings.Explanation, l policy.Loss) string {
	switch l.Reason {
	case policy.Outside:
		return fmt.Sprintf("The hotspot was not in service for %s: not yet, or no longer, verified and linked.", minutes(l.Minutes))
	case policy.Closed:
		return fmt.Sprintf("Its operating hours closed the hotspot for %s. Each minute on the air is paid, and no other.", minutes(l.Minutes))
	case policy.Excused:
		return "Our own service was down for " + minutes(l.Minutes) + ". " + excusedInWords(e)
	case policy.Offline:
		return fmt.Sprintf("The hotspot was expected for %s and sent no heartbeat in %d of them.", minutes(e.Facts.Expected), l.Minutes)
	case policy.Shared:
		if e.Uncounted {
			return "Who is paid for this ground is not known yet: it is being counted on how many days the hotspots have served."
		}
		older := "1 older hotspot"
		if e.Facts.Older != 1 {
			older = strconv.Itoa(e.Facts.Older) + " older hotspots"
		}
		first := "that has served there on the most days"
		if e.Policy.Counts() == beacon.InMinutes {
			first = "that has served there for the longest time"
		}
		return fmt.Sprintf("Each place is paid once, to the hotspot %s. This one shared ground for %s%s with %s.", first, roughly(e), minutes(l.Minutes), older)
	case policy.Unproven:
		if e.Facts.Proof == 0 && e.Approximate {
			return "No visit by someone other than its operator has found the hotspot at its place to 30 m or better. " +
				"Until one does, what its ground earns is not explained, since that would tell where others stand: the rewards have the amounts."
		}
		if e.Facts.Proof == 0 {
			return "No visit by someone other than its operator has found the hotspot at its place to 30 m or better, so nothing is paid yet."
		}
		return fmt.Sprintf("No visit has confirmed in the last %d days that the hotspot stands at its place, so %s of each credit is paid.", beacon.ProofDays,
			beacon.Amount(e.Facts.Proof))
	case policy.Slow:
		if !e.Measured.Any() || e.Measured.AtMost() > e.Facts.Tier {
			return ""
		}
		return fmt.Sprintf("The last visit measured %.4g Mbps down, %.4g up and a latency of %.4g ms, so the hotspot is paid as %s at most, which adds %s per credit of availability; premium would add %s.",
			e.Measured.DownMbps, e.Measured.UpMbps, e.Measured.LatencyMs, e.Facts.Tier, e.Policy.Performance[e.Facts.Tier], e.Policy.Performance[beacon.Premium])
	case policy.Capped:
		return fmt.Sprintf("Its traffic would be worth %s, but this day pays at most %s for traffic.", e.Potential.Utilization, e.Earned.Utilization)
	}
	return ""
}

// excusedInWords says what the excused minutes of a day count for, under a policy that pays
// places.
func excusedInWords(e earnings.Explanation) string {
	f := e.Facts
	switch {
	case f.Ground == (beacon.Ground{}) && e.Open:
		return "What they count for is known when the day is closed."
	case f.Ground == (beacon.Ground{}): // an earlier version closed the day
		return "The day was closed without a record of the hotspot, so nothing was paid for it."
	case e.Uncounted:
		return "What they count for is not known yet: it is being counted for how long the hotspots have served."
	case f.Proof == 0:
		return "What they count for depends on the place, which no visit by someone other than the operator has found to 30 m or better."
	case e.Policy.Counts() == beacon.InMinutes && f.Due == 0:
		return "The hotspot has served in none of these minutes on the days before at its place, so nothing is paid for them."
	case e.Policy.Counts() == beacon.InMinutes:
		return fmt.Sprintf("They count as %s minutes: each as that minute of the day was served on the last seven days on which our service was up in it.",
			beacon.Amount(f.Due))
	case f.Recent == 0:
		return "The hotspot has served in none of the minutes expected of it on the last seven closed days at its place, so nothing is paid for them."
	}
	part := "a whole minute"
	if beacon.Amount(f.Recent) < beacon.Credit {
		part = roughly(e) + beacon.Amount(f.Recent).String() + " of a minute"
	}
	return "Each counts as " + part + ", which is what the hotspot had of an expected minute on the last seven closed days."
}

func roughly(e earnings.Explanation) string {
	if e.Approximate {
		return "about "
	}
	return ""
}

// unexpectedInWords describes minutes in which no service was expected. They cost
// something only if there were no others.
func unexpectedInWords(l policy.Loss, what string) string {
	if l.Amount == (beacon.Earned{}) {
		return fmt.Sprintf(what+". Nothing was expected in that time, so it cost nothing.", minutes(l.Minutes))
	}
	return fmt.Sprintf(what+". A day on which nothing was expected earns no availability.", minutes(l.Minutes))
}

func minutes(n int) string {
	if n == 1 {
		return "1 minute"
	}
	return strconv.Itoa(n) + " minutes"
}

// tabulateExplanation writes one line for the potential, one for each loss and one for
// the earnings.
func tabulateExplanation(_ earnings.ExplainQuery, e earnings.Explanation) *edge.Table {
	t := edge.NewTable("explanation-"+e.Day.String()+".csv",
		"date", "hotspot_id", "line", "reason", "minutes", "availability", "performance", "utilization", "total", "unit", "payment", "hold_id", "approximate")
	approximate := ""
	if e.Approximate {
		approximate = "true"
	}
	add := func(line string, reason policy.Reason, minutes string, amount beacon.Earned, payment earnings.PaymentState, hold beacon.HoldID) {
		t.Line(e.Day.String(), string(e.Hotspot), line, string(reason), minutes, amount.Availability.String(), amount.Performance.String(),
			amount.Utilization.String(), amount.Total().String(), beacon.RewardUnit, string(payment), string(hold), approximate)
	}
	add("potential", "", "", e.Potential, "", "")
	for _, l := range e.Losses {
		minutes := ""
		if l.Minutes > 0 {
			minutes = strconv.Itoa(l.Minutes)
		}
		add("loss", l.Reason, minutes, l.Amount, "", "")
	}
	hold := beacon.HoldID("")
	if e.Hold != nil {
		hold = e.Hold.ID
	}
	add("earned", "", "", e.Earned, e.Payment, hold)
	return t
}
