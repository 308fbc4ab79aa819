package doors

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people"
	"github.com/beacon-wifi/beacon/internal/people/oidc"
)

// Provider is the network's provider of OpenID Connect.
type Provider struct {
	*oidc.Issuer
	Name  string                   // for people
	Posts map[string][]beacon.Post // of the members of a group
}

// ParsePosts reads which group has which posts: "staff=verifier,board=treasurer".
func ParsePosts(list []string) (map[string][]beacon.Post, error) {
	posts := map[string][]beacon.Post{}
	for _, one := range list {
		i := strings.LastIndex(one, "=")
		if i < 1 {
			return nil, fmt.Errorf("%q must look like group=post", one)
		}
		post, err := beacon.ParsePosts([]string{one[i+1:]})
		if err != nil {
			return nil, fmt.Errorf("%q: %w", one, err)
		}
		posts[one[:i]] = append(posts[one[:i]], post...)
	}
	return posts, nil
}

// of returns the posts of some groups, and those that groups decide about.
func (p *Provider) of(groups []string) (posts, managed []beacon.Post) {
	for group, some := range p.Posts {
		managed = append(managed, some...)
		if slices.Contains(groups, group) {
			posts = append(posts, some...)
		}
	}
	return posts, managed
}

// Purpose is what someone goes to the provider for.
type Purpose string

// The purposes.
const (
	ToSignIn  Purpose = "sign-in"
	ToLink    Purpose = "link"  // what they are there to whom they are here
	ToFreshen Purpose = "fresh" // to show once more who they are
)

// Departure begins a visit to the provider.
type Departure struct {
	Purpose    Purpose
	Invitation string // its token, to accept it on return; may be empty
	Language   string // of someone new
}

// departed is what is kept of a visit.
type departed struct {
	Purpose    Purpose         `json:"purpose"`
	Invitation string          `json:"invitation,omitempty"` // the hash of its token
	Language   string          `json:"language,omitempty"`
	State      json.RawMessage `json:"state"`
}

// Left is a visit that was begun.
type Left struct {
	URL   string // of the provider
	Token string // for the browser alone, in a cookie that no page can read
}

var errNoProvider = &beacon.Error{Kind: beacon.Conflict, Message: "this network has no identity provider; sign in another way"}

// ProviderName returns the name of the provider, or "" if there is none.
func (d *Doors) ProviderName() string {
	if d.provider == nil {
		return ""
	}
	return d.provider.Name
}

// Leave begins a visit to the provider.
func (d *Doors) Leave(ctx context.Context, p beacon.Principal, in Departure) (Left, error) {
	if d.provider == nil {
		return Left{}, errNoProvider
	}
	data := departed{Purpose: in.Purpose, Language: in.Language}
	switch in.Purpose {
	case ToLink:
		if err := people.CheckFresh(p, d.now()); err != nil {
			return Left{}, err
		}
	case ToFreshen:
		if _, err := d.who(ctx, p); err != nil {
			return Left{}, err
		}
	default:
		p = nobody(p)
	}
	if in.Invitation != "" {
		if _, err := d.people.ReadInvitation(ctx, p, in.Invitation); err != nil {
			return Left{}, err
		}
		hash, _ := people.HashToken(in.Invitation)
		data.Invitation = hex.EncodeToString(hash[:])
	}
	address, state, err := d.provider.Begin(ctx, in.Purpose == ToFreshen)
	if err != nil {
		return Left{}, err
	}
	data.State = state
	text, err := json.Marshal(data)
	if err != nil {
		return Left{}, beacon.Unexpected(err)
	}
	token, err := d.keep(ctx, p, beacon.OIDCTicket, begun{State: text}, oidc.StateLasts)
	return Left{address, token}, err
}

// Return is someone who comes back from the provider.
type Return struct {
	Token  string // of the cookie
	Query  string // with which they came back
	Device string
}

var errBegun = &beacon.Error{Kind: beacon.Unauthorized, Message: "this took too long, or was begun in another window; start again"}

// Returned signs in the one who comes back, links what they are there, or makes their session
// fresh. The provider is asked before the transaction.
func (d *Doors) Returned(ctx context.Context, p beacon.Principal, in Return) (people.SignedIn, error) {
	if d.provider == nil {
		return people.SignedIn{}, errNoProvider
	}
	query, err := url.ParseQuery(in.Query)
	if err != nil {
		return people.SignedIn{}, errBegun
	}
	ticket, b, err := d.kept(ctx, p, beacon.OIDCTicket, in.Token)
	if err != nil && p.Person != "" { // one that began before anyone was signed in
		ticket, b, err = d.kept(ctx, nobody(p), beacon.OIDCTicket, in.Token)
	}
	if beacon.KindOf(err) == beacon.Unauthorized {
		err = errBegun
	}
	var data departed
	if err == nil && json.Unmarshal(b.State, &data) != nil {
		err = errBegun
	}
	if err != nil {
		return people.SignedIn{}, err
	}
	who, err := d.provider.Finish(ctx, data.State, query)
	if err != nil {
		return people.SignedIn{}, err
	}
	identity := beacon.OIDCIdentity{Issuer: who.Issuer, Subject: who.Subject}
	entry := people.Entry{Ticket: ticket.Hash, Kind: beacon.OIDCTicket, Sight: beacon.PeopleSight{Identity: &identity}}
	switch data.Purpose {
	case ToLink:
		me, err := d.people.LinkIdentity(ctx, p, entry, identity)
		return people.SignedIn{Me: me}, err
	case ToFreshen:
		var until time.Time
		if until, err = d.people.Refresh(ctx, p, entry, people.IsIdentity(p)); err != nil {
			return people.SignedIn{}, err
		}
		me, err := d.people.Me(ctx, p, struct{}{})
		me.Fresh = until
		return people.SignedIn{Me: me}, err
	}
	arrival := people.Arrival{Ticket: ticket.Hash, Identity: identity, Name: who.Name, Language: data.Language, Device: in.Device}
	arrival.Posts, arrival.Managed = d.provider.of(who.Groups)
	if data.Invitation != "" {
		arrival.Invitation = new([32]byte)
		if _, err := hex.Decode(arrival.Invitation[:], []byte(data.Invitation)); err != nil {
			return people.SignedIn{}, beacon.Unexpected(err)
		}
	}
	return d.people.Arrive(ctx, p, arrival)
}
