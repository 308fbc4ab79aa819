package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// What a replay may cost a server (decision D147).
const (
	replayTime     = 10 * time.Minute
	maxReplayRows  = 3_000_000
	replayBusyTime = 10 * time.Second
)

// newReplays returns the counter of replays: one at once.
func newReplays() *concurrencyLimit {
	taken := busy(beacon.Overloaded, replayBusyTime, "this server is replaying days for someone already; try again when that is done")
	return newConcurrencyLimit(1, 1, taken, taken, taken)
}

func decodeReplay(_ *http.Request, o *object) (rewards.ReplayQuery, error) {
	q := rewards.ReplayQuery{MaxRows: maxReplayRows}
	from, to := o.text("from"), o.text("to")
	terms := member(o, "policy", jsontext.KindBeginObject, "must be an object", func(v jsontext.Value) (jsontext.Value, error) { return v, nil })
	var f beacon.Faults
	day := func(text beacon.Opt[string], name string) (d beacon.Day) {
		if t, ok := beacon.Required(text, name, &f); ok {
			var err error
			d, err = beacon.ParseDay(t)
			f.Check(name, err)
		}
		return d
	}
	q.From, q.To = day(from, "from"), day(to, "to")
	if data, ok := beacon.Optional(terms, "policy", &f); ok {
		p, err := policy.ParseTerms(data)
		if fault, ok := errors.AsType[*policy.Fault](err); ok {
			f.Add("policy."+fault.Field, fault.Message)
		} else {
			f.Check("policy", err)
		}
		q.Policy = &p
	}
	return q, o.conclude(f.Err)
}

// replay says what closed days would have earned (decision D147). Each day is sent once it
// is computed, so that the client sees how far it is; when the client leaves, it ends.
func (a *API) replay(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	q, err := fromBody(decodeReplay)(w, r)
	if err != nil {
		return err
	}
	if err := a.replays.join(p, 1); err != nil {
		return err
	}
	defer a.replays.leave(p)
	d, m := a.download(w), a.meta(w)
	return d.send(r, replayTime, func(ctx context.Context, out io.Writer) error {
		next := `{"data":{"from":"` + q.From.String() + `","to":"` + q.To.String() + `","unit":"` + beacon.RewardUnit + `","days":[`
		done, err := a.rewards.Replay(ctx, q, func(day rewards.ReplayedDay) error {
			piece := []byte(next)
			if next = ""; day.Done {
				piece, next = appendReplayedDay(piece, &day), ","
			}
			if len(piece) == 0 {
				return nil
			}
			_, err := d.Write(piece)
			return err
		})
		if err != nil {
			return err
		}
		return writeReplay(out, done, m)
	})
}

func appendReplayedDay(out []byte, d *rewards.ReplayedDay) []byte {
	out = append(append(append(out, `{"date":"`...), d.Day.String()...), `","rows":`...)
	return append(appendReplayed(strconv.AppendInt(out, int64(d.Rows), 10), d.Was, d.Is), '}')
}

// appendReplayed writes what was earned and what would have been, as members of an object.
func appendReplayed(out []byte, was, is beacon.Earned) []byte {
	out = was.Total().Append(append(out, `,"earned":`...))
	out = appendBreakdown(append(out, `,"breakdown":`...), was)
	out = is.Total().Append(append(out, `,"replayed":`...))
	return appendBreakdown(append(out, `,"replayed_breakdown":`...), is)
}

// writeReplay writes what follows the days.
func writeReplay(w io.Writer, r *rewards.Replay, m meta) error {
	out := strconv.AppendInt([]byte(`],"rows":`), int64(r.Rows), 10)
	out = strconv.AppendInt(append(out, `,"different_rows":`...), int64(r.Differ), 10)
	out = append(out, `,"first_difference":`...)
	if r.First == "" {
		out = append(out, "null"...)
	} else {
		out = appendText(out, r.First)
	}
	out = append(appendReplayed(out, r.Was, r.Is), `,"groups":[`...)
	for i, g := range rewards.CountGroups(r.Operators) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, `{"group":"`...), g.Group...), `","operators":`...)
		out = append(strconv.AppendInt(out, int64(g.Operators), 10), '}')
	}
	out = append(out, `],"operators":[`...)
	for i := range r.Operators {
		o := &r.Operators[i]
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, `{"user_id":"`...), o.User...), `","hotspots":`...)
		out = append(appendReplayed(strconv.AppendInt(out, int64(o.Hotspots), 10), o.Was, o.Is), '}')
		if _, err := w.Write(out); err != nil {
			return err
		}
		out = out[:0]
	}
	_, err := w.Write(appendMeta(append(out, `]}`...), m))
	return err
}
