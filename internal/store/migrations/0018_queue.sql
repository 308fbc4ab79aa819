-- What a flag is worth looking at: what its accounts earned, in millionths of a credit, and
-- the hotspots of several accounts that it is about, as JSON, or empty.
ALTER TABLE flags {add column} stake bigint NOT NULL DEFAULT 0;

ALTER TABLE flags {add column} members text NOT NULL DEFAULT '';

-- The network of the address, as a keyed hash; 0: not known.
ALTER TABLE device_addresses {add column} network bigint NOT NULL DEFAULT 0;
