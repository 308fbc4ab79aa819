-- What a key may enrol: how many devices, whether they may register hotspots, and which
-- hotspots may get one. Words with blanks between; none: it is no enrolment key.
ALTER TABLE api_keys {add column} enrolment text NOT NULL DEFAULT '';

-- How many devices were linked with the key.
ALTER TABLE api_keys {add column} enrolled bigint NOT NULL DEFAULT 0;
