package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// The roles of members of an account, from the widest to the narrowest, and the posts in the
// network.
const (
	RoleOwner     = "owner"
	RoleManager   = "manager"
	RoleInstaller = "installer"
	RoleViewer    = "viewer"

	PostAdmin     = "admin"
	PostVerifier  = "verifier"
	PostTreasurer = "treasurer"
	PostAuditor   = "auditor"
)

// Person is someone who signs in, as they and staff see them.
type Person struct {
	ID            string       `json:"id"`
	Name          string       `json:"name"`
	Mail          string       `json:"mail"`           // may be empty
	MailConfirmed bool         `json:"mail_confirmed"` // they have shown that it is theirs: links to sign in are sent to it
	Language      string       `json:"language"`       // empty: that of the network
	CreatedAt     time.Time    `json:"created_at"`
	SuspendedAt   *time.Time   `json:"suspended_at"`
	FrozenUntil   *time.Time   `json:"frozen_until"` // after a recovery they cannot lead anything elsewhere
	FreshUntil    *time.Time   `json:"fresh_until"`  // they have just shown who they are
	Posts         []string     `json:"posts"`
	Memberships   []Membership `json:"memberships"` // the oldest first
	Doors         PersonDoors  `json:"doors"`
}

// Membership is a person's place in an account.
type Membership struct {
	Account     string    `json:"account"` // usr_…
	AccountName string    `json:"account_name"`
	Role        string    `json:"role"`
	Hotspots    []string  `json:"hotspots"` // assigned to an installer
	Since       time.Time `json:"since"`
}

// PersonDoors says by which doors a person can sign in.
type PersonDoors struct {
	Passkeys  int  `json:"passkeys"`
	CodesLeft int  `json:"codes_left"`
	OIDC      bool `json:"oidc"`
}

// PersonListed is a person in the list of all.
type PersonListed struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	Mail        string       `json:"mail"`
	CreatedAt   time.Time    `json:"created_at"`
	SuspendedAt *time.Time   `json:"suspended_at"`
	Posts       []string     `json:"posts"`
	Memberships []ListedSeat `json:"memberships"`
}

// ListedSeat is a membership in the list of all people.
type ListedSeat struct {
	Account string `json:"account"`
	Role    string `json:"role"`
}

// Session is a browser in which a person is signed in.
type Session struct {
	ID         string    `json:"id"`
	Device     string    `json:"device"`
	Door       string    `json:"door"`
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at"`
	Current    bool      `json:"current"`
}

// Passkey is a passkey of a person.
type Passkey struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	Synced     bool       `json:"synced"`
}

// RecoveryCodes are shown once.
type RecoveryCodes struct {
	Codes []string `json:"codes"`
}

// Members are the members of an account.
type Members struct {
	Account string   `json:"account"`
	Name    string   `json:"name"`
	Items   []Member `json:"items"`
}

// Member is a person as the members of an account know them.
type Member struct {
	Person      string     `json:"person"`
	Name        string     `json:"name"`
	Role        string     `json:"role"`
	Hotspots    []string   `json:"hotspots"`
	Since       time.Time  `json:"since"`
	Suspended   bool       `json:"suspended"`
	LinkUntil   *time.Time `json:"link_until"`   // someone made a link for them to sign in, which can be used so long
	FrozenUntil *time.Time `json:"frozen_until"` // they were recovered
}

