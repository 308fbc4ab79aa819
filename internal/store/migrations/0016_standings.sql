-- How many minutes of a day standings count; 0: they count days. They are counted again when
-- a policy begins that counts otherwise.
ALTER TABLE standings_through {add column} minutes_a_day bigint NOT NULL DEFAULT 0;
