package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// visitWords are the columns of a list of visits. A line names its hotspot by id or by MAC
// address.
var visitWords = newVocabulary(
	[]string{"hotspot", "mac_address", "lat", "lng", "accuracy_m", "visited_at", "method", "visitor", "note", "moved", "type", reasonColumn},
	[]string{"lat", "lng", "accuracy_m", "visited_at"},
)

// reasonColumn is why a line was refused, in a list of those.
const reasonColumn = "reason"

// VisitColumns are the columns of a list of visits that was refused.
func VisitColumns() []string { return slices.Clone(visitWords.columns) }

// VisitHelp says what they hold, a line each.
const VisitHelp = `  hotspot or mac_address  which hotspot: its id, or the address of its device
  lat, lng                where it was found, in decimal degrees, such as 40.7532
  accuracy_m              how far off that may be, in metres
  visited_at              when, as in 2026-11-14 10:30, in the time zone of this machine,
                          or with one, as in 2026-11-14T10:30:00+01:00; in the last 31 days
  method                  optional; how it was measured; default gps
  visitor, note           optional; for the audit
  moved                   optional; true if it is not where visits found it before
  type                    optional; home, business or public, if it is another than registered
`

// Visit is a line of a list of visits.
type Visit struct {
	hotspot string // its id, or else
	mac     string
	form    client.Verification
	valid   beacon.Verification
}

// Line is the outcome of a line of a list of visits.
type Line struct {
	Outcome
	Place string
	Cells []string // by VisitColumns
}

// ReadVisits reads a list of visits, which is a table, as VisitMapping says.
func ReadVisits(file io.Reader, m Mapping) (Rows, error) {
	text, err := open(file)
	if err != nil {
		return nil, err
	}
	rows, err := table(text, m)
	if err != nil {
		return nil, err
	}
	return m.fill(rows), nil
}

// visit converts a row to a visit, with the rules that the server applies.
func (r row) visit() (Visit, error) {
	if r.fault != "" {
		return Visit{}, errors.New(r.fault)
	}
	var faults rowFaults
	at := func(column string) cell { return cell{r, column, &faults} }
	method := at("method").text()
	if !method.Set {
		method = beacon.Some("gps")
	}
	form := beacon.VerificationForm{
		Lat: at("lat").number(), Lng: at("lng").number(), AccuracyM: at("accuracy_m").number(), Method: method,
		Type: at("type").text(), Moved: at("moved").flag(), VisitedAt: at("visited_at").moment(), Note: remark(at("visitor").text(), at("note").text()),
	}
	v := Visit{hotspot: at("hotspot").text().V, mac: at("mac_address").text().V}
	var err error
	v.valid, err = form.Validate()
	faults.addAll(err)
	if !form.VisitedAt.Set {
		faults.add("visited_at", "is required")
	}
	if _, err := beacon.ParseMAC(v.mac); v.hotspot == "" && err != nil {
		faults.add("mac_address", err.Error()+", or hotspot must be an id")
	}
	if len(faults) > 0 {
		return Visit{}, errors.New(faults.String())
	}
	v.form = client.Verification{
		Lat: v.valid.Point.Lat, Lng: v.valid.Point.Lng, AccuracyM: v.valid.AccuracyM, Method: v.valid.Method,
		Type: client.Type(v.valid.Type), Moved: v.valid.Moved, VisitedAt: &v.valid.At, Note: v.valid.Remark,
	}
	return v, nil
}

// remark joins who was there and what for.
func remark(visitor, note beacon.Opt[string]) beacon.Opt[string] {
	if visitor.Set && note.Set {
		return beacon.Some(visitor.V + ": " + note.V)
	}
	if visitor.Set {
		return visitor
	}
	return note
}

// momentForms are how people and programs write a moment, those without a time zone last.
var momentForms = []string{
	time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04Z07:00",
	"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", "02.01.2006 15:04", "02.01.2006 15:04:05",
}

// moment parses a time.
func (c cell) moment() beacon.Opt[time.Time] {
	text := c.text()
	if !text.Set {
		return beacon.Opt[time.Time]{}
	}
	for _, form := range momentForms {
		if t, err := time.ParseInLocation(form, text.V, time.Local); err == nil && t.Year() < 10_000 {
			return beacon.Some(t.UTC())
		}
	}
	c.faults.add(c.column, "must be a time such as 2026-11-14 10:30 or 2026-11-14T10:30:00+01:00")
	return beacon.Opt[time.Time]{}
}

// Record records a visit, or in a dry run checks it.
type Record func(context.Context, Visit) Outcome

