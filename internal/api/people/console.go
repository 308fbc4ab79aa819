package people

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/client"
	"github.com/beacon-wifi/beacon/internal/api/edge"
	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/httpserver"
	"github.com/beacon-wifi/beacon/internal/people"
)

// ConsoleRoutes lists the doors, which are the console's own. A GET never signs in: scanners
// of mail open links.
func (a *API) ConsoleRoutes() []edge.OpenRoute {
	pp, in := a.people, a.doors
	return []edge.OpenRoute{
		edge.Open("GET /console/doors", a.openDoors),
		edge.Open("POST /console/first-admin", enters(a, decodeFirst, pp.FirstAdmin)),
		edge.Open("POST /console/sign-up", a.rarely(enters(a, decodeSignUp, pp.SignUpAs))),
		edge.Open("POST /console/invitations/read", a.open(a.readInvitation)),
		edge.Open("POST /console/invitations/accept", enters(a, decodeAcceptance, pp.Accept)),
		edge.Open("POST /console/links/use", enters(a, decodeWith("token"), pp.UseLink)),
		edge.Open("POST /console/links/mail", a.rarely(a.open(a.mailLink))),
		edge.Open("POST /console/mail/begin", a.rarely(a.open(edge.Serve(a.Edge, 204, edge.DecodeNothing, pp.AskProof, edge.EncodeNothing)))),
		edge.Open("POST /console/mail/finish", a.open(edge.Serve(a.Edge, 200, edge.FromBody(decodeToken), pp.ProveMail, encodeMe))),
		edge.Open("POST /console/codes/use", enters(a, decodeWith("code"), pp.UseCode)),
		edge.Open("POST /console/passkeys/sign-in/begin", a.begins(edge.Serve(a.Edge, 200, edge.DecodeNothing, in.BeginSignIn, encodeCeremony))),
		edge.Open("POST /console/passkeys/sign-in/finish", enters(a, decodeResponse, in.SignIn)),
		edge.Open("POST /console/passkeys/begin", a.begins(edge.Serve(a.Edge, 200, edge.DecodeNothing, in.BeginPasskey, encodeCeremony))),
		edge.Open("POST /console/passkeys/finish", a.open(edge.Serve(a.Edge, 200, edge.FromBody(decodeNewPasskey), in.AddPasskey, encodePasskey))),
		edge.Open("POST /console/oidc/begin", a.begins(a.leave)),
		edge.Open("POST /console/oidc/finish", entersWith(a, visitLasts, decodeReturn, in.Returned)),
		edge.Open("POST /console/oidc/unlink", a.open(edge.Serve(a.Edge, 204, edge.FromBody(decodeUnlinked), a.unlink, edge.EncodeNothing))),
		edge.Open("POST /console/fresh/begin", a.begins(edge.Serve(a.Edge, 200, edge.DecodeNothing, in.BeginFresh, encodeCeremony))),
		edge.Open("POST /console/fresh/finish", a.open(edge.Serve(a.Edge, 200, edge.FromBody(decodeFresh), a.freshen, encodeFresh))),
		edge.Open("POST /console/qr", a.open(a.drawQR)),
	}
}

// doors says how people can sign in here.
func (a *API) openDoors(w http.ResponseWriter, r *http.Request) {
	w.Header()["Cache-Control"] = edge.NoStore
	a.Limits.ShowFailures(w.Header(), r, time.Now())
	ctx, cancel := context.WithTimeout(r.Context(), a.Patience)
	defer cancel()
	open, err := a.people.Open(ctx)
	if err != nil {
		a.Fail(w, r, err)
		return
	}
	shown := client.OpenDoors{Mail: open.Mail, SignUp: string(open.SignUp), People: open.Any}
	if name := a.doors.ProviderName(); name != "" {
		shown.OIDC = &client.OIDCDoor{Name: name}
	}
	shown.Passkeys, shown.PasskeysReason = a.doors.Passkeys(r.Host)
	if err := a.Write(w, http.StatusOK, edge.Payload{Data: shown}); err != nil {
		a.Fail(w, r, err)
	}
}

// open serves a request of a page of ours that needs nobody to be signed in. The principal is
// the person who is, or nobody. Tries are counted by address, like wrong keys.
func (a *API) open(do edge.Endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Cache-Control"] = edge.NoStore
		now := time.Now() // of the machine: limits count real time
		a.Limits.ShowFailures(w.Header(), r, now)
		err := a.Limits.CheckFailures(w.Header(), r, now)
		if err == nil && !a.FromOwnPage(r) {
			err = edge.ErrForeignPage
		}
		p := beacon.Principal{}
		if err == nil && people.IsSession(a.SessionOf(r)) {
			p, err = a.Verify(r, func() error { return nil })
			if edge.KindOf(err) == beacon.Unauthorized { // one that has ended is nobody's, and looking it up is not free
				err = a.Limits.SpendFailure(w.Header(), r, now)
			}
		}
		if err == nil {
			p.Request = httpserver.RequestID(w)
			err = do(w, r, p.For(beacon.Read))
		}
		if err != nil && edge.KindOf(err) == beacon.Unauthorized {
			if limited := a.Limits.SpendFailure(w.Header(), r, now); limited != nil {
				err = limited
			}
		}
		if err != nil {
			a.Fail(w, r, err)
		}
	}
}

var errNotSecure = &beacon.Error{Kind: beacon.Forbidden, Message: "a browser can stay signed in over HTTPS only, or on the machine that the server runs on"}

