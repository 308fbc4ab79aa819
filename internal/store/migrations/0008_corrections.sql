-- Days that staff opened again. Rows of the ledger stay as they are. What was closed
-- wrongly is void by a correction, which is a row of its own in the user's chain, and
-- what is closed again is written beside. Revision counts how often days were opened.

ALTER TABLE ledger {add column} revision bigint NOT NULL DEFAULT 0;

-- One row, which every write to the ledger locks, and the first one makes.
CREATE TABLE IF NOT EXISTS reward_revision (
	id       bigint NOT NULL,
	revision bigint NOT NULL,
	CONSTRAINT reward_revision_pk PRIMARY KEY (id)
) {clustered};

CREATE TABLE IF NOT EXISTS reopenings (
	revision  bigint NOT NULL,
	first_day bigint NOT NULL,
	last_day  bigint NOT NULL,
	at        bigint NOT NULL,
	CONSTRAINT reopenings_pk PRIMARY KEY (revision)
) {clustered};

-- What a reopening took from a user in a month: the sum of all rows from a day on.
-- Corrects is the hash of the last row before, which holds.
CREATE TABLE IF NOT EXISTS corrections (
	user_id      {key} NOT NULL,
	month        bigint NOT NULL,
	revision     bigint NOT NULL,
	day          bigint NOT NULL,
	corrects     bytea NOT NULL,
	served       bigint NOT NULL,
	expected     bigint NOT NULL,
	availability bigint NOT NULL,
	performance  bigint NOT NULL,
	utilization  bigint NOT NULL,
	CONSTRAINT corrections_pk PRIMARY KEY (user_id, month, revision)
) {clustered};

-- Rows of days that were closed more than once, but for the first time.
CREATE TABLE IF NOT EXISTS ledger_again (
	day          bigint NOT NULL,
	user_id      {key} NOT NULL,
	hotspot      {key} NOT NULL,
	policy       bigint NOT NULL,
	served       bigint NOT NULL,
	expected     bigint NOT NULL,
	closed       bigint NOT NULL,
	excused      bigint NOT NULL,
	outside      bigint NOT NULL,
	bytes        bigint NOT NULL,
	tier         bigint NOT NULL,
	availability bigint NOT NULL,
	performance  bigint NOT NULL,
	utilization  bigint NOT NULL,
	revision     bigint NOT NULL,
	CONSTRAINT ledger_again_pk PRIMARY KEY (user_id, day, hotspot, revision)
) {clustered};
