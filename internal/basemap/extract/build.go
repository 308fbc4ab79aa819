package extract

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/clock"
)

// DefaultFrom is Protomaps' builds of the whole Earth, of which there is one a day (decision
// D237).
const DefaultFrom = "https://build.protomaps.com/{date}.pmtiles"

// dateMark is replaced by the day of a build, as in 20261119.
const dateMark = "{date}"

// daysBack is how many days are tried: those who make daily builds keep them for about a week.
const daysBack = 10

// addresses returns where the build may be, the newest first. The one of a download that
// was cut comes before all: it goes on while the server has it.
func addresses(from string, now time.Time, begun string) (all []*url.URL, err error) {
	for back := range daysBack {
		text := strings.ReplaceAll(from, dateMark, now.UTC().AddDate(0, 0, -back).Format("20060102"))
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("%q is not an address of a build, such as %s", from, DefaultFrom)
		}
		if all = append(all, u); public(u) == begun {
			all[0], all[back] = all[back], all[0]
		}
		if text == from {
			break
		}
	}
	return all, nil
}

// public returns an address without what may be secret in it.
func public(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// find opens the first build that is there.
func find(ctx context.Context, o Order, begun string) (*source, error) {
	all, err := addresses(o.From, o.Now, begun)
	if err != nil {
		return nil, err
	}
	client := newClient()
	for _, u := range all {
		s := &source{ctx: ctx, client: client, url: u, pause: clock.Pause, quiet: silence}
		if o.pause != nil {
			s.pause, s.quiet = o.pause, o.quiet
		}
		err := s.open()
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, errNotThere) || len(all) == 1 {
			return nil, fmt.Errorf("%s: %w", public(u), err)
		}
	}
	return nil, fmt.Errorf("%s has no build of the last %d days: name another with --from", all[0].Host, daysBack)
}
