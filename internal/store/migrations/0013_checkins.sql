-- What apps report of hotspots, and from where devices send.

-- When check-ins extended the proof of the place, as JSON; empty if they never did.
ALTER TABLE hotspots {add column} vouches text NOT NULL DEFAULT '';

-- One row for each install, hotspot and UTC day, for 90 days. Install is a keyed hash,
-- and measured is JSON, or empty. Visited, evidence and works are 0 or 1.
CREATE TABLE IF NOT EXISTS checkins (
	hotspot  {key} NOT NULL,
	day      bigint NOT NULL,
	install  bytea NOT NULL,
	operator {key} NOT NULL,
	user_id  {key} NOT NULL,
	at       bigint NOT NULL,
	works    bigint NOT NULL,
	measured text NOT NULL,
	visited  bigint NOT NULL,
	evidence bigint NOT NULL,
	CONSTRAINT checkins_pk PRIMARY KEY (hotspot, day, install)
) {clustered};

CREATE INDEX IF NOT EXISTS checkins_install ON checkins (install, day);

CREATE INDEX IF NOT EXISTS checkins_day ON checkins (day);

-- The address that the device of a hotspot last sent from, as a keyed hash.
CREATE TABLE IF NOT EXISTS device_addresses (
	hotspot {key} NOT NULL,
	address bigint NOT NULL,
	at      bigint NOT NULL,
	CONSTRAINT device_addresses_pk PRIMARY KEY (hotspot)
) {clustered};

-- Random keys of hashes, which all servers share.
CREATE TABLE IF NOT EXISTS hash_keys (
	name  {key} NOT NULL,
	value bytea NOT NULL,
	CONSTRAINT hash_keys_pk PRIMARY KEY (name)
) {clustered};