// SignInLink is a one-time link to sign in.
type SignInLink struct {
	Link      string    `json:"link"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Invitation is an invitation to become a member.
type Invitation struct {
	ID          string    `json:"id"`
	Role        string    `json:"role"`         // empty: posts
	Hotspots    []string  `json:"hotspots"`     // assigned to an installer
	Posts       []string  `json:"posts"`        // in the network
	AccountName string    `json:"account_name"` // of an account that is founded
	CreatedAt   time.Time `json:"created_at"`
	ExpiresAt   time.Time `json:"expires_at"`
	InvitedBy   string    `json:"invited_by"` // the name of a member; empty: someone else, or a key
}

// CreatedInvitation is a new invitation, with its link.
type CreatedInvitation struct {
	Invitation
	Link string `json:"link"` // never shown again
}

// PersonPatch changes details of a person. What is nil stays.
type PersonPatch struct {
	Name     *string `json:"name,omitempty"`
	Mail     *string `json:"mail,omitempty"` // "": none
	Language *string `json:"language,omitempty"`
}

// MemberPatch changes a membership. What is nil stays.
type MemberPatch struct {
	Role     *string   `json:"role,omitempty"`
	Hotspots *[]string `json:"hotspots,omitempty"`
}

// InvitationForm invites someone to an account.
type InvitationForm struct {
	Role          string   `json:"role"`
	Hotspots      []string `json:"hotspots,omitempty"`
	ExpiresInDays int      `json:"expires_in_days,omitempty"` // 0: 7
	Mail          string   `json:"mail,omitempty"`            // where to send it; empty: nowhere
}

// StaffInvitationForm gives posts, or has someone found an account.
type StaffInvitationForm struct {
	Posts         []string `json:"posts,omitempty"`
	Account       string   `json:"account,omitempty"` // "new"
	AccountName   string   `json:"account_name,omitempty"`
	ExpiresInDays int      `json:"expires_in_days,omitempty"`
	Mail          string   `json:"mail,omitempty"`
}

// PersonDecision is what staff decide of a person. What is nil stays.
type PersonDecision struct {
	Posts     *[]string `json:"posts,omitempty"`
	Suspended *bool     `json:"suspended,omitempty"`
}

// AccountPatch names an account.
type AccountPatch struct {
	Name string `json:"name"`
}

// CodeForm is a recovery code that was typed back.
type CodeForm struct {
	Code string `json:"code"`
}

func patch(path string, body any) request {
	return request{method: http.MethodPatch, path: path, body: body}
}

func remove(path string) request { return request{method: http.MethodDelete, path: path, again: true} }

// Me returns the person who is signed in. Keys have none.
func (c *Client) Me(ctx context.Context) (Person, error) {
	return call[Person](ctx, c, get(path("people", "me"), nil))
}

// ChangeMe changes the details of the person who is signed in.
func (c *Client) ChangeMe(ctx context.Context, in PersonPatch) (Person, error) {
	return call[Person](ctx, c, patch(path("people", "me"), in))
}

// MySessions returns where the person is signed in.
func (c *Client) MySessions(ctx context.Context) ([]Session, error) {
	return call[[]Session](ctx, c, get(path("people", "me", "sessions"), nil))
}

// EndMySession ends one session of the person.
func (c *Client) EndMySession(ctx context.Context, id string) error {
	return c.silent(ctx, remove(path("people", "me", "sessions", id)))
}

// EndMyOtherSessions ends all sessions of the person but this one.
func (c *Client) EndMyOtherSessions(ctx context.Context) error {
	return c.silent(ctx, remove(path("people", "me", "sessions")))
}

// MyPasskeys returns the passkeys of the person.
func (c *Client) MyPasskeys(ctx context.Context) ([]Passkey, error) {
	return call[[]Passkey](ctx, c, get(path("people", "me", "passkeys"), nil))
}

// DeleteMyPasskey deletes a passkey of the person.
func (c *Client) DeleteMyPasskey(ctx context.Context, id string) error {
	return c.silent(ctx, remove(path("people", "me", "passkeys", id)))
}

// CreateMyCodes makes recovery codes, which ConfirmMyCodes puts in force.
func (c *Client) CreateMyCodes(ctx context.Context) (RecoveryCodes, error) {
	return call[RecoveryCodes](ctx, c, post(path("people", "me", "codes"), nil).once(""))
}

// ConfirmMyCodes puts new codes in force with one of them.
func (c *Client) ConfirmMyCodes(ctx context.Context, code string) error {
	return c.silent(ctx, post(path("people", "me", "codes", "confirmation"), CodeForm{code}))
}

// Members returns the members of an account; "me" is the sender's own.
func (c *Client) Members(ctx context.Context, account string) (Members, error) {
	return call[Members](ctx, c, get(path("users", account, "members"), nil))
}

// NameAccount gives an account a name.
func (c *Client) NameAccount(ctx context.Context, account, name string) (Members, error) {
	return call[Members](ctx, c, patch(path("users", account), AccountPatch{name}))
}

// ChangeMember changes the role of a member, or the hotspots assigned to them.
func (c *Client) ChangeMember(ctx context.Context, account, person string, in MemberPatch) (Members, error) {
	return call[Members](ctx, c, patch(path("users", account, "members", person), in))
}

// RemoveMember removes a member; "me" leaves.
func (c *Client) RemoveMember(ctx context.Context, account, person string) error {
	return c.silent(ctx, remove(path("users", account, "members", person)))
}

// LinkMember makes a link with which a member can sign in once.
func (c *Client) LinkMember(ctx context.Context, account, person string) (SignInLink, error) {
	return call[SignInLink](ctx, c, post(path("users", account, "members", person, "link"), nil).once(""))
}

// Invitations returns the pending invitations of an account.
func (c *Client) Invitations(ctx context.Context, account string) ([]Invitation, error) {
	return call[[]Invitation](ctx, c, get(path("users", account, "invitations"), nil))
}

// Invite invites someone to an account.
func (c *Client) Invite(ctx context.Context, account string, in InvitationForm) (CreatedInvitation, error) {
	return call[CreatedInvitation](ctx, c, post(path("users", account, "invitations"), in).once(""))
}

// RevokeInvitation revokes a pending invitation of an account.
func (c *Client) RevokeInvitation(ctx context.Context, account, id string) error {
	return c.silent(ctx, remove(path("users", account, "invitations", id)))
}

// PeoplePage returns a page of people, by id: those in whose name or mail address a text is,
// or all. It needs the scope admin, or the post admin.
func (c *Client) PeoplePage(ctx context.Context, search string, p PageQuery) (Page[PersonListed], error) {
	return page[PersonListed](ctx, c, path("people"), given("search", search), p)
}

// People iterates over all pages of PeoplePage.
func (c *Client) People(ctx context.Context, search string) iter.Seq2[PersonListed, error] {
	return pages(func(p PageQuery) (Page[PersonListed], error) { return c.PeoplePage(ctx, search, p) })
}

// Person returns a person, for staff.
func (c *Client) Person(ctx context.Context, id string) (Person, error) {
	return call[Person](ctx, c, get(path("people", id), nil))
}

// DecidePerson gives posts, takes them away, suspends or restores.
func (c *Client) DecidePerson(ctx context.Context, id string, in PersonDecision) (Person, error) {
	return call[Person](ctx, c, patch(path("people", id), in))
}

// LinkPerson makes a link with which a person can sign in once, for staff.
func (c *Client) LinkPerson(ctx context.Context, id string) (SignInLink, error) {
	return call[SignInLink](ctx, c, post(path("people", id, "link"), nil).once(""))
}

// ErasePerson erases what is known of a person.
func (c *Client) ErasePerson(ctx context.Context, id string) error {
	return c.silent(ctx, remove(path("people", id)))
}

// StaffInvitations returns the pending invitations of the network.
func (c *Client) StaffInvitations(ctx context.Context) ([]Invitation, error) {
	return call[[]Invitation](ctx, c, get(path("invitations"), nil))
}

// InviteStaff invites someone to posts, or to found an account.
func (c *Client) InviteStaff(ctx context.Context, in StaffInvitationForm) (CreatedInvitation, error) {
	return call[CreatedInvitation](ctx, c, post(path("invitations"), in).once(""))
}

// RevokeStaffInvitation revokes a pending invitation of the network.
func (c *Client) RevokeStaffInvitation(ctx context.Context, id string) error {
	return c.silent(ctx, remove(path("invitations", id)))
}
