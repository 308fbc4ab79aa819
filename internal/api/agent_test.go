package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/internal/beacon"
)

// agentBlock is what a device reports of itself.
func agentBlock(version, model, firmware string) string {
	return fmt.Sprintf(`{"version":%q,"model":%q,"firmware":%q,"kernel":"6.6.110","bssid":"02005E000001","channel":36,"radios":2}`, version, model, firmware)
}

func withAgent(body, block string) string {
	return strings.TrimSuffix(body, "}") + `,"agent":` + block + `}`
}

// The memory in which a heartbeat is read is used again for those of other devices. None
// is taken for the report of the one before.
func TestAgent_NotOfAnother(t *testing.T) {
	read := api.ReportReader()
	unknown := strings.TrimSuffix(beat(1), "}") + `,"x":1}`
	for i, tc := range []struct {
		body    string
		reports bool
		ignored int
	}{
		{withAgent(beat(1), agentBlock("1.0.0", "A", "X")), true, 0},
		{beat(1), false, 0},
		{withAgent(unknown, agentBlock("1.0.0", "A", "X")), true, 1},
		{unknown, false, 1},
		{beat(1), false, 0},
		{withAgent(beat(1), agentBlock("1.0.0", "A", "X")), true, 0},
		{`{"seq":`, false, 0},
	} {
		if reports, ignored := read(tc.body); reports != tc.reports || ignored != tc.ignored {
			t.Errorf("heartbeat %d: a report %t, %d fields ignored; want %t, %d", i, reports, ignored, tc.reports, tc.ignored)
		}
	}
}

// What a device reports of itself is shown to its operator and staff, and to nobody
// else. It is stored when it has changed, at most once an hour, and forgotten with the
// device.
func TestAgent(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c := s.operator(t)
		spot := "/v1/hotspots/" + c.register(t, 1).ID
		code := c.newCode(t, spot)
		body := withAgent(at(`{"code":%q,"mac_address":%q}`, code, mac(1)), agentBlock("1.0.0", "GL-MT6000", "OpenWrt 24.10.4"))
		m := machine{client{server: s, plain: data[linked](t, s.call(t, "POST", "/v1/devices/link", body), http.StatusOK).DeviceKey}, spot}
		shown := func(c client) any {
			return data[map[string]any](t, c.get(t, spot), http.StatusOK)["device"].(map[string]any)["agent"]
		}
		want := map[string]any{
			"version": "1.0.0", "model": "GL-MT6000", "firmware": "OpenWrt 24.10.4", "kernel": "6.6.110", "bssid": "02:00:5e:00:00:01",
			"channel": 36.0, "radios": 2.0, "reported_at": "2026-11-15T12:00:00.000Z",
		}
		wantEqual(t, "to its operator", shown(c), any(want))
		wantEqual(t, "to staff", shown(s.anyone(t, "hotspots:verify")), any(want))
		wantEqual(t, "to others", shown(s.operator(t)), any(nil))

		type answer struct {
			Ignored []string `json:"ignored"`
		}
		report := func(seq int, block string, ignored ...string) {
			t.Helper()
			got := data[answer](t, m.beat(t, withAgent(beat(seq), block)), http.StatusOK)
			if diff := cmp.Diff(ignored, got.Ignored); diff != "" {
				t.Errorf("beat %d: ignored (-want +got):\n%s", seq, diff)
			}
		}
		updated := agentBlock("1.0.1", "GL-MT6000", "OpenWrt 24.10.4")
		version := data[hotspot](t, c.get(t, spot), http.StatusOK)
		report(1, agentBlock("1.0.0", "GL-MT6000", "OpenWrt 24.10.4"))
		if again := data[hotspot](t, c.get(t, spot), http.StatusOK); again.UpdatedAt != version.UpdatedAt {
			t.Error("the same report again changes the hotspot")
		}
		report(2, updated, "agent")
		s.advance(time.Hour)
		report(3, updated)
		want["version"], want["reported_at"] = "1.0.1", "2026-11-15T13:00:00.000Z"
		wantEqual(t, "after an hour", shown(c), any(want))
		report(4, strings.Replace(updated, `"radios"`, `"antennas":4,"radios"`, 1), "agent.antennas")

		c.delete(t, spot+"/device").want(t, http.StatusNoContent)
		wantEqual(t, "without a device", shown(c), any(nil))
	})
}

