package beacon

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/beacon-wifi/beacon/internal/netrange"
)

// Restrictions say where a key may be used, and whether it is for everyone to see
// (decision D107). They never change. The zero value restricts nothing.
type Restrictions struct {
	Origins     []string       // of web pages; empty: any, and none
	Addresses   []netip.Prefix // of clients; empty: any
	Publishable bool           // it may only read what is public
}

// MaxRestrictions is how many origins, and how many ranges, a key may have.
const MaxRestrictions = 20

// Any reports whether there is a restriction.
func (r *Restrictions) Any() bool {
	return r.Publishable || len(r.Origins) > 0 || len(r.Addresses) > 0
}

// Admits reports whether a key may be used by a page of an origin, or by no page if
// origin is empty, from an address.
func (r *Restrictions) Admits(origin string, addr netip.Addr) bool {
	if len(r.Origins) > 0 && !slices.Contains(r.Origins, origin) {
		return false
	}
	if len(r.Addresses) == 0 {
		return true
	}
	addr = netrange.Plain(addr)
	return slices.ContainsFunc(r.Addresses, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// Within reports whether r admits nothing that outer does not admit.
func (r *Restrictions) Within(outer *Restrictions) bool {
	if outer.Publishable && !r.Publishable || len(outer.Origins) > 0 && len(r.Origins) == 0 || len(outer.Addresses) > 0 && len(r.Addresses) == 0 {
		return false
	}
	for _, origin := range r.Origins {
		if len(outer.Origins) > 0 && !slices.Contains(outer.Origins, origin) {
			return false
		}
	}
	for _, inner := range r.Addresses {
		covers := func(p netip.Prefix) bool { return p.Bits() <= inner.Bits() && p.Contains(inner.Addr()) }
		if len(outer.Addresses) > 0 && !slices.ContainsFunc(outer.Addresses, covers) {
			return false
		}
	}
	return true
}

const maxOrigin = 255

// ParseOrigin returns an origin as browsers spell it: a scheme and a host in lower case,
// and a port unless it is the usual one of the scheme.
func ParseOrigin(text string) (string, error) {
	wrong := fmt.Errorf("must be origins such as https://app.example.org; %.60q is not", text)
	u, err := url.Parse(strings.ToLower(strings.TrimSpace(text)))
	if err != nil || len(text) > maxOrigin || u.Scheme == "" || u.Hostname() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", wrong
	}
	origin := u.Scheme + "://" + u.Host
	for _, c := range []byte(origin) {
		if c <= ' ' || c > '~' || strings.IndexByte(`"%'*,;<>\^{|}#`, c) >= 0 {
			return "", wrong
		}
	}
	if usual := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; usual != "" {
		origin = strings.TrimSuffix(origin, usual)
	}
	return strings.TrimSuffix(origin, ":"), nil
}

// ParseOrigins reads origins, each once, sorted.
func ParseOrigins(texts []string) ([]string, error) {
	return parseEach(texts, ParseOrigin, strings.Compare)
}

// ParseAddresses reads addresses and ranges, each once, sorted.
func ParseAddresses(texts []string) ([]netip.Prefix, error) {
	return parseEach(texts, netrange.Parse, netip.Prefix.Compare)
}

func parseEach[T comparable](texts []string, parse func(string) (T, error), compare func(a, b T) int) (all []T, err error) {
	if len(texts) > MaxRestrictions {
		return nil, fmt.Errorf("must not be more than %d", MaxRestrictions)
	}
	for _, text := range texts {
		one, err := parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, compare)
	return slices.Compact(all), nil
}

const (
	publishableWord = "publishable"
	originWord      = "origin="
	addressWord     = "address="
)

// String returns the restrictions as words with blanks between, as databases store them.
func (r *Restrictions) String() string {
	var words []string
	if r.Publishable {
		words = append(words, publishableWord)
	}
	for _, origin := range r.Origins {
		words = append(words, originWord+origin)
	}
	for _, network := range r.Addresses {
		words = append(words, addressWord+network.String())
	}
	return strings.Join(words, " ")
}

// ParseRestrictions reads what String returned. An unknown word is an error: a key must
// not be used where a newer version would refuse it.
func ParseRestrictions(text string) (r Restrictions, err error) {
	for word := range strings.FieldsSeq(text) {
		origin, isOrigin := strings.CutPrefix(word, originWord)
		address, isAddress := strings.CutPrefix(word, addressWord)
		switch {
		case word == publishableWord:
			r.Publishable = true
		case isOrigin:
			r.Origins = append(r.Origins, origin)
		case isAddress:
			network, err := netrange.Parse(address)
			if err != nil {
				return r, err
			}
			r.Addresses = append(r.Addresses, network)
		default:
			return r, fmt.Errorf("an unknown restriction %.40q", word)
		}
	}
	return r, nil
}
