-- What people decide about their own data.

-- Whether strangers see the SSID of a home that is hidden: 'shown', or empty.
ALTER TABLE hotspots {add column} show_ssid text NOT NULL DEFAULT '';

-- Users who asked for their data to be erased. Begun is when that could no longer be
-- taken back, cleared when all but what open months need was erased, and erased when all
-- was; each is 0 before.
CREATE TABLE IF NOT EXISTS erasures (
	user_id {key} NOT NULL,
	asked   bigint NOT NULL,
	due     bigint NOT NULL,
	begun   bigint NOT NULL,
	cleared bigint NOT NULL,
	erased  bigint NOT NULL,
	CONSTRAINT erasures_pk PRIMARY KEY (user_id)
) {clustered};

CREATE INDEX IF NOT EXISTS erasures_unfinished ON erasures (erased);