// enters serves a door: the one who passes gets the cookie of a new session.
func enters[In any](a *API, decode func(*http.Request, *edge.Object) (In, error), do func(context.Context, beacon.Principal, In) (people.SignedIn, error)) http.HandlerFunc {
	return entersWith(a, a.Patience, decode, do)
}

func entersWith[In any](a *API, patience time.Duration, decode func(*http.Request, *edge.Object) (In, error), do func(context.Context, beacon.Principal, In) (people.SignedIn, error)) http.HandlerFunc {
	return a.open(func(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
		name := edge.CookieName(r.Header.Get("Origin")) // a server behind a proxy does not know how its clients connect
		if name == "" {
			return errNotSecure
		}
		in, err := edge.FromBody(decode)(w, r)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		entered, err := do(ctx, p, in)
		if err != nil {
			return err
		}
		if entered.Text != "" {
			http.SetCookie(w, &http.Cookie{
				Name: name, Value: entered.Text, Path: "/", MaxAge: int(people.SessionLasts.Seconds()), Secure: name == edge.SecureCookie, HttpOnly: true, SameSite: http.SameSiteLaxMode,
			})
			a.endReplaced(ctx, p)
		}
		return a.Write(w, http.StatusOK, edge.Payload{Data: client.SignedIn{Person: ShowPerson(entered.Me)}})
	})
}

// endReplaced ends the session that a browser had when it got another. The browser has
// forgotten it, so nobody could sign out of it.
func (a *API) endReplaced(ctx context.Context, p beacon.Principal) {
	if p.Signed == nil {
		return
	}
	if _, err := a.people.EndSession(ctx, p, p.Signed.Session); err != nil {
		a.Log.Warn("a session that another one replaced could not be ended", "err", err)
	}
}

func decodeFirst(r *http.Request, o *edge.Object) (people.Founding, error) {
	var f beacon.Faults
	in := people.Founding{Name: o.Text("name"), Language: o.Text("language"), AccountName: o.Text("account_name"), Device: deviceOf(r)}
	in.Token, _ = beacon.Required(o.Text("token"), "token", &f)
	return in, o.Conclude(f.Err)
}

func decodeSignUp(r *http.Request, o *edge.Object) (people.Founding, error) {
	return people.Founding{Name: o.Text("name"), Language: o.Text("language"), AccountName: o.Text("account_name"), Device: deviceOf(r)}, o.Finish(edge.Valid)
}

// rarely serves what an address may do a few times a minute.
func (a *API) rarely(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := a.Limits.SpendSignUp(w.Header(), r, time.Now()); err != nil {
			w.Header()["Cache-Control"] = edge.NoStore
			a.Fail(w, r, err)
			return
		}
		next(w, r)
	}
}

func decodeAcceptance(r *http.Request, o *edge.Object) (people.Acceptance, error) {
	var f beacon.Faults
	in := people.Acceptance{Name: o.Text("name"), Language: o.Text("language"), Device: deviceOf(r)}
	in.Token, _ = beacon.Required(o.Text("token"), "token", &f)
	return in, o.Conclude(f.Err)
}

func decodeWith(name string) func(*http.Request, *edge.Object) (people.Token, error) {
	return func(r *http.Request, o *edge.Object) (people.Token, error) {
		text, err := decodeText(o, name)
		return people.Token{Text: text, Device: deviceOf(r)}, err
	}
}

func (a *API) readInvitation(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	return edge.Serve(a.Edge, http.StatusOK, edge.FromBody(func(_ *http.Request, o *edge.Object) (string, error) {
		return decodeText(o, "token")
	}), a.people.ReadInvitation, a.encodeShown)(w, r, p)
}

func (a *API) encodeShown(_ http.Header, i people.Invited) edge.Payload {
	shown := client.InvitationShown{
		Account: string(i.Account), AccountName: i.Name, Role: string(i.Role), Posts: edge.Texts(i.Posts), InvitedBy: i.By, ExpiresAt: i.ExpiresAt,
	}
	if a.cfg.Identity != nil {
		shown.Network = cmp.Or(a.cfg.Identity().Name, beacon.DefaultNetworkName)
	}
	return edge.Payload{Data: shown}
}

func (a *API) mailLink(w http.ResponseWriter, r *http.Request, p beacon.Principal) error {
	in, err := edge.FromBody(func(_ *http.Request, o *edge.Object) (string, error) { return decodeText(o, "mail") })(w, r)
	if err == nil {
		_, err = a.people.MailLink(r.Context(), p, in)
	}
	if err == nil {
		w.WriteHeader(http.StatusAccepted)
	}
	return err
}

// browsers and systems are what a device is called by, the more special first.
var (
	browsers = [][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"}, {"Firefox", "Firefox"}, {"FxiOS", "Firefox"}, {"CriOS", "Chrome"}, {"Chrome", "Chrome"}, {"Safari", "Safari"}}
	systems  = [][2]string{{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"Mac OS", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"}}
)

// deviceOf says in a few words from which device a request comes: what it says of itself is
// long, and anyone's.
func deviceOf(r *http.Request) string {
	agent := r.UserAgent()
	var words []string
	for _, kinds := range [][][2]string{browsers, systems} {
		for _, kind := range kinds {
			if strings.Contains(agent, kind[0]) {
				words = append(words, kind[1])
				break
			}
		}
	}
	if len(words) == 0 {
		return "unknown"
	}
	return strings.Join(words, ", ")
}
