-- Times are microseconds since 1970 in UTC, and 0 where something has not
-- happened yet. {key} is text that sorts by its bytes; {clustered} keeps the
-- rows in the order of their primary key where an engine has to be told.
-- A migration that was released is never edited: its checksum is kept.

CREATE TABLE IF NOT EXISTS hotspots (
	id                   {key} NOT NULL,
	operator_id          {key} NOT NULL,
	name                 text NOT NULL,
	type                 text NOT NULL,
	lat                  double precision NOT NULL,
	lng                  double precision NOT NULL,
	address              text NOT NULL,
	verified_at          bigint NOT NULL,
	ssid                 text NOT NULL,
	mac                  text NOT NULL,
	-- The canonical form while the hotspot lives, NULL after: the index below
	-- is what makes a MAC unique among live hotspots (decision N8).
	mac_live             {key},
	linked_at            bigint NOT NULL,
	max_connections      bigint NOT NULL,
	bandwidth_limit_mbps double precision NOT NULL,
	operating_hours      text NOT NULL,
	coverage_radius_m    double precision NOT NULL,
	created_at           bigint NOT NULL,
	updated_at           bigint NOT NULL,
	deleted_at           bigint NOT NULL,
	version              bigint NOT NULL,
	CONSTRAINT hotspots_pk PRIMARY KEY (id)
) {clustered};

CREATE UNIQUE INDEX IF NOT EXISTS hotspots_mac_live ON hotspots (mac_live);

CREATE INDEX IF NOT EXISTS hotspots_operator ON hotspots (operator_id, id);

CREATE TABLE IF NOT EXISTS api_keys (
	id           {key} NOT NULL,
	user_id      {key} NOT NULL,
	name         text NOT NULL,
	scopes       text NOT NULL,
	secret_hash  bytea NOT NULL,
	created_at   bigint NOT NULL,
	expires_at   bigint NOT NULL,
	revoked_at   bigint NOT NULL,
	last_used_at bigint NOT NULL,
	CONSTRAINT api_keys_pk PRIMARY KEY (id)
) {clustered};

CREATE INDEX IF NOT EXISTS api_keys_user ON api_keys (user_id, id);

CREATE TABLE IF NOT EXISTS idempotency (
	owner       {key} NOT NULL,
	request_key {key} NOT NULL,
	fingerprint bytea NOT NULL,
	result      bytea NOT NULL,
	expires_at  bigint NOT NULL,
	CONSTRAINT idempotency_pk PRIMARY KEY (owner, request_key)
) {clustered};

CREATE INDEX IF NOT EXISTS idempotency_expiry ON idempotency (expires_at);

-- A node has a row from its first change on. Its head is the highest seq it has
-- in changes: an own counter would cost every commit one more page.
CREATE TABLE IF NOT EXISTS nodes (
	node       {key} NOT NULL,
	started_at bigint NOT NULL,
	CONSTRAINT nodes_pk PRIMARY KEY (node)
) {clustered};

-- No index by time: it would cost every write a page, and gather all writes at
-- one place of a distributed engine. The audit merges the streams instead.
CREATE TABLE IF NOT EXISTS changes (
	node       {key} NOT NULL,
	seq        bigint NOT NULL,
	kind       text NOT NULL,
	target     text NOT NULL,
	version    bigint NOT NULL,
	key_id     text NOT NULL,
	user_id    text NOT NULL,
	request_id text NOT NULL,
	at         bigint NOT NULL,
	CONSTRAINT changes_pk PRIMARY KEY (node, seq)
) {clustered};
