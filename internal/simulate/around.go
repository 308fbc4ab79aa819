package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/client"
)

// Around is where hotspots are simulated: within some kilometres of a place. The zero value is
// all over New York.
type Around struct{ Lat, Lng, KM float64 }

const (
	usualKM = 3
	leastKM = 0.1
	mostKM  = 100
)

// ParseAround reads LAT,LNG or LAT,LNG,KM.
func ParseAround(text string) (Around, error) {
	parts := strings.Split(text, ",")
	numbers := []float64{0, 0, usualKM}
	for i, part := range parts {
		var err error
		if i >= len(numbers) || len(parts) < 2 {
			return Around{}, errAround
		} else if numbers[i], err = strconv.ParseFloat(strings.TrimSpace(part), 64); err != nil {
			return Around{}, errAround
		}
	}
	a := Around{numbers[0], numbers[1], numbers[2]}
	if !(math.Abs(a.Lat) <= 85 && math.Abs(a.Lng) <= 180 && a.KM >= leastKM && a.KM <= mostKM) {
		return Around{}, errAround
	}
	return a, nil
}

var errAround = fmt.Errorf("must look like 52.52,13.405 or 52.52,13.405,5: degrees, and %g to %g km", leastKM, float64(mostKM))

const kmPerDegree = 111.195

// place returns a place, with more of them near the middle.
func (a Around) place(c *chance) client.Place {
	if a == (Around{}) {
		where := pick(c, neighbourhoods)
		return client.Place{Lat: roundTo(where[0]+0.006*c.normal(), 6), Lng: roundTo(where[1]+0.008*c.normal(), 6)}
	}
	north, east := c.normal()/2, c.normal()/2
	for math.Hypot(north, east) > 1 {
		north, east = c.normal()/2, c.normal()/2
	}
	lat := a.Lat + north*a.KM/kmPerDegree
	lng := a.Lng + east*a.KM/(kmPerDegree*math.Cos(lat*math.Pi/180))
	return client.Place{Lat: roundTo(lat, 6), Lng: roundTo(math.Remainder(lng, 360), 6)}
}

// clock returns the time zone there, by the sun, and how far it is ahead of the one in New York.
func (a Around) clock() (zone string, east time.Duration) {
	if a == (Around{}) {
		return "America/New_York", 0
	}
	hours := int(math.Round(a.Lng / 15))
	return strings.TrimSuffix(fmt.Sprintf("Etc/GMT%+d", -hours), "+0"), time.Duration(hours)*time.Hour - eastern*time.Second
}

// Around asks the server where its network is: what staff show at first, or else where hotspots
// are; of these the one that is nearest to the middle, so that one far away does not matter. It
// returns false if the network is still nowhere.
func (c *Client) Around(ctx context.Context) (a Around, known bool, err error) {
	var settings client.NetworkSettings
	var some client.Page[client.HotspotListed]
	err = c.repeating(ctx, func() (err error) {
		settings, err = c.api.NetworkSettings(ctx)
		return err
	})
	if err == nil {
		err = c.repeating(ctx, func() (err error) {
			some, err = c.api.ListHotspotsPage(ctx, client.ListQuery{}, client.PageQuery{PerPage: 100})
			return err
		})
	}
	if err != nil {
		return a, false, fmt.Errorf("ask where the network is: %w", err)
	}
	if view := settings.StartView; view != nil {
		const aroundEarthKM = 40_030
		km := aroundEarthKM * math.Cos(view.Lat*math.Pi/180) / math.Exp2(view.Zoom) / 2
		return Around{view.Lat, view.Lng, min(max(km, leastKM), 20)}, true, nil
	}
	if len(some.Items) == 0 {
		return a, false, nil
	}
	places := make([]client.Place, len(some.Items))
	for i, h := range some.Items {
		places[i] = client.Place{Lat: h.Location.Lat, Lng: h.Location.Lng}
	}
	return middleOf(places), true, nil
}

// middleOf returns the place that has half of the others nearest to it, with twice as much around
// it.
func middleOf(places []client.Place) Around {
	best := Around{KM: math.Inf(1)}
	for _, p := range places {
		away := make([]float64, len(places))
		for i, other := range places {
			east := math.Remainder(other.Lng-p.Lng, 360) * math.Cos(p.Lat*math.Pi/180)
			away[i] = kmPerDegree * math.Hypot(other.Lat-p.Lat, east)
		}
		slices.SortFunc(away, cmp.Compare[float64])
		if km := 2 * away[len(away)/2]; km < best.KM {
			best = Around{p.Lat, p.Lng, km}
		}
	}
	best.KM = min(max(best.KM, 1), 20)
	return best
}

// simulatedSSID is the network name of all simulated hotspots.
const simulatedSSID = "Simulated Wi-Fi"

var simulatedName = regexp.MustCompile(`^Simulated (?:home|business|public) (\d+)$`)

// isSimulated reports whether a simulation has registered a hotspot, with whatever seed and key:
// its network has the name that they have, and the number in its name is that in its MAC
// address. One that someone has renamed is theirs now.
func isSimulated(h *client.Hotspot) bool {
	found := simulatedName.FindStringSubmatch(h.Name)
	if found == nil || h.Device.SSID != simulatedSSID {
		return false
	}
	number, err := strconv.Atoi(found[1])
	return err == nil && number > 0 && number <= 1<<24 && sameNumber(h.Device.MACAddress, macOf(0, number-1))
}

// sameNumber compares two MAC addresses without what is of the seed.
func sameNumber(a, b string) bool {
	const seedFrom, seedTo = len("02:"), len("02:00:00:")
	a, b = strings.ToLower(a), strings.ToLower(b)
	return len(a) == len(b) && a[:seedFrom] == b[:seedFrom] && a[seedTo:] == b[seedTo:]
}

// Clean deletes all hotspots that simulations have registered on the server, and calls deleted
// after each. It needs an admin's key.
func (c *Client) Clean(ctx context.Context, deleted func()) error {
	var named []string
	first := ""
	for cursor := &first; cursor != nil; {
		err := c.repeating(ctx, func() error {
			page, err := c.api.ListHotspotsPage(ctx, client.ListQuery{Text: "Simulated "}, client.PageQuery{PerPage: 100, Cursor: *cursor})
			if err != nil {
				return err
			}
			for _, h := range page.Items {
				if simulatedName.MatchString(h.Name) {
					named = append(named, h.ID)
				}
			}
			cursor = page.Next
			return nil
		})
		if err != nil {
			return fmt.Errorf("look for simulated hotspots: %w", err)
		}
	}
	return c.each(ctx, len(named), func(ctx context.Context, i int) error {
		err := c.repeating(ctx, func() error {
			h, err := c.api.Hotspot(ctx, named[i])
			if err != nil || !isSimulated(&h) {
				return err
			}
			if err := c.api.DeleteHotspot(ctx, h.ID, h.ETag); err != nil {
				return err
			}
			deleted()
			return nil
		})
		if errors.Is(err, client.ErrNotFound) { // somebody else was faster
			return nil
		}
		return err
	})
}
