-- Whose a hotspot was before, oldest first, each with the last day on which they earned with
-- it: JSON. This says whose a day is; former_owners only finds it.
ALTER TABLE hotspots {add column} former text NOT NULL DEFAULT '';

CREATE TABLE IF NOT EXISTS former_owners (
	hotspot {key} NOT NULL,
	through bigint NOT NULL,
	user_id {key} NOT NULL,
	CONSTRAINT former_owners_pk PRIMARY KEY (hotspot, through)
) {clustered};

CREATE INDEX IF NOT EXISTS former_owners_of ON former_owners (user_id, hotspot, through);

-- The hotspots on offer, until they are accepted, declined or withdrawn, or the offer ends. An
-- offer is to a user, or to whoever has the code of which there is the hash.
CREATE TABLE IF NOT EXISTS offers (
	hotspot    {key} NOT NULL,
	owner_id   {key} NOT NULL,
	by_id      text NOT NULL,
	to_id      {key} NOT NULL,
	code_hash  text NOT NULL,
	offered_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	CONSTRAINT offers_pk PRIMARY KEY (hotspot)
) {clustered};

CREATE INDEX IF NOT EXISTS offers_to ON offers (to_id, hotspot);

CREATE INDEX IF NOT EXISTS offers_of ON offers (owner_id, hotspot);

CREATE INDEX IF NOT EXISTS offers_expiry ON offers (expires_at);

-- Whose the hotspot was when the code was made: of nobody else's can it link a device.
ALTER TABLE link_codes {add column} operator_id text NOT NULL DEFAULT '';
