package edge

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/id"
)

// listKind is a kind of list, and of its cursors (decision D109). A cursor names the last
// item of a page, so the next page begins after that item whatever is added or removed
// meanwhile. It contains nothing that its holder has not seen.
type listKind struct {
	letter string                  // begins its cursors: one of another list is refused
	valid  func(place string) bool // whether a place can be one of this list
}

var (
	OwnedList  = listKind{"o", isHotspot}
	StaffList  = listKind{"s", isHotspot}
	KeyList    = listKind{"k", func(place string) bool { _, err := beacon.ParseKeyPlace(place); return err == nil }}
	HoldList   = listKind{"h", func(place string) bool { return id.Valid(beacon.HoldPrefix, place) }}
	FlagList   = listKind{"f", func(place string) bool { _, err := beacon.ParseFlagPlace(place); return err == nil }}
	PeopleList = listKind{"p", func(place string) bool { return id.Valid(beacon.PersonPrefix, place) }}
	MonthsList = listKind{"m", func(place string) bool { _, err := beacon.ParseMonth(place); return err == nil }}
)

func isHotspot(place string) bool { return id.Valid(beacon.HotspotPrefix, place) }

// Page reads the requested page of a list: its number, or the cursor that the page before
// ended with.
func (q *Query) Page(kind listKind) beacon.Page {
	p := beacon.Page{
		Number: q.Whole("page", 1, math.MaxInt, 1),
		Size:   q.Whole("per_page", 1, maxPerPage, defaultPerPage),
	}
	text, ok := q.Get("cursor")
	if !ok {
		return p
	}
	if _, given := q.find("page"); given > 0 {
		q.Faults.Add("page", "must not be given together with cursor")
	}
	if p.Number, p.After, ok = kind.read(text); !ok {
		q.Faults.Add("cursor", "must be the next of an earlier page of the same list")
	}
	return p
}

// MaxCursor is far longer than any cursor.
const MaxCursor = 200

// read splits a cursor into the number of the page and the place that it begins after.
func (k listKind) read(text string) (number int, after string, ok bool) {
	plain, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(text) > MaxCursor {
		return 0, "", false
	}
	parts := strings.SplitN(string(plain), " ", 3)
	if len(parts) != 3 || parts[0] != k.letter {
		return 0, "", false
	}
	number, err = strconv.Atoi(parts[1])
	return number, parts[2], err == nil && number > 1 && k.valid(parts[2])
}

// next returns the cursor after a page that ends at a place, or nil if the list ends with
// it. After a cursor it is not known how many items are before the page, so a list may
// also end with an empty one.
func (k listKind) next(p beacon.Page, total, items int, place string) *string {
	if items < p.Size || p.After == "" && p.Offset()+items >= total {
		return nil
	}
	return new(base64.RawURLEncoding.EncodeToString([]byte(k.letter + " " + strconv.Itoa(p.Number+1) + " " + place)))
}