// RecordVisits records the visits of a list, as many at once as there are connections, those
// of one hotspot one after the other, and tells the outcome of each line in order. Without
// record it only checks them. It ends with the first error that is not a line's own, and with
// one of tell. It returns the names of columns that are not used.
func RecordVisits(ctx context.Context, rows Rows, record Record, connections int, tell func(Line) error) (unused []string, err error) {
	ignored, group := names{}, []*visitTask(nil)
	for r, err := range rows {
		if err != nil {
			return ignored.sorted(), errors.Join(finish(group, tell), err)
		}
		ignored.note(r.unused)
		t := &visitTask{row: r}
		t.visit, err = r.visit()
		if err != nil {
			t.outcome = Outcome{Kind: Failed, Text: err.Error()}
		}
		if len(group) == connections || slices.ContainsFunc(group, t.sameHotspot) {
			if err := finish(group, tell); err != nil {
				return ignored.sorted(), err
			}
			group = nil
		}
		group = append(group, t)
		if err == nil && record != nil {
			t.working.Go(func() { t.outcome = record(ctx, t.visit) })
		}
	}
	return ignored.sorted(), finish(group, tell)
}

// visitTask is a line being processed.
type visitTask struct {
	row     row
	visit   Visit
	outcome Outcome
	working sync.WaitGroup
}

func (t *visitTask) sameHotspot(other *visitTask) bool {
	return t.visit.hotspot == other.visit.hotspot && t.visit.mac == other.visit.mac
}

// finish waits for lines and tells their outcomes.
func finish(group []*visitTask, tell func(Line) error) error {
	for _, t := range group {
		t.working.Wait()
	}
	for _, t := range group {
		if t.outcome.err != nil {
			return fmt.Errorf("line %s: %w; to go on, run the same list again", t.row.place(), t.outcome.err)
		}
		cells := make([]string, len(visitWords.columns))
		for i, column := range visitWords.columns {
			cells[i] = t.row.cells[column]
		}
		cells[slices.Index(visitWords.columns, reasonColumn)] = t.outcome.Text
		if err := tell(Line{t.outcome, t.row.place(), cells}); err != nil {
			return err
		}
	}
	return nil
}

// Staff is a server to record visits at.
type Staff struct{ client *client.Client }

// ConnectStaff checks the key.
func ConnectStaff(ctx context.Context, url, key string, connections int) (*Staff, error) {
	c, _, err := connect(ctx, "beacon-verify", url, key, client.ScopeHotspotsVerify, connections)
	return &Staff{c}, err
}

// Record records a visit. Its idempotency key is derived from what it says, and the server
// refuses one that was made before the last that is recorded, so it counts once.
func (s *Staff) Record(ctx context.Context, v Visit) Outcome {
	id, err := s.find(ctx, v)
	if err != nil {
		return judgeVisit(err)
	}
	text, err := json.Marshal(v.form)
	if err != nil {
		return Outcome{err: err}
	}
	sum := sha256.Sum256(append([]byte(id+" "), text...))
	v.form.IdempotencyKey = "visit-" + hex.EncodeToString(sum[:])
	found, err := s.client.VerifyHotspot(ctx, id, v.form)
	if err == nil && found.Replayed {
		return Outcome{Kind: Present}
	}
	return judgeVisit(err)
}

// Check says of a visit what can be said without recording it: whether there is such a
// hotspot, and whether it is where it is registered.
func (s *Staff) Check(ctx context.Context, v Visit) Outcome {
	id, err := s.find(ctx, v)
	if err != nil {
		return judgeVisit(err)
	}
	there, err := s.client.Hotspot(ctx, id)
	if err != nil {
		return judgeVisit(err)
	}
	var h beacon.Hotspot
	h.Location.Point.Lat, h.Location.Point.Lng = there.Location.Lat, there.Location.Lng
	if e, ok := errors.AsType[*beacon.Error](v.valid.Against(h).Err()); ok {
		return Outcome{Kind: Failed, Text: e.Message}
	}
	return Outcome{Kind: Registered}
}

// find returns the id of the hotspot that was visited.
func (s *Staff) find(ctx context.Context, v Visit) (string, error) {
	if v.hotspot != "" {
		return v.hotspot, nil
	}
	page, err := s.client.ListHotspotsPage(ctx, client.ListQuery{MACAddress: v.mac}, client.PageQuery{})
	if err != nil {
		return "", err
	}
	if len(page.Items) == 0 {
		return "", errNoDevice
	}
	return page.Items[0].ID, nil
}

var errNoDevice = &client.Error{Status: http.StatusNotFound, Message: "no hotspot has this MAC address"}

// judgeVisit distinguishes what is wrong with a line from what affects everything.
func judgeVisit(err error) Outcome {
	e, refused := errors.AsType[*client.Error](err)
	switch {
	case err == nil:
		return Outcome{Kind: Registered}
	case !refused || e.Status == http.StatusUnauthorized || e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError:
		return Outcome{err: err}
	case e.Status == http.StatusConflict && slices.ContainsFunc(e.Details, func(f client.FieldError) bool { return f.Field == "visited_at" }):
		return Outcome{Kind: Present}
	}
	return Outcome{Kind: Failed, Text: e.Message}
}

// VisitMapping says how a list of visits is read: see Mapping.
func VisitMapping(from, set map[string]string) Mapping {
	return Mapping{words: visitWords, From: from, Set: set}
}
