package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
	"github.com/beacon-wifi/beacon/internal/rewards/statement"
)

func decodeExplain(r *http.Request, q *query) rewards.ExplainQuery {
	return rewards.ExplainQuery{Hotspot: beacon.HotspotID(r.PathValue("id")), Day: q.day("date")}
}

// explanation says why a day earned what it did (decision X6). The losses and the
// earnings add up to the potential.
type explanation struct {
	HotspotID beacon.HotspotID `json:"hotspot_id"`
	Date      beacon.Day       `json:"date"`
	Unit      string           `json:"unit"`
	Open      bool             `json:"open"`
	Status    rewards.Status   `json:"status"`
	Policy    json.RawMessage  `json:"policy"`
	Facts     dayFacts         `json:"facts"`
	Potential amounts          `json:"potential"`
	Losses    []loss           `json:"losses"`
	Earned    amounts          `json:"earned"`

	Payment rewards.PaymentState `json:"payment"`
	Hold    *hold                `json:"hold,omitempty"`
}

type dayFacts struct {
	Served   int    `json:"served_minutes"`
	Expected int    `json:"expected_minutes"`
	Closed   int    `json:"closed_minutes"`
	Excused  int    `json:"excused_minutes"`
	Outside  int    `json:"outside_minutes"`
	Bytes    uint64 `json:"traffic_bytes"`
	Tier     string `json:"performance_tier"`
	*groundFacts
}

// groundFacts are for a policy that pays places.
type groundFacts struct {
	Own    beacon.Amount `json:"owned_minutes"`
	Recent beacon.Amount `json:"recent_share"`
	Proof  beacon.Amount `json:"proof"`
	Days   int           `json:"days_served"`
	Lat    int32         `json:"place_lat_e7"`
	Lng    int32         `json:"place_lng_e7"`
	Shared int           `json:"shared_minutes"`
	Older  int           `json:"shared_with"`
}

type amounts struct {
	breakdown
	Total beacon.Amount `json:"total"`
}

// breakdown is what was earned, by component.
type breakdown struct {
	Availability beacon.Amount `json:"availability"`
	Performance  beacon.Amount `json:"performance"`
	Utilization  beacon.Amount `json:"utilization"`
}

type loss struct {
	Reason  policy.Reason `json:"reason"`
	Minutes int           `json:"minutes,omitempty"`
	amounts
	Explanation string `json:"explanation"`
}

func showAmounts(e beacon.Earned) amounts { return amounts{breakdown(e), e.Total()} }

func showPolicy(p *policy.Policy) json.RawMessage { return statement.AppendPolicy(nil, p) }

func showFacts(f beacon.Facts) dayFacts {
	shown := dayFacts{f.Served, f.Expected, f.Closed, f.Excused, f.Outside, f.Bytes, f.Tier.String(), nil}
	if g := f.Ground; g.Proof != 0 {
		shown.groundFacts = &groundFacts{
			beacon.Amount(g.Own), beacon.Amount(g.Recent), beacon.Amount(g.Proof), g.Days, g.Lat, g.Lng, g.Shared, g.Older,
		}
	}
	return shown
}

func encodeExplanation(_ http.Header, e rewards.Explanation) payload {
	out := explanation{
		HotspotID: e.Hotspot, Date: e.Day, Unit: beacon.RewardUnit, Open: e.Open, Status: e.Status, Policy: showPolicy(e.Policy),
		Facts: showFacts(e.Facts), Potential: showAmounts(e.Potential), Losses: []loss{}, Earned: showAmounts(e.Earned),
		Payment: e.Payment,
	}
	for _, l := range e.Losses {
		out.Losses = append(out.Losses, loss{l.Reason, l.Minutes, showAmounts(l.Amount), inWords(e, l)})
	}
	if e.Hold != nil {
		out.Hold = new(showHold(*e.Hold))
	}
	return payload{Data: out}
}

// inWords describes a loss.
func inWords(e rewards.Explanation, l policy.Loss) string {
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
func placesInWords(e rewards.Explanation, l policy.Loss) string {
	switch l.Reason {
	case policy.Outside:
		return fmt.Sprintf("The hotspot was not in service for %s: not yet, or no longer, verified and linked.", minutes(l.Minutes))
	case policy.Closed:
		return fmt.Sprintf("Its operating hours closed the hotspot for %s. Each minute on the air is paid, and no other.", minutes(l.Minutes))
	case policy.Excused:
		return fmt.Sprintf("Our own service was down for %s. Each counts as %s of a minute, which is what the hotspot had of an expected minute on its last seven days.",
			minutes(l.Minutes), beacon.Amount(e.Facts.Recent))
	case policy.Offline:
		return fmt.Sprintf("The hotspot was expected for %s and sent no heartbeat in %d of them.", minutes(e.Facts.Expected), l.Minutes)
	case policy.Shared:
		if e.Facts.Older == 0 {
			return "Who is paid for this ground is not known yet: it is being counted on how many days the hotspots have served."
		}
		older := "1 older hotspot"
		if e.Facts.Older != 1 {
			older = strconv.Itoa(e.Facts.Older) + " older hotspots"
		}
		return fmt.Sprintf("Each place is paid once, to the hotspot that has served there on the most days. This one shared ground for %s with %s.",
			minutes(l.Minutes), older)
	case policy.Unproven:
		return fmt.Sprintf("No visit has confirmed in the last 365 days that the hotspot stands at its place, so %s of each credit is paid.",
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
func tabulateExplanation(_ rewards.ExplainQuery, e rewards.Explanation) *table {
	t := newTable("explanation-"+e.Day.String()+".csv",
		"date", "hotspot_id", "line", "reason", "minutes", "availability", "performance", "utilization", "total", "unit", "payment", "hold_id")
	add := func(line string, reason policy.Reason, minutes string, amount beacon.Earned, payment rewards.PaymentState, hold beacon.HoldID) {
		t.line(e.Day.String(), string(e.Hotspot), line, string(reason), minutes, amount.Availability.String(), amount.Performance.String(),
			amount.Utilization.String(), amount.Total().String(), beacon.RewardUnit, string(payment), string(hold))
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
