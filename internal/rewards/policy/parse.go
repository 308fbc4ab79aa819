package policy

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/ground"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

//go:embed policies.json
var embedded []byte

// Devices returns the policy that pays devices, of networks that began with it and have
// adopted no other.
func Devices() Set { return BuiltIn()[:1:1] }

// Newest returns the newest built-in policy, for such a network to adopt from some day on.
func Newest() Policy {
	all := BuiltIn()
	return all[len(all)-1]
}

// BuiltIn returns the policies of a new network: it pays places from its first day on.
func BuiltIn() Set {
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
	file, err := readObject(string(data))
	if err != nil {
		return nil, err
	}
	var list []map[string]jsontext.Value
	if err := json.Unmarshal(file.take("policies"), &list); err != nil || len(list) == 0 {
		return nil, fmt.Errorf("policies: must be an array of at least one policy")
	}
	var b Set
	for i, fields := range list {
		o := &object{where: fmt.Sprintf("policy %d: ", i+1), fields: fields}
		b = append(b, readPolicy(o))
		if o.check(b); o.err != nil {
			return nil, o.err
		}
	}
	return b, file.done()
}

// ParseTerms parses the terms of one policy: an object of a policy file without version
// and effective_from.
func ParseTerms(data []byte) (Policy, error) {
	o, err := readObject(string(data))
	if err != nil {
		return Policy{}, err
	}
	for _, name := range []string{"version", "effective_from"} {
		if _, given := o.fields[name]; given {
			return Policy{}, fmt.Errorf("%s: must be left out", name)
		}
	}
	o.fields["version"], o.fields["effective_from"] = jsontext.Value("1"), jsontext.Value(`"1970-01-01"`)
	p := readPolicy(o)
	o.check(Set{p})
	return p, o.err
}

// ParseWritten parses the output of AppendJSON.
func ParseWritten(data []byte) (Policy, error) {
	o, err := readObject(string(data))
	if err != nil {
		return Policy{}, err
	}
	o.numbers = true
	return readPolicy(o), o.err
}

// AppendJSON appends the policy as JSON, as statements and responses have it: its amounts
// are numbers, where those of a policy file are texts.
func (p *Policy) AppendJSON(out []byte) []byte {
	out = fmt.Appendf(out, `{"version":%d,"effective_from":%q,"availability":%s`, p.Version, p.From, p.Availability)
	out = fmt.Appendf(out, `,"performance":{"standard":%s,"enhanced":%s,"premium":%s}`,
		p.Performance[beacon.Standard], p.Performance[beacon.Enhanced], p.Performance[beacon.Premium])
	out = fmt.Appendf(out, `,"utilization_per_gb":%s,"utilization_cap":%s`, p.PerGB, p.Cap)
	if p.PaysPlaces() {
		out = fmt.Appendf(out, `,"radius_m":%d,"unproven_share":%s`, p.Radius, p.Unproven)
	}
	if p.StandingADay != 0 {
		out = fmt.Appendf(out, `,"standing_minutes_a_day":%d`, p.StandingADay)
	}
	return append(out, '}')
}

const standingADay = "standing_minutes_a_day"

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
	if _, places := o.fields["radius_m"]; places {
		if p.Radius = o.whole("radius_m"); p.Radius < ground.MinRadiusM || p.Radius > ground.MaxRadiusM {
			o.failf("radius_m", "must be from %d to %d", ground.MinRadiusM, ground.MaxRadiusM)
		}
		if p.Unproven = o.amount("unproven_share", beacon.Credit); p.Unproven == 0 {
			o.failf("unproven_share", "must not be 0")
		}
		if _, minutes := o.fields[standingADay]; minutes {
			if p.StandingADay = o.whole(standingADay); p.StandingADay < 1 || p.StandingADay > beacon.MinutesADay {
				o.failf(standingADay, "must be from 1 to %d", beacon.MinutesADay)
			}
		}
	}
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

// object reads the fields of a JSON object, and keeps the first error. Read the known
// fields, then call done: any field left is unknown.
type object struct {
	where   string // which policy, ending in ": "; empty for the file itself
	path    string // within the policy
	numbers bool   // amounts are numbers, not texts
	fields  map[string]jsontext.Value
	err     error
}

func (o *object) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

func (o *object) failf(name, format string, args ...any) {
	o.fail(&Fault{where: o.where, Field: join(o.path, name), Message: fmt.Sprintf(format, args...)})
}

// Fault is what is wrong with a field of a policy.
type Fault struct {
	where          string
	Field, Message string
}

func (f *Fault) Error() string { return f.where + f.Field + ": " + f.Message }

// join returns the path of a field within a policy, such as performance.premium.
func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// take removes a field and returns its value, or nil if it is absent.
func (o *object) take(name string) jsontext.Value {
	value := o.fields[name]
	delete(o.fields, name)
	return value
}

// text removes a field and returns its text, or "" if it is not a string.
func (o *object) text(name string) (text string) {
	if value := o.take(name); value.Kind() == jsontext.KindString {
		_ = json.Unmarshal(value, &text) // cannot fail: it was checked when it was read
	}
	return text
}

// done returns the first error, or an error for a field that was not read.
func (o *object) done() error {
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		o.failf(name, "is not a field of a policy; check its spelling")
	}
	return o.err
}

func (o *object) whole(name string) int {
	n, err := strconv.ParseUint(string(o.take(name)), 10, 31)
	if err != nil {
		o.failf(name, "must be a whole number such as 1")
	}
	return int(n)
}

func (o *object) day(name string) beacon.Day {
	day, err := beacon.ParseDay(o.text(name))
	if err != nil {
		o.failf(name, "%v", err)
	}
	return day
}

func (o *object) amount(name string, most beacon.Amount) beacon.Amount {
	form, text := `a text such as "0.250000"`, ""
	if o.numbers {
		form, text = "a number such as 0.25", string(o.take(name))
	} else {
		text = o.text(name)
	}
	a, err := beacon.ParseAmount(text)
	if err != nil || a < 0 || a > most {
		o.failf(name, `must be %s: from 0 to %s, with at most six digits after the point`, form, most)
	}
	return a
}

func (o *object) inner(name string) *object {
	inner := &object{where: o.where, path: join(o.path, name), numbers: o.numbers, err: o.err}
	if err := json.Unmarshal(o.take(name), &inner.fields); err != nil || inner.fields == nil {
		o.failf(name, "must be an object")
		inner.err = o.err
	}
	return inner
}

// readObject reads one JSON object with nothing after it, and no name twice in an
// object. Numbers keep their spelling.
func readObject(data string) (*object, error) {
	dec, o := jsontext.NewDecoder(strings.NewReader(data)), &object{}
	err := json.UnmarshalDecode(dec, &o.fields)
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the JSON is incomplete")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return nil, fmt.Errorf("%.80q appears twice in an object", syntax.JSONPointer.LastToken())
	case isSyntax:
		return nil, fmt.Errorf("not valid JSON at byte %d: %w", syntax.ByteOffset, err)
	case err != nil || o.fields == nil:
		return nil, errors.New("must be a JSON object with policies in it")
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the JSON object")
	}
	return o, nil
}
