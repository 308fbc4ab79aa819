package policy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// ParseLine parses the output of Line.
func ParseLine(line string) (Policy, error) {
	words := strings.Split(line, ",")
	const fields = 9
	if len(words) != fields || words[0] != "policy" {
		return Policy{}, fmt.Errorf("%.100q is not a policy", line)
	}
	version, err := strconv.Atoi(words[1])
	if err != nil {
		return Policy{}, fmt.Errorf("%.100q has no version", line)
	}
	p := Policy{Version: version}
	if p.From, err = beacon.ParseDay(words[2]); err != nil {
		return Policy{}, fmt.Errorf("%.100q: the first day %w", line, err)
	}
	amounts := []*beacon.Amount{&p.Availability, &p.Performance[0], &p.Performance[1], &p.Performance[2], &p.PerGB, &p.Cap}
	for i, amount := range amounts {
		n, err := strconv.ParseInt(words[3+i], 10, 64)
		if err != nil {
			return Policy{}, fmt.Errorf("%.100q: %q is not an amount", line, words[3+i])
		}
		*amount = beacon.Amount(n)
	}
	if p.Line() != line {
		return Policy{}, fmt.Errorf("%.100q is not written as a policy", line)
	}
	return p, nil
}
