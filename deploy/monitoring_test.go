package deploy_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/oasdiff/yaml"
)

// alert is a rule of alerts.yml.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) (all []alert) {
	t.Helper()
	var file struct {
		Groups []struct{ Rules []alert }
	}
	decode(t, "monitoring/alerts.yml", &file)
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) < 20 {
		t.Fatalf("there are %d alerts", len(all))
	}
	return all
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	if _, err := yaml.Unmarshal([]byte(read(t, file)), into, yaml.DecodeOpts{}); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// panel is one of the dashboard's, as far as the tests look at it.
type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               struct{ Type, UID string }
	FieldConfig              struct {
		Defaults struct{ Unit string }
	}
	Targets []struct {
		RefID, Expr string
		Datasource  struct{ UID string }
	}
	Panels []json.RawMessage
}

type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Panels        []panel
	Templating    struct {
		List []struct{ Name, Type string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text := read(t, "monitoring/grafana-dashboard.json")
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Grafana would take more than this, and show it badly: two panels in one place, a
// panel without a unit.
func TestDashboard(t *testing.T) {
	d := readDashboard(t)
	if d.UID != "beacon" || d.Title == "" || d.SchemaVersion < 36 {
		t.Errorf("uid %q, title %q, schema version %d", d.UID, d.Title, d.SchemaVersion)
	}
	variables := map[string]string{}
	for _, v := range d.Templating.List {
		variables[v.Name] = v.Type
	}
	if variables["datasource"] != "datasource" || variables["instance"] != "query" || len(variables) != 2 {
		t.Errorf("the variables are %v", variables)
	}
	var rows []string
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 || p.Title == "" {
			t.Errorf("panel %q has the id %d, which another has, or no title", p.Title, p.ID)
		}
		ids[p.ID] = true
		occupy(t, taken, p)
		if p.Type == "row" {
			rows = append(rows, p.Title)
		} else {
			checkPanel(t, p)
		}
	}
	want := "Overview, Requests, Heartbeats and devices, Database, Replication between servers, Rewards, Runtime"
	if got := strings.Join(rows, ", "); got != want {
		t.Errorf("the rows are %s; want %s", got, want)
	}
	if len(ids) < 30 {
		t.Errorf("the dashboard has %d panels", len(ids))
	}
}

// occupy notes where a panel stands, on a grid of 24 columns.
func occupy(t *testing.T, taken map[[2]int]string, p panel) {
	t.Helper()
	g := p.GridPos
	if g.W < 1 || g.H < 1 || g.X < 0 || g.Y < 0 || g.X+g.W > 24 {
		t.Errorf("%s stands outside of the grid: %+v", p.Title, g)
	}
	for x := g.X; x < g.X+g.W; x++ {
		for y := g.Y; y < g.Y+g.H; y++ {
			if other, there := taken[[2]int{x, y}]; there {
				t.Errorf("%s and %s overlap at %d, %d", p.Title, other, x, y)
				return
			}
			taken[[2]int{x, y}] = p.Title
		}
	}
}

func checkPanel(t *testing.T, p panel) {
	t.Helper()
	if len(p.Description) < 20 || !strings.HasSuffix(p.Description, ".") || p.FieldConfig.Defaults.Unit == "" {
		t.Errorf("%s has the description %q and the unit %q", p.Title, p.Description, p.FieldConfig.Defaults.Unit)
	}
	if p.Datasource.UID != "${datasource}" || p.Datasource.Type != "prometheus" || len(p.Targets) == 0 {
		t.Errorf("%s asks %+v, %d times", p.Title, p.Datasource, len(p.Targets))
	}
	refs := map[string]bool{}
	for _, target := range p.Targets {
		if refs[target.RefID] || target.RefID == "" || target.Datasource.UID != "${datasource}" {
			t.Errorf("%s has a target %+v", p.Title, target)
		}
		refs[target.RefID] = true
		if !strings.Contains(target.Expr, `instance=~"$instance"`) {
			t.Errorf("%s does not ask about the chosen servers: %s", p.Title, target.Expr)
		}
	}
}

// Whoever is woken by an alert finds out what it is about, and what to do.
func TestAlerts(t *testing.T) {
	headings := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(read(t, "../docs/monitoring.md"), -1) {
		headings[strings.ReplaceAll(strings.ToLower(found[1]), " ", "-")] = true // as GitHub names it
	}
	seen := map[string]bool{}
	for _, a := range alerts(t) {
		if seen[a.Alert] {
			t.Errorf("there are two alerts %s", a.Alert)
		}
		seen[a.Alert] = true
		switch a.Labels["severity"] {
		case "critical", "warning", "info":
		default:
			t.Errorf("%s has the severity %q", a.Alert, a.Labels["severity"])
		}
		if a.For == "" || a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
			t.Errorf("%s lacks a for, a summary or a description", a.Alert)
		}
		anchor, ok := strings.CutPrefix(a.Annotations["runbook_url"], "https://github.com/beacon-wifi/beacon/blob/main/docs/monitoring.md#")
		if !ok || !headings[anchor] || anchor != strings.ToLower(a.Alert) {
			t.Errorf("%s sends people to %q; docs/monitoring.md has no such section of its own", a.Alert, a.Annotations["runbook_url"])
		}
	}
	for heading := range headings {
		if strings.HasPrefix(heading, "beacon") && !hasAlert(seen, heading) {
			t.Errorf("docs/monitoring.md has a section %s, and there is no such alert", heading)
		}
	}
}

func hasAlert(alerts map[string]bool, anchor string) bool {
	for name := range alerts {
		if strings.ToLower(name) == anchor {
			return true
		}
	}
	return false
}

// Each alert has a case in which it fires and one in which it does not, and each
// case is about what the alert looks at: what nobody measures is silent too.
func TestAlerts_HaveCases(t *testing.T) {
	var file struct {
		Tests []struct {
			Name          string
			InputSeries   []struct{ Series string } `json:"input_series"`
			AlertRuleTest []struct {
				Alertname string
				ExpAlerts []json.RawMessage `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		}
	}
	decode(t, "monitoring/alerts_test.yml", &file)
	fires, silent, exprs := map[string]int{}, map[string]int{}, map[string]string{}
	for _, a := range alerts(t) {
		exprs[a.Alert] = a.Expr
	}
	for _, test := range file.Tests {
		for _, c := range test.AlertRuleTest {
			expr, known := exprs[c.Alertname]
			if !known {
				t.Errorf("%q is about %s, which there is not", test.Name, c.Alertname)
			}
			for _, s := range test.InputSeries {
				if name, _, _ := strings.Cut(s.Series, "{"); !regexp.MustCompile(`\b` + name + `\b`).MatchString(expr) {
					t.Errorf("%q sets %s, which the alert does not look at", test.Name, name)
				}
			}
			if len(test.InputSeries) == 0 {
				t.Errorf("%q sets nothing", test.Name)
			}
			if len(c.ExpAlerts) > 0 {
				fires[c.Alertname]++
			} else {
				silent[c.Alertname]++
			}
		}
	}
	for name := range exprs {
		if fires[name] == 0 || silent[name] == 0 {
			t.Errorf("%s has %d cases in which it fires, and %d in which it does not", name, fires[name], silent[name])
		}
	}
}
