package hotspots

import (
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// ScanBeat parses the body of a heartbeat as devices write it: an object of known
// members, each at most once, with plain numbers and a boot_id without escapes. It
// reports false for everything else, valid or not; then the general parser decides. It
// checks only the form: the domain checks the values.
func ScanBeat(body []byte, form *beacon.HeartbeatForm) bool {
	s := Scanner{Rest: body}
	if !s.members(func(name []byte) bool { return s.beatMember(name, form) }) {
		return false
	}
	s.skip()
	return len(s.Rest) == 0
}

func (s *Scanner) beatMember(name []byte, form *beacon.HeartbeatForm) bool {
	switch string(name) {
	case "boot_id":
		return s.textInto(&form.BootID)
	case "counter_epoch":
		return s.textInto(&form.CounterEpoch)
	case "counter_bits":
		return s.Number(&form.CounterBits)
	case "seq":
		return s.Number(&form.Seq)
	case "clients":
		return s.Number(&form.Clients)
	case "rx_bytes":
		return s.Number(&form.RxBytes)
	case "tx_bytes":
		return s.Number(&form.TxBytes)
	case "rssi_dbm":
		return s.Number(&form.RSSI)
	case "speedtest":
		if form.SpeedTest.Set {
			return false
		}
		form.SpeedTest.Set = true
		return s.members(func(name []byte) bool { return s.testMember(name, &form.SpeedTest.V) })
	}
	return false
}

func (s *Scanner) testMember(name []byte, form *beacon.SpeedTestForm) bool {
	switch string(name) {
	case "down_mbps":
		return s.Number(&form.DownMbps)
	case "up_mbps":
		return s.Number(&form.UpMbps)
	case "latency_ms":
		return s.Number(&form.LatencyMs)
	}
	return false
}

// Scanner holds the input that is left to read.
type Scanner struct {
	Rest []byte
}

// skip skips white space.
func (s *Scanner) skip() {
	for len(s.Rest) > 0 {
		switch s.Rest[0] {
		case ' ', '\t', '\n', '\r':
			s.Rest = s.Rest[1:]
		default:
			return
		}
	}
}

// take skips white space and reads the character c, if it is next.
func (s *Scanner) take(c byte) bool {
	s.skip()
	if len(s.Rest) == 0 || s.Rest[0] != c {
		return false
	}
	s.Rest = s.Rest[1:]
	return true
}

// members reads an object. It calls member to read each value.
func (s *Scanner) members(member func(name []byte) bool) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		name, ok := s.text()
		if !ok || !s.take(':') || !member(name) {
			return false
		}
		if !s.take(',') {
			return s.take('}')
		}
	}
}

// text reads a string of printable ASCII without escapes.
func (s *Scanner) text() (text []byte, ok bool) {
	if !s.take('"') {
		return nil, false
	}
	for i, c := range s.Rest {
		switch {
		case c == '"':
			text, s.Rest = s.Rest[:i], s.Rest[i+1:]
			return text, true
		case c < ' ' || c > '~' || c == '\\':
			return nil, false
		}
	}
	return nil, false
}

func (s *Scanner) textInto(to *beacon.Opt[string]) bool {
	text, ok := s.text()
	if !ok || to.Set {
		return false
	}
	*to = beacon.Some(string(text))
	return true
}

// powers are the powers of ten that numbers are scaled by. A float64 holds each exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// Number reads a number of few digits without an exponent. The digits and the power of
// ten are both exact in a float64, so one division rounds as strconv does.
func (s *Scanner) Number(to *beacon.Opt[float64]) bool {
	s.skip()
	text, negative := s.Rest, false
	if len(text) > 0 && text[0] == '-' {
		text, negative = text[1:], true
	}
	whole, digits := digitsOf(text)
	if digits == 0 || digits > 1 && text[0] == '0' {
		return false
	}
	text = text[digits:]
	fraction := 0
	if len(text) > 0 && text[0] == '.' {
		var more uint64
		if more, fraction = digitsOf(text[1:]); fraction == 0 {
			return false
		}
		text = text[1+fraction:]
		if digits+fraction >= len(powers) {
			return false
		}
		whole = whole*uint64(powers[fraction]) + more
	}
	if to.Set || digits >= len(powers) || whole > 1<<53 || len(text) > 0 && (text[0] == 'e' || text[0] == 'E') {
		return false
	}
	value := float64(whole) / powers[fraction]
	if negative {
		value = -value
	}
	*to = beacon.Some(value)
	s.Rest = text
	return true
}

// digitsOf reads leading digits and returns their value and count. The value is
// meaningless for more than 19 digits.
func digitsOf(text []byte) (value uint64, digits int) {
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		value = value*10 + uint64(text[digits]-'0')
		digits++
	}
	return value, digits
}
