-- What hotspots earn: rows of days, their sums, and statements. Days and months
-- count from 1970 in UTC, amounts are millionths of a credit. Rows and
-- statements are inserted and never changed.

ALTER TABLE hotspots {add column} past_service text NOT NULL DEFAULT '';

-- Bytes may be above what a bigint holds; those stand as negative numbers, and
-- are never added up here.
CREATE TABLE IF NOT EXISTS ledger (
	day          bigint NOT NULL,
	user_id      {key} NOT NULL,
	hotspot      {key} NOT NULL,
	policy       bigint NOT NULL,
	served       bigint NOT NULL,
	expected     bigint NOT NULL,
	closed       bigint NOT NULL,
	excused      bigint NOT NULL,
	outside      bigint NOT NULL,
	bytes        bigint NOT NULL,
	tier         bigint NOT NULL,
	availability bigint NOT NULL,
	performance  bigint NOT NULL,
	utilization  bigint NOT NULL,
	CONSTRAINT ledger_pk PRIMARY KEY (day, user_id, hotspot)
) {clustered};

CREATE TABLE IF NOT EXISTS hotspot_months (
	month        bigint NOT NULL,
	user_id      {key} NOT NULL,
	hotspot      {key} NOT NULL,
	through      bigint NOT NULL,
	tier         bigint NOT NULL,
	served       bigint NOT NULL,
	expected     bigint NOT NULL,
	availability bigint NOT NULL,
	performance  bigint NOT NULL,
	utilization  bigint NOT NULL,
	CONSTRAINT hotspot_months_pk PRIMARY KEY (month, user_id, hotspot)
) {clustered};

CREATE TABLE IF NOT EXISTS user_months (
	month        bigint NOT NULL,
	user_id      {key} NOT NULL,
	hotspots     bigint NOT NULL,
	row_count    bigint NOT NULL,
	chain        bytea NOT NULL,
	served       bigint NOT NULL,
	expected     bigint NOT NULL,
	availability bigint NOT NULL,
	performance  bigint NOT NULL,
	utilization  bigint NOT NULL,
	CONSTRAINT user_months_pk PRIMARY KEY (month, user_id)
) {clustered};

-- The months of a hotspot that are settled, up to and including one.
CREATE TABLE IF NOT EXISTS hotspot_totals (
	user_id      {key} NOT NULL,
	hotspot      {key} NOT NULL,
	through      bigint NOT NULL,
	tier         bigint NOT NULL,
	served       bigint NOT NULL,
	expected     bigint NOT NULL,
	availability bigint NOT NULL,
	performance  bigint NOT NULL,
	utilization  bigint NOT NULL,
	CONSTRAINT hotspot_totals_pk PRIMARY KEY (user_id, hotspot)
) {clustered};

CREATE TABLE IF NOT EXISTS statements (
	user_id      {key} NOT NULL,
	month        bigint NOT NULL,
	hotspots     bigint NOT NULL,
	row_count    bigint NOT NULL,
	chain        bytea NOT NULL,
	served       bigint NOT NULL,
	expected     bigint NOT NULL,
	availability bigint NOT NULL,
	performance  bigint NOT NULL,
	utilization  bigint NOT NULL,
	previous     bytea NOT NULL,
	hash         bytea NOT NULL,
	settled_at   bigint NOT NULL,
	CONSTRAINT statements_pk PRIMARY KEY (user_id, month)
) {clustered};

-- The sum of a user's statements. Previous is the hash before the last one: what
-- a statement is to follow is compared with it in the statement that adds it.
CREATE TABLE IF NOT EXISTS accounts (
	user_id      {key} NOT NULL,
	first_day    bigint NOT NULL,
	settled      bigint NOT NULL,
	previous     bytea NOT NULL,
	hash         bytea NOT NULL,
	served       bigint NOT NULL,
	expected     bigint NOT NULL,
	availability bigint NOT NULL,
	performance  bigint NOT NULL,
	utilization  bigint NOT NULL,
	CONSTRAINT accounts_pk PRIMARY KEY (user_id)
) {clustered};

-- How far the closing of a day has come, and what it adds up to.
CREATE TABLE IF NOT EXISTS reward_days (
	day          bigint NOT NULL,
	upto_user    text NOT NULL,
	upto_hotspot text NOT NULL,
	hotspots     bigint NOT NULL,
	availability bigint NOT NULL,
	performance  bigint NOT NULL,
	utilization  bigint NOT NULL,
	closed_at    bigint NOT NULL,
	CONSTRAINT reward_days_pk PRIMARY KEY (day)
) {clustered};

CREATE TABLE IF NOT EXISTS reward_months (
	month       bigint NOT NULL,
	finished_at bigint NOT NULL,
	CONSTRAINT reward_months_pk PRIMARY KEY (month)
) {clustered};

CREATE TABLE IF NOT EXISTS reward_policies (
	version   bigint NOT NULL,
	first_day bigint NOT NULL,
	content   text NOT NULL,
	CONSTRAINT reward_policies_pk PRIMARY KEY (version)
) {clustered};
