-- What devices bring: their heartbeats, what these add up to, and the events
-- that follow. {add column} may be repeated, or is undone when the step fails.
-- Days, minutes and times count from 1970 in UTC; times are in microseconds.

-- The hash of a device's secret in hex, empty while no device is linked.
ALTER TABLE hotspots {add column} device_hash text NOT NULL DEFAULT '';

ALTER TABLE hotspots {add column} past_hours text NOT NULL DEFAULT '';

ALTER TABLE changes {add column} note text NOT NULL DEFAULT '';

-- Up to which number the journal of a node is trimmed: it numbers on from there
-- when nothing is left.
ALTER TABLE nodes {add column} journal_trimmed bigint NOT NULL DEFAULT 0;

CREATE TABLE IF NOT EXISTS journal (
	node  {key} NOT NULL,
	seq   bigint NOT NULL,
	batch bytea NOT NULL,
	CONSTRAINT journal_pk PRIMARY KEY (node, seq)
) {clustered};

-- By day first: all that is written of a day lies together.
CREATE TABLE IF NOT EXISTS records (
	day     bigint NOT NULL,
	hotspot {key} NOT NULL,
	data    bytea NOT NULL,
	CONSTRAINT records_pk PRIMARY KEY (day, hotspot)
) {clustered};

-- The day of the newest record of each hotspot. An index by hotspot would give
-- the same, and be written at a million places when a day begins.
CREATE TABLE IF NOT EXISTS record_heads (
	hotspot {key} NOT NULL,
	day     bigint NOT NULL,
	CONSTRAINT record_heads_pk PRIMARY KEY (hotspot)
) {clustered};

-- A row is never deleted: its token would begin anew.
CREATE TABLE IF NOT EXISTS leases (
	name       {key} NOT NULL,
	holder     text NOT NULL,
	token      bigint NOT NULL,
	expires_at bigint NOT NULL,
	CONSTRAINT leases_pk PRIMARY KEY (name)
) {clustered};

CREATE TABLE IF NOT EXISTS service_spans (
	node        {key} NOT NULL,
	from_minute bigint NOT NULL,
	to_minute   bigint NOT NULL,
	CONSTRAINT service_spans_pk PRIMARY KEY (node, from_minute)
) {clustered};

CREATE TABLE IF NOT EXISTS events (
	seq     bigint NOT NULL,
	kind    text NOT NULL,
	target  text NOT NULL,
	user_id text NOT NULL,
	at      bigint NOT NULL,
	CONSTRAINT events_pk PRIMARY KEY (seq)
) {clustered};

-- Up to which number the changes of a node have become events.
CREATE TABLE IF NOT EXISTS event_places (
	node {key} NOT NULL,
	seq  bigint NOT NULL,
	CONSTRAINT event_places_pk PRIMARY KEY (node)
) {clustered};

-- What was announced last of each hotspot: 1 online, 0 offline.
CREATE TABLE IF NOT EXISTS statuses (
	hotspot {key} NOT NULL,
	online  bigint NOT NULL,
	at      bigint NOT NULL,
	CONSTRAINT statuses_pk PRIMARY KEY (hotspot)
) {clustered};

CREATE TABLE IF NOT EXISTS link_codes (
	hotspot    {key} NOT NULL,
	hash       {key} NOT NULL,
	expires_at bigint NOT NULL,
	tries      bigint NOT NULL,
	CONSTRAINT link_codes_pk PRIMARY KEY (hotspot)
) {clustered};

CREATE UNIQUE INDEX IF NOT EXISTS link_codes_hash ON link_codes (hash);
