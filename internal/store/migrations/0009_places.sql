-- Where hotspots stand by the visits of staff, and what rows say of the ground.

ALTER TABLE hotspots {add column} visits text NOT NULL DEFAULT '';

-- The fields that follow in the line of a row whose policy pays places, or empty.
ALTER TABLE ledger {add column} ground text NOT NULL DEFAULT '';

ALTER TABLE ledger_again {add column} ground text NOT NULL DEFAULT '';
