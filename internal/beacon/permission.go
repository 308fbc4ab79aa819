package beacon

import "slices"

// Permission is what an endpoint asks of who sends a request. Keys have it by their scopes,
// people by their role in an account or by their posts in the network.
type Permission string

// The permissions. Read is for everyone who is known.
const (
	Read           Permission = ""
	ReadQuota      Permission = "quota"
	EditHotspots   Permission = "hotspots"
	LinkDevices    Permission = "devices"
	ReadRewards    Permission = "rewards"
	ManageKeys     Permission = "keys"
	LeaveNetwork   Permission = "leaving"
	ManageMembers  Permission = "members"
	ReadMembers    Permission = "member_list"
	SendCheckIns   Permission = "check_ins"
	EnrolDevices   Permission = "enrolment"
	SeeOverview    Permission = "overview"
	ListAll        Permission = "all_hotspots"
	RecordVisits   Permission = "visits"
	JudgeFlags     Permission = "review"
	SeeHolds       Permission = "hold_list"
	JudgeHolds     Permission = "holds"
	ReadBooks      Permission = "books"
	KeepBooks      Permission = "bookkeeping"
	TryPolicies    Permission = "policy_trials"
	SetPolicies    Permission = "policies"
	ChangeSettings Permission = "settings"
	ManageAccounts Permission = "accounts"
	ListOperators  Permission = "operators"
	ReadAudit      Permission = "audit"
	ManagePeople   Permission = "people"
	StaffDetails   Permission = "staff_details" // of hotspots and operators; see audiences
)

// Grant is a row of the table of permissions: who has one.
type Grant struct {
	Permission Permission
	May        string // what it permits, as the end of "you may …"
	Anyone     bool   // every key and every person that is valid
	Scope      Scope  // the keys that have it, and those with Admin; empty: all, unless nobody has it by a key
	Roles      []Role // for what belongs to their account
	Posts      []Post // for what belongs to anyone
}

// grants is the one table that says what each key, role and post may do. Its order is that of
// the documentation.
var grants = []Grant{
	{Permission: Read, May: "read what any key can read, and the hotspots of your own account", Anyone: true, Roles: []Role{Owner, Manager, Installer, Viewer}},
	{Permission: ReadQuota, May: "read what an account may have", Anyone: true, Roles: []Role{Owner, Manager, Viewer}, Posts: []Post{AdminPost}},
	{Permission: ReadMembers, May: "see who the members of an account are", Scope: KeysManage, Roles: []Role{Owner, Manager, Installer, Viewer}, Posts: []Post{AdminPost}},
	{Permission: ReadRewards, May: "read rewards, statements and holds of an account", Scope: RewardsRead, Roles: []Role{Owner, Manager, Viewer}, Posts: []Post{Treasurer, Auditor}},
	{Permission: EditHotspots, May: "register, change, delete and restore hotspots, and answer holds", Scope: HotspotsWrite, Roles: []Role{Owner, Manager}},
	{Permission: LinkDevices, May: "create link codes and unlink devices; installers only for hotspots assigned to them", Scope: HotspotsWrite, Roles: []Role{Owner, Manager, Installer}},
	{Permission: ManageKeys, May: "create, list and revoke keys", Scope: KeysManage, Roles: []Role{Owner, Manager}, Posts: []Post{AdminPost}},
	{Permission: ManageMembers, May: "invite people up to your own role, change their roles and remove them", Scope: KeysManage, Roles: []Role{Owner, Manager}, Posts: []Post{AdminPost}},
	{Permission: LeaveNetwork, May: "export all data of an account, and ask that it be erased", Scope: KeysManage, Roles: []Role{Owner}},
	{Permission: SendCheckIns, May: "send check-ins", Scope: CheckInsWrite},
	{Permission: EnrolDevices, May: "enrol devices", Scope: DevicesEnrol},
	{Permission: SeeOverview, May: "see how the network is", Scope: HotspotsVerify, Posts: Posts()},
	{Permission: StaffDetails, May: "see what is for staff of every hotspot, also of hidden homes", Scope: HotspotsVerify, Posts: []Post{Verifier, Treasurer}},
	{Permission: ListAll, May: "list all hotspots and their devices", Scope: HotspotsVerify, Posts: []Post{AdminPost, Verifier}},
	{Permission: RecordVisits, May: "record visits, and withdraw verifications", Scope: HotspotsVerify, Posts: []Post{Verifier}},
	{Permission: JudgeFlags, May: "read and empty the review queue", Scope: HotspotsVerify, Posts: []Post{Verifier}},
	{Permission: SeeHolds, May: "read the holds of everyone", Scope: HotspotsVerify, Posts: []Post{Verifier, Treasurer, Auditor}},
	{Permission: JudgeHolds, May: "place holds and decide about them", Scope: HotspotsVerify, Posts: []Post{Treasurer}},
	{Permission: ReadBooks, May: "read how far the ledger is, and what each month comes to", Scope: Admin, Posts: []Post{AdminPost, Treasurer, Auditor}},
	{Permission: KeepBooks, May: "settle months, open days again and confirm the date", Scope: Admin, Posts: []Post{Treasurer}},
	{Permission: TryPolicies, May: "try a policy on closed days", Scope: Admin, Posts: []Post{AdminPost, Treasurer, Auditor}},
	{Permission: SetPolicies, May: "adopt a policy", Scope: Admin, Posts: []Post{AdminPost}},
	{Permission: ChangeSettings, May: "change the settings of the network", Scope: Admin, Posts: []Post{AdminPost}},
	{Permission: ManageAccounts, May: "set what accounts may have, and release MAC addresses", Scope: Admin, Posts: []Post{AdminPost}},
	{Permission: ListOperators, May: "list the accounts of the network", Scope: Admin, Posts: []Post{AdminPost, Treasurer, Auditor}},
	{Permission: ReadAudit, May: "read the audit log", Scope: Admin, Posts: []Post{AdminPost, Auditor}},
	{Permission: ManagePeople, May: "see all people, give them posts, suspend them and send them links to sign in", Scope: Admin, Posts: []Post{AdminPost}},
}

// Grants returns the table of permissions.
func Grants() []Grant { return slices.Clone(grants) }

// grant returns the row of a permission. Nobody has one that is not in the table.
func (needs Permission) grant() *Grant {
	for i := range grants {
		if grants[i].Permission == needs {
			return &grants[i]
		}
	}
	return &Grant{Permission: needs, May: "do this", Scope: "nobody"}
}

// Grant returns who has the permission.
func (needs Permission) Grant() Grant { return *needs.grant() }

// Covers reports whether a key may do all that a member with the role may.
func (p Principal) Covers(r Role) bool {
	return !slices.ContainsFunc(grants, func(g Grant) bool { return g.byRole(r) && !g.Anyone && !p.Has(g.Scope) })
}

// byRole reports whether members of an account with the role have it there.
func (g *Grant) byRole(r Role) bool { return r != "" && slices.Contains(g.Roles, r) }

// byPost reports whether one of the posts gives it for all accounts.
func (g *Grant) byPost(posts []Post) bool {
	return slices.ContainsFunc(posts, func(held Post) bool { return slices.Contains(g.Posts, held) })
}
