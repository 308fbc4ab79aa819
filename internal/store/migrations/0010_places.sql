-- Where hotspots stand by the visits of staff, and what rows say of the ground.

ALTER TABLE hotspots {add column} visits text NOT NULL DEFAULT '';

-- The fields that follow in the line of a row whose policy pays places, or empty.
ALTER TABLE ledger {add column} ground text NOT NULL DEFAULT '';

ALTER TABLE ledger_again {add column} ground text NOT NULL DEFAULT '';

-- On how many closed days a hotspot served at a place, which has a first day. Before is
-- how many those were without the last day included.
CREATE TABLE IF NOT EXISTS standings (
	hotspot {key} NOT NULL,
	since   bigint NOT NULL,
	through bigint NOT NULL,
	before  bigint NOT NULL,
	days    bigint NOT NULL,
	CONSTRAINT standings_pk PRIMARY KEY (hotspot, since)
) {clustered};

-- One row: through which day the standings are complete, as of a revision. If that is not
-- the last closed day, they are counted from the ledger before the next day is closed.
CREATE TABLE IF NOT EXISTS standings_through (
	id       bigint NOT NULL,
	day      bigint NOT NULL,
	revision bigint NOT NULL,
	CONSTRAINT standings_through_pk PRIMARY KEY (id)
) {clustered};
