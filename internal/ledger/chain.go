package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// Hash is a SHA-256. Only lines of plain text are hashed, so that anyone can recompute
// a hash with standard tools.
type Hash [sha256.Size]byte

// String returns the hash in hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// IsZero reports whether there is no hash.
func (h Hash) IsZero() bool { return h == Hash{} }

// Append appends the hash in hex.
func (h Hash) Append(out []byte) []byte { return hex.AppendEncode(out, h[:]) }

// ParseHash parses the output of String. It rejects upper case: that would be a different
// text with the same meaning, and so a different hash.
func ParseHash(text string) (h Hash, err error) {
	if len(text) == 2*len(h) {
		if _, err := hex.Decode(h[:], []byte(text)); err == nil && h.String() == text {
			return h, nil
		}
	}
	return Hash{}, fmt.Errorf("%.80q is not a SHA-256 in lower-case hex", text)
}

// Columns names the fields of a row's line.
const Columns = "date,hotspot_id,policy,served_minutes,expected_minutes,closed_minutes,excused_minutes," +
	"outside_minutes,traffic_bytes,performance_tier,availability,performance,utilization"

// groundColumns names the fields that follow in the line of a row whose policy pays places.
var groundColumns = [...]string{
	beacon.InDays:    "owned_minutes,recent_share,proof,days_served,place_lat_e7,place_lng_e7,shared_minutes,shared_with",
	beacon.InMinutes: "owned_minutes,recent_share,proof,standing_minutes,place_lat_e7,place_lng_e7,shared_minutes,shared_with,due_minutes,spare_credits",
}

// GroundColumns returns the names of the fields that say how the ground of a hotspot was
// divided, if standing is counted in the unit.
func GroundColumns(counts beacon.StandingUnit) []string {
	if counts == beacon.NoStanding {
		return nil
	}
	return strings.Split(groundColumns[counts], ",")
}

// ColumnsOf names the fields of a row's line, all but the hold, if standing is counted in
// the unit.
func ColumnsOf(counts beacon.StandingUnit) string {
	return strings.Join(append([]string{Columns}, GroundColumns(counts)...), ",")
}

// HoldColumn names the field that follows in the line of a held row.
const HoldColumn = "hold_id"

// AppendLine appends a row as the line of text that is hashed, without a newline.
// Amounts, owned minutes and shares are in millionths. It is also the row's line in a CSV
// file. A row whose policy pays places has more fields, and the last one of a held row is its
// hold. In the line of a correction the hash takes the hotspot's place, and all numbers are
// negative or zero. In that of an ending the hash of the held row does, and its amount
// follows the hold.
func (r *Row) AppendLine(out []byte) []byte {
	out = r.Day.Time().AppendFormat(out, time.DateOnly)
	out = append(out, ',')
	switch r.Kind {
	case Correction:
		return r.appendCorrection(out)
	case Ending:
		return r.appendEnding(out)
	}
	out = append(out, r.Hotspot...)
	out = appendNumbers(out, int64(r.Policy), int64(r.Served), int64(r.Expected), int64(r.Closed), int64(r.Excused), int64(r.Outside))
	out = strconv.AppendUint(append(out, ','), r.Bytes, 10)
	out = append(append(out, ','), r.Tier.String()...)
	out = appendNumbers(out, int64(r.Availability), int64(r.Performance), int64(r.Utilization))
	out = appendGround(out, &r.Ground)
	if r.Hold != "" {
		out = append(append(out, ','), r.Hold...)
	}
	return out
}

func (r *Row) appendEnding(out []byte) []byte {
	what := beacon.HoldIsReleased
	if r.Void {
		what = beacon.HoldIsVoided
	}
	return fmt.Appendf(out, "%s,0,0,0,0,0,0,0,%s,0,0,0,%s,%d", r.Ends, what, r.Hold, int64(r.Amount))
}

func appendGround(out []byte, g *beacon.Ground) []byte {
	if g.Counts == beacon.NoStanding {
		return out
	}
	out = appendNumbers(out, g.Own, g.Recent, g.Proof, int64(g.Standing), int64(g.Lat), int64(g.Lng), int64(g.Shared), int64(g.Older))
	if g.Counts == beacon.InMinutes {
		out = appendNumbers(out, g.Due, int64(g.Spare))
	}
	return out
}

// appendNumbers appends numbers, each after a comma.
func appendNumbers(out []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		out = strconv.AppendInt(append(out, ','), n, 10)
	}
	return out
}

// GroundText returns the fields of GroundColumns, or "" under a policy that does not pay
// places.
func GroundText(g *beacon.Ground) string {
	return strings.TrimPrefix(string(appendGround(nil, g)), ",")
}

// ParseGround parses the output of GroundText. The number of its fields says in what standing
// is counted.
func ParseGround(text string) (g beacon.Ground, err error) {
	if text == "" {
		return g, nil
	}
	var numbers [10]int64
	fields := strings.Split(text, ",")
	for i, field := range fields[:min(len(fields), len(numbers))] {
		numbers[i], _ = strconv.ParseInt(field, 10, 64) // compared below
	}
	g = beacon.Ground{
		Counts: beacon.InDays, Own: numbers[0], Recent: numbers[1], Proof: numbers[2], Standing: int(numbers[3]),
		Lat: int32(numbers[4]), Lng: int32(numbers[5]), //nolint:gosec // compared below
		Shared: int(numbers[6]), Older: int(numbers[7]), Due: numbers[8], Spare: beacon.Amount(numbers[9]),
	}
	if len(fields) == len(numbers) {
		g.Counts = beacon.InMinutes
	}
	if GroundText(&g) != text {
		return beacon.Ground{}, fmt.Errorf("%.100q is not what a row says of the ground", text)
	}
	return g, nil
}

func (r *Row) appendCorrection(out []byte) []byte {
	s := r.Sum()
	return fmt.Appendf(out, "%s,0,%d,%d,0,0,0,0,correction,%d,%d,%d",
		r.Corrects, s.Served, s.Expected, int64(s.Availability), int64(s.Performance), int64(s.Utilization))
}

// Seed returns the hash that starts the chain of a user's month.
func Seed(user beacon.UserID, month beacon.Month) Hash {
	return sha256.Sum256(fmt.Appendf(nil, "beacon rewards\n%s\n%s\n", user, month))
}

// Next returns the hash of the chain with one more row. It hashes two lines: the
// previous hash in hex, and the row's line.
func (h Hash) Next(r *Row) Hash {
	var buffer [512]byte
	text := append(h.Append(buffer[:0]), '\n')
	text = append(r.AppendLine(text), '\n')
	return sha256.Sum256(text)
}

// Seal returns the hash of a statement. It covers the rows, their sums, the policies
// they were computed by, each a line of text, and the previous statement.
func Seal(previous Hash, m *UserMonth, policies []string) Hash {
	text := fmt.Appendf(nil, "%s\n%s\n", previous, m.Chain)
	text = fmt.Appendf(text, "%s,%s,%d,%d,%d,%d,%d,%d,%d\n", m.User, m.Month, m.Rows, m.Hotspots, m.Served, m.Expected,
		int64(m.Availability), int64(m.Performance), int64(m.Utilization))
	for _, p := range policies {
		text = append(append(text, p...), '\n')
	}
	return sha256.Sum256(text)
}
