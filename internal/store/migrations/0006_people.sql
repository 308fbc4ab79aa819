-- What the network owes to people rather than to their keys: why a hotspot lost its
-- verification, whose an address was that is free again, and how much each may have.

ALTER TABLE hotspots {add column} unverified_reason text NOT NULL DEFAULT '';

-- How many hotspots of a user wait for staff is counted at each registration.
CREATE INDEX IF NOT EXISTS hotspots_waiting ON hotspots (operator_id, deleted_at, verified_at);

-- The last owner of a MAC address that no live hotspot has, or had one day.
CREATE TABLE IF NOT EXISTS freed_macs (
	mac     {key} NOT NULL,
	user_id {key} NOT NULL,
	until   bigint NOT NULL,
	CONSTRAINT freed_macs_pk PRIMARY KEY (mac)
) {clustered};

CREATE INDEX IF NOT EXISTS freed_macs_until ON freed_macs (until);

-- What staff allow a user, where it is not what everyone may have.
CREATE TABLE IF NOT EXISTS quotas (
	user_id    {key} NOT NULL,
	hotspots   bigint NOT NULL,
	keys       bigint NOT NULL,
	streams    bigint NOT NULL,
	statements bigint NOT NULL,
	CONSTRAINT quotas_pk PRIMARY KEY (user_id)
) {clustered};
