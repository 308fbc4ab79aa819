-- What the program on a device reports of itself, as JSON; empty if it reports nothing.

ALTER TABLE hotspots {add column} agent text NOT NULL DEFAULT '';
