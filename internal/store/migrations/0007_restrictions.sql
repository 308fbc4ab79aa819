-- Where a key may be used: by pages of which origins, from which addresses, and whether
-- it may only read what is public. Words with blanks between; none: no restriction.

ALTER TABLE api_keys {add column} restrictions text NOT NULL DEFAULT '';
