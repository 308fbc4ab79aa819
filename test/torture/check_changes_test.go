//go:build linux

package torture_test

import (
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// checkChanges holds a database to what a transaction promises: with each version
// of a hotspot stands the change that made it (decision X10), and no stream of
// changes has a gap.
func checkChanges(t *testing.T, db string) {
	t.Helper()
	handle := harness.OpenSQL(t, db)
	for what, query := range map[string]string{
		"hotspots have other changes than versions": `SELECT count(*) FROM hotspots LEFT JOIN
			(SELECT target, count(DISTINCT version) AS made, max(version) AS latest
				FROM changes WHERE version > 0 GROUP BY target) AS done ON target = id
			WHERE made IS NULL OR made <> version OR latest <> version`,
		"streams of changes have gaps": `SELECT count(*) FROM
			(SELECT node FROM changes GROUP BY node HAVING max(seq) <> count(*)) AS gaps`,
	} {
		n := 0
		if err := handle.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n > 0 {
			t.Errorf("%d %s: %v", n, what, err)
		}
	}
}
