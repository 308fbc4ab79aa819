package policy

import (
	_ "embed"
	"fmt"
	"io"
	"os"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

//go:embed policies.json
var embedded []byte

// Default returns the policies built into the program.
func Default() Set {
	b, err := Parse(embedded)
	if err != nil {
		panic(err) // the file is built in, and a test reads it
	}
	return b
}

// maxFile is far more than a policy file needs.
const maxFile = 1 << 20

// Load reads a policy file.
func Load(path string) (Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("is larger than %d bytes, so it is not a policy file", maxFile)
	}
	var b Set
	if err == nil {
		b, err = Parse(data)
	}
	if err != nil {
		return nil, fmt.Errorf("policy file %s: %w", path, err)
	}
	return b, nil
}

// The most that a policy may pay. The limits keep every result far from overflowing
// 64 bits, and a typing error from becoming a fortune.
const (
	maxAvailability = 1000 * beacon.Credit
	maxRate         = 10 * beacon.Credit
	maxPerGB        = 100 * beacon.Credit
	maxCap          = 1000 * beacon.Credit
)

// Parse parses a policy file such as policies.json. It refuses whatever it does not
// understand.
func Parse(data []byte) (Set, error) {
	file, err := readObject(data)
	if err != nil {
		return nil, err
	}
	list, ok := file.take("policies").([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("policies: must be an array of at least one policy")
	}
	var b Set
	for i, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("policy %d: must be an object", i+1)
		}
		o := &object{where: fmt.Sprintf("policy %d: ", i+1), fields: fields}
		b = append(b, readPolicy(o))
		if o.check(b); o.err != nil {
			return nil, o.err
		}
	}
	return b, file.done()
}

func readPolicy(o *object) Policy {
	p := Policy{
		Version:      o.whole("version"),
		From:         o.day("effective_from"),
		Availability: o.amount("availability", maxAvailability),
		PerGB:        o.amount("utilization_per_gb", maxPerGB),
		Cap:          o.amount("utilization_cap", maxCap),
	}
	rates := o.inner("performance")
	for tier := range p.Performance {
		p.Performance[tier] = rates.amount(beacon.Tier(tier).String(), maxRate)
	}
	o.fail(rates.done())
	o.fail(o.done())
	return p
}

// check checks the newest policy against the rules and against the one before it.
func (o *object) check(b Set) {
	p, n := &b[len(b)-1], len(b)
	switch {
	case p.Version != n:
		o.failf("version", "must be %d: versions are 1, 2, 3 and so on, without a gap", n)
	case n == 1 && p.From != 0:
		o.failf("effective_from", "must be %s, so that every day has a policy", beacon.Day(0))
	case n > 1 && p.From <= b[n-2].From:
		o.failf("effective_from", "must be after %s, from when on policy %d is in force", b[n-2].From, n-1)
	}
	for tier := 1; tier < len(p.Performance); tier++ {
		if p.Performance[tier] < p.Performance[tier-1] {
			slower := beacon.Tier(tier - 1)
			o.failf("performance."+beacon.Tier(tier).String(), "must not be less than %s, which is for %s",
				p.Performance[slower], slower)
		}
	}
}
