-- What staff hold back from operators, and for how long.

-- All holds of an operator are numbered, so that each is placed in view of the others. The
-- content is JSON: who did what, when and why.
CREATE TABLE IF NOT EXISTS holds (
	user_id {key} NOT NULL,
	number  bigint NOT NULL,
	id      {key} NOT NULL,
	hotspot {key} NOT NULL,
	state   {key} NOT NULL,
	until   bigint NOT NULL,
	version bigint NOT NULL,
	content text NOT NULL,
	seal    bigint NOT NULL,
	CONSTRAINT holds_pk PRIMARY KEY (user_id, number)
) {clustered};

CREATE UNIQUE INDEX IF NOT EXISTS holds_by_id ON holds (id);

CREATE INDEX IF NOT EXISTS holds_by_state ON holds (state);

-- The hold under which a row was written, or empty.
ALTER TABLE ledger {add column} hold text NOT NULL DEFAULT '';

ALTER TABLE ledger_again {add column} hold text NOT NULL DEFAULT '';

-- What of a sum was earned under holds.
ALTER TABLE user_months {add column} held bigint NOT NULL DEFAULT 0;

ALTER TABLE statements {add column} held bigint NOT NULL DEFAULT 0;

-- The rows of the ledger with a hold that are not void, with their hashes and amounts.
-- Listed is the month whose statement says what became of the row, or -1.
CREATE TABLE IF NOT EXISTS held_days (
	user_id {key} NOT NULL,
	day     bigint NOT NULL,
	hotspot {key} NOT NULL,
	month   bigint NOT NULL,
	hold    {key} NOT NULL,
	hash    bytea NOT NULL,
	amount  bigint NOT NULL,
	listed  bigint NOT NULL,
	seal    bigint NOT NULL,
	CONSTRAINT held_days_pk PRIMARY KEY (user_id, day, hotspot)
) {clustered};

CREATE INDEX IF NOT EXISTS held_days_by_listed ON held_days (listed, user_id);
