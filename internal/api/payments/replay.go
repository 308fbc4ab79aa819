package payments

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/rewards/closing"
	"github.com/beacon-wifi/beacon/internal/rewards/policy"
)

// What a replay may cost a server (decision D147).
const (
	replayTime     = 10 * time.Minute
	maxReplayRows  = 3_000_000
	replayBusyTime = 10 * time.Second
)

// newReplays returns the counter of replays: one at once.
func newReplays() *edge.ConcurrencyLimit {
	taken := edge.Busy(beacon.Overloaded, replayBusyTime, "this server is replaying days for someone already; try again when that is done")
	return edge.NewConcurrencyLimit(1, 1, taken, taken, taken)
}

func decodeReplay(_ *http.Request, o *edge.Object) (closing.ReplayQuery, error) {
	q := closing.ReplayQuery{MaxRows: maxReplayRows}
	from, to := o.Text("from"), o.Text("to")
	terms := edge.Member(o, "policy", jsontext.KindBeginObject, "must be an object", func(v jsontext.Value) (jsontext.Value, error) { return v, nil })
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
	return q, o.Conclude(f.Err)
}

// replay says what closed days would have earned (decision D147). Each day is sent once it
// is computed, so that the client sees how far it is; when the client leaves, it ends.
func (a *API) replay(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	q, err := edge.FromBody(decodeReplay)(w, r)
	if err != nil {
		return err
	}
	if err := a.replays.Join(p, 1); err != nil {
		return err
	}
	leave := sync.OnceFunc(func() { a.replays.Leave(p) })
	defer leave()
	d, m := a.Download(w), a.Meta(w)
	return d.Send(r, replayTime, func(ctx context.Context, out io.Writer) error {
		asked := client.Replay{From: q.From.String(), To: q.To.String(), Unit: beacon.RewardUnit}
		next, _, _ := replayParts(asked)
		done, err := a.closing.Replay(ctx, q, func(day closing.ReplayedDay) error {
			piece := []byte(next)
			if next = ""; day.Done {
				shown := client.ReplayDay{Date: day.Day.String(), Rows: day.Rows, ReplaySums: showReplayed(day.Was, day.Is)}
				piece, next = append(piece, edge.Must(json.Marshal(shown))...), ","
			}
			if len(piece) == 0 {
				return nil
			}
			_, err := d.Write(piece)
			return err
		})
		leave() // before the end is sent, since its reader may ask for the next at once
		if err != nil {
			return err
		}
		return writeReplay(out, asked, done, m)
	})
}

// showReplayed shows what was earned and what would have been.
func showReplayed(was, is beacon.Earned) client.ReplaySums {
	return client.ReplaySums{
		Earned: client.Amount(was.Total()), Breakdown: showBreakdown(was), Replayed: client.Amount(is.Total()), ReplayedBreakdown: showBreakdown(is),
	}
}

// replayParts returns a response without days and operators in three parts: before the
// days, between them and the operators, and the end.
func replayParts(r client.Replay) (head, middle, end string) {
	text := string(edge.Must(json.Marshal(client.Envelope[client.Replay]{Data: &r}, edge.Forms)))
	head, rest, _ := strings.Cut(text, `"days":[`)
	middle, _, _ = strings.Cut(rest, `"operators":[`)
	return head + `"days":[`, middle + `"operators":[`, "]}"
}

// writeReplay writes what follows the days.
func writeReplay(w io.Writer, shown client.Replay, r *closing.Replay, m client.Meta) error {
	shown.Rows, shown.DifferentRows, shown.UnvisitedHotspots, shown.ReplaySums = r.Rows, r.Differ, r.Unvisited, showReplayed(r.Was, r.Is)
	if r.First != "" {
		shown.FirstDifference = &r.First
	}
	for _, g := range closing.CountGroups(r.Operators) {
		shown.Groups = append(shown.Groups, client.ReplayGroup{Group: string(g.Group), Operators: g.Operators})
	}
	_, next, end := replayParts(shown)
	for i := range r.Operators {
		o := &r.Operators[i]
		one := client.ReplayOperator{UserID: string(o.User), Hotspots: o.Hotspots, ReplaySums: showReplayed(o.Was, o.Is)}
		if _, err := w.Write(append([]byte(next), edge.Must(json.Marshal(one))...)); err != nil {
			return err
		}
		next = ","
	}
	if len(r.Operators) > 0 {
		next = ""
	}
	_, err := w.Write(edge.AppendMeta([]byte(next+end), m))
	return err
}
