// Package deploy embeds the systemd unit, dashboard and alert rules that /docs offers for
// download. Its tests check them without installing them.
package deploy

import "embed"

// Files are the downloads.
//
//go:embed beacon.service monitoring/alerts.yml monitoring/grafana-dashboard.json monitoring/prometheus.yml
var Files embed.FS
