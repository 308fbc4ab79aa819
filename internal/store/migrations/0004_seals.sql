-- What can be computed from nothing else (a name, a place, whose a key is, who
-- did what) is sealed with a checksum, so that a byte which a disk has changed
-- is noticed. 0 stands for rows that were written before there were seals.

ALTER TABLE hotspots {add column} seal bigint NOT NULL DEFAULT 0;

ALTER TABLE api_keys {add column} seal bigint NOT NULL DEFAULT 0;

ALTER TABLE changes {add column} seal bigint NOT NULL DEFAULT 0;
