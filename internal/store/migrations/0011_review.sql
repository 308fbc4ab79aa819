-- What staff should look at. Dismissed is when, in microseconds since 1970, or 0.
CREATE TABLE IF NOT EXISTS flags (
	hotspot   {key} NOT NULL,
	kind      {key} NOT NULL,
	user_id   {key} NOT NULL,
	weight    bigint NOT NULL,
	facts     text NOT NULL,
	first_day bigint NOT NULL,
	last_day  bigint NOT NULL,
	dismissed bigint NOT NULL,
	CONSTRAINT flags_pk PRIMARY KEY (hotspot, kind)
) {clustered};

CREATE INDEX IF NOT EXISTS flags_queue ON flags (dismissed, weight);

-- One row: the last day that was reviewed.
CREATE TABLE IF NOT EXISTS reviewed (
	id  bigint NOT NULL,
	day bigint NOT NULL,
	CONSTRAINT reviewed_pk PRIMARY KEY (id)
) {clustered};