func TestAgent_Faults(t *testing.T) {
	s := onSQLite(t, alive)
	m := s.operator(t).install(t, 1)
	wantFault(t, m.beat(t, withAgent(beat(1), `{}`)), http.StatusBadRequest, "missing_parameter", "agent.version")
	for block, fields := range map[string]string{
		`[]`: "agent", `null`: "agent", `"1.0.0"`: "agent",
		`{"version":""}`: "agent.version",
		`{"version":1,"model":null,"firmware":"a\nb","kernel":"` + strings.Repeat("k", 65) + `","bssid":"x","channel":256,"radios":1.5}`: "agent.version agent.model agent.firmware agent.kernel agent.bssid agent.channel agent.radios",
	} {
		wantFault(t, m.beat(t, withAgent(beat(1), block)), http.StatusBadRequest, "invalid_request", strings.Fields(fields)...)
		wantFault(t, s.call(t, "POST", "/v1/devices/link", withAgent(`{"code":"a","mac_address":"b"}`, block)), http.StatusBadRequest, "invalid_request", strings.Fields(fields)...)
	}
}

// Staff find hotspots by what their devices run, and see what there is.
func TestAgent_Inventory(t *testing.T) {
	eachStoreWith(t, alive, func(t *testing.T, s *server) {
		c, staff := s.operator(t), s.anyone(t, "hotspots:verify")
		kinds := []beacon.AgentKind{
			{Version: "1.0.0", Model: "A", Firmware: "X"},
			{Version: "1.0.0", Model: "A", Firmware: "X"},
			{Version: "1.0.1", Model: "A", Firmware: "Y"},
			{Version: "1.0.1", Model: `B "é"`, Firmware: "X"},
			{},
		}
		var ids []string
		for i, kind := range kinds {
			s.advance(time.Second) // lists are in the order of registration
			m := c.install(t, i+1)
			ids = append(ids, strings.TrimPrefix(m.hotspot, "/v1/hotspots/"))
			if kind != (beacon.AgentKind{}) {
				m.beat(t, withAgent(beat(1), agentBlock(kind.Version, kind.Model, kind.Firmware))).want(t, http.StatusOK)
			}
		}
		c.register(t, 9) // without a device
		for query, want := range map[string][]string{
			"model=A": ids[:3], "firmware=X": {ids[0], ids[1], ids[3]}, "model=A&firmware=Y": ids[2:3], "agent=1.0.0": ids[:2],
			"model=" + url.QueryEscape(`B "é"`): ids[3:4], "model=a": {}, "model=A&status=online": {}, "model=A&status=pending": ids[:3],
		} {
			got := []string{}
			for _, one := range data[[]struct{ ID string }](t, staff.get(t, "/v1/hotspots?"+query), http.StatusOK) {
				got = append(got, one.ID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
		}
		wantFault(t, staff.get(t, "/v1/hotspots?model="), http.StatusBadRequest, "invalid_request", "model")
		wantFault(t, c.get(t, "/v1/hotspots/inventory"), http.StatusForbidden, "forbidden")
		type group struct {
			Model, Firmware, Agent string
			Count                  int
		}
		type inventory struct {
			Linked, Reporting int
			Groups            []group
		}
		wantEqual(t, "the inventory", data[inventory](t, staff.get(t, "/v1/hotspots/inventory"), http.StatusOK), inventory{
			5, 4, []group{{"A", "X", "1.0.0", 2}, {"A", "Y", "1.0.1", 1}, {`B "é"`, "X", "1.0.1", 1}},
		})
	})
}
