-- People, and what they may do: their memberships of accounts and their posts in the network.

-- Who was signed in when a change was made; empty for a key.
ALTER TABLE changes {add column} person_id text NOT NULL DEFAULT '';

-- The names of accounts. The row of the network, whose account is empty, is locked by every
-- transaction that changes who may do what.
CREATE TABLE IF NOT EXISTS account_names (
	user_id {key} NOT NULL,
	name    text NOT NULL,
	CONSTRAINT account_names_pk PRIMARY KEY (user_id)
) {clustered};

-- Mail and folded are in the form in which they are searched: folded has the name and the
-- address.
CREATE TABLE IF NOT EXISTS people (
	id           {key} NOT NULL,
	name         text NOT NULL,
	mail         text NOT NULL,
	mail_folded  {key} NOT NULL,
	mail_proven  bigint NOT NULL,
	folded       text NOT NULL,
	language     text NOT NULL,
	created_at   bigint NOT NULL,
	suspended_at bigint NOT NULL,
	recovered_at bigint NOT NULL,
	erased_at    bigint NOT NULL,
	seal         bigint NOT NULL,
	CONSTRAINT people_pk PRIMARY KEY (id)
) {clustered};

CREATE INDEX IF NOT EXISTS people_mail ON people (mail_folded);

-- Without an account it is a membership of the network, which has posts and no role. Posts
-- and hotspots are words with blanks between.
CREATE TABLE IF NOT EXISTS memberships (
	person_id {key} NOT NULL,
	user_id   {key} NOT NULL,
	role      text NOT NULL,
	posts     text NOT NULL,
	hotspots  text NOT NULL,
	since     bigint NOT NULL,
	seal      bigint NOT NULL,
	CONSTRAINT memberships_pk PRIMARY KEY (person_id, user_id)
) {clustered};

CREATE INDEX IF NOT EXISTS memberships_of ON memberships (user_id, person_id);

-- Invitations to become a member. The account of one that founds an account is new to its
-- transaction. Open is 1 until it is used or revoked.
CREATE TABLE IF NOT EXISTS invitations (
	id         {key} NOT NULL,
	token_hash {key} NOT NULL,
	user_id    {key} NOT NULL,
	name       text NOT NULL,
	role       text NOT NULL,
	posts      text NOT NULL,
	hotspots   text NOT NULL,
	created_at bigint NOT NULL,
	created_by text NOT NULL,
	key_id     text NOT NULL,
	expires_at bigint NOT NULL,
	used_at    bigint NOT NULL,
	used_by    text NOT NULL,
	revoked_at bigint NOT NULL,
	seal       bigint NOT NULL,
	CONSTRAINT invitations_pk PRIMARY KEY (id)
) {clustered};

CREATE UNIQUE INDEX IF NOT EXISTS invitations_token ON invitations (token_hash);

CREATE INDEX IF NOT EXISTS invitations_of ON invitations (user_id, id);

CREATE INDEX IF NOT EXISTS invitations_expiry ON invitations (expires_at);

CREATE TABLE IF NOT EXISTS sessions (
	id           {key} NOT NULL,
	person_id    {key} NOT NULL,
	secret_hash  bytea NOT NULL,
	device       text NOT NULL,
	door         text NOT NULL,
	created_at   bigint NOT NULL,
	last_used_at bigint NOT NULL,
	expires_at   bigint NOT NULL,
	fresh_until  bigint NOT NULL,
	CONSTRAINT sessions_pk PRIMARY KEY (id)
) {clustered};

CREATE INDEX IF NOT EXISTS sessions_of ON sessions (person_id, id);

CREATE INDEX IF NOT EXISTS sessions_expiry ON sessions (expires_at);

-- The id is what the device calls its credential, and data is the credential.
CREATE TABLE IF NOT EXISTS passkeys (
	id           {key} NOT NULL,
	person_id    {key} NOT NULL,
	name         text NOT NULL,
	data         text NOT NULL,
	synced       bigint NOT NULL,
	created_at   bigint NOT NULL,
	last_used_at bigint NOT NULL,
	CONSTRAINT passkeys_pk PRIMARY KEY (id)
) {clustered};

CREATE INDEX IF NOT EXISTS passkeys_of ON passkeys (person_id, id);

-- Every secret that works once: links to sign in, recovery codes, what was begun and is to be
-- finished. The transaction that uses one deletes it. Expires_at is 0 where it has no end.
CREATE TABLE IF NOT EXISTS tickets (
	hash       {key} NOT NULL,
	kind       {key} NOT NULL,
	person_id  {key} NOT NULL,
	data       text NOT NULL,
	created_by text NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	CONSTRAINT tickets_pk PRIMARY KEY (hash)
) {clustered};

CREATE INDEX IF NOT EXISTS tickets_of ON tickets (person_id, kind);

CREATE INDEX IF NOT EXISTS tickets_expiry ON tickets (expires_at);

-- Who a person is to the network's provider of OpenID Connect.
CREATE TABLE IF NOT EXISTS identities (
	issuer    {key} NOT NULL,
	subject   {key} NOT NULL,
	person_id {key} NOT NULL,
	CONSTRAINT identities_pk PRIMARY KEY (issuer, subject)
) {clustered};

CREATE INDEX IF NOT EXISTS identities_of ON identities (person_id);
