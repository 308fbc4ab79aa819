-- What users did on a UTC day, as far as that is limited: changes, and of MAC addresses.
CREATE TABLE IF NOT EXISTS tallies (
	day     bigint NOT NULL,
	user_id {key} NOT NULL,
	changes bigint NOT NULL,
	macs    bigint NOT NULL,
	CONSTRAINT tallies_pk PRIMARY KEY (day, user_id)
) {clustered};
