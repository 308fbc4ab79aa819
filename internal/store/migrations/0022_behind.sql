-- Who may be behind a key or a person, for rules that need two people.

-- The person who made a key; empty if nobody was signed in.
ALTER TABLE api_keys {add column} created_by {key} NOT NULL DEFAULT '';

CREATE INDEX IF NOT EXISTS api_keys_created_by ON api_keys (created_by, id);

-- Accounts that a person left not long ago: who leaves one to judge its hotspots is still
-- behind it.

CREATE TABLE IF NOT EXISTS left_accounts (
	person_id {key} NOT NULL,
	user_id   {key} NOT NULL,
	left_at   bigint NOT NULL,
	CONSTRAINT left_accounts_pk PRIMARY KEY (person_id, user_id)
) {clustered};

CREATE INDEX IF NOT EXISTS left_accounts_of ON left_accounts (user_id, person_id);

CREATE INDEX IF NOT EXISTS left_accounts_at ON left_accounts (left_at);
