-- The hotspots that their operators deleted in the last day, and can have back.
CREATE TABLE IF NOT EXISTS deletions (
	hotspot {key} NOT NULL,
	user_id {key} NOT NULL,
	at      bigint NOT NULL,
	CONSTRAINT deletions_pk PRIMARY KEY (hotspot)
) {clustered};

CREATE INDEX IF NOT EXISTS deletions_of ON deletions (user_id, at);
