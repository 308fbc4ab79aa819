// Package deploy holds what others install and watch Beacon with. Its tests
// look at that as far as they can without installing it.
package deploy

import "embed"

// Files are what the documentation lets people download.
//
//go:embed beacon.service monitoring/alerts.yml monitoring/grafana-dashboard.json monitoring/prometheus.yml
var Files embed.FS
