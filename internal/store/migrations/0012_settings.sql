-- What staff set for the whole network, and the secret behind the public places of homes.
-- The secret is made once and stays: another one would show each home at a second place.

CREATE TABLE IF NOT EXISTS settings (
	name  {key} NOT NULL,
	value text NOT NULL,
	CONSTRAINT settings_pk PRIMARY KEY (name)
) {clustered};
