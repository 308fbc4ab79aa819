-- What the clocks of servers say, and the latest moment that has certainly come:
-- by these, days are closed. A server marks again and again what its clock says;
-- marks counts how often, so that others see that it lives.

CREATE TABLE IF NOT EXISTS clock_marks (
	node  {key} NOT NULL,
	said  bigint NOT NULL,
	marks bigint NOT NULL,
	CONSTRAINT clock_marks_pk PRIMARY KEY (node)
) {clustered};

-- One row. Confirmed counts how often staff said what day it is.
CREATE TABLE IF NOT EXISTS clock_certain (
	id        bigint NOT NULL,
	certain   bigint NOT NULL,
	confirmed bigint NOT NULL,
	CONSTRAINT clock_certain_pk PRIMARY KEY (id)
) {clustered};
