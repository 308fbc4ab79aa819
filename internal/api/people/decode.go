package people

import (
	"net/http"

	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people"
)

func decodePatch(_ *http.Request, o *edge.Object) (people.Patch, error) {
	in := people.Patch{Name: o.Text("name"), Mail: o.Text("mail"), Language: o.Text("language")}
	return in, o.Conclude(in.Validate)
}

func noSession(http.ResponseWriter, *http.Request) (beacon.SessionID, error) { return "", nil }

func oneSession(_ http.ResponseWriter, r *http.Request) (beacon.SessionID, error) {
	return beacon.SessionID(r.PathValue("id")), nil
}

// decodeText reads a text that must be there.
func decodeText(o *edge.Object, name string) (string, error) {
	var f beacon.Faults
	text, _ := beacon.Required(o.Text(name), name, &f)
	return text, o.Conclude(f.Err)
}

func decodeToken(_ *http.Request, o *edge.Object) (string, error) { return decodeText(o, "token") }

func decodeCode(_ *http.Request, o *edge.Object) (string, error) { return decodeText(o, "code") }

func account(r *http.Request) beacon.UserID { return beacon.UserID(r.PathValue("id")) }

func decodeNaming(r *http.Request, o *edge.Object) (people.Naming, error) {
	in := people.Naming{Account: account(r), Name: o.Text("name")}
	return in, o.Conclude(in.Validate)
}

func decodeMember(r *http.Request, o *edge.Object) (people.MemberChange, error) {
	in := people.MemberChange{Account: account(r), Person: beacon.PersonID(r.PathValue("person")), Role: o.Text("role"), Hotspots: o.Texts("hotspots")}
	return in, o.Conclude(in.Validate)
}

func memberOf(_ http.ResponseWriter, r *http.Request) (people.Membership, error) {
	return people.Membership{Account: account(r), Person: beacon.PersonID(r.PathValue("person"))}, nil
}

// anyone names a person without an account.
func anyone(_ http.ResponseWriter, r *http.Request) (people.Membership, error) {
	return people.Membership{Person: beacon.PersonID(r.PathValue("id"))}, nil
}

func decodeInvitation(r *http.Request, o *edge.Object) (people.Invitation, error) {
	in := people.Invitation{Account: account(r), Role: o.Text("role"), Hotspots: o.Texts("hotspots"), Days: o.Number("expires_in_days"), Mail: o.Text("mail")}
	return in, o.Conclude(in.Validate)
}

func decodeStaffInvitation(_ *http.Request, o *edge.Object) (people.Invitation, error) {
	in := people.Invitation{
		Posts: o.Texts("posts"), Found: o.Text("account"), AccountName: o.Text("account_name"), Days: o.Number("expires_in_days"), Mail: o.Text("mail"),
	}
	return in, o.Conclude(in.Validate)
}

func revocation(_ http.ResponseWriter, r *http.Request) (people.Revocation, error) {
	return people.Revocation{Account: account(r), ID: beacon.InviteID(r.PathValue("invitation"))}, nil
}

func ofNetwork(http.ResponseWriter, *http.Request) (beacon.UserID, error) { return "", nil }

func decodeQuery(_ *http.Request, q *edge.Query) people.Query {
	in := people.Query{Page: q.Page(edge.PeopleList)}
	if text, ok := q.Get("search"); ok {
		var err error
		in.Search, err = beacon.CleanSearch(text)
		q.Faults.Check("search", err)
	}
	return in
}

func decodeDecision(r *http.Request, o *edge.Object) (people.Decision, error) {
	in := people.Decision{Person: beacon.PersonID(r.PathValue("id")), Posts: o.Texts("posts"), Suspended: o.Flag("suspended")}
	return in, o.Conclude(in.Validate)
}
