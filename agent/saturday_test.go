//go:build linux

package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/store/storetest"
	"github.com/beacon-wifi/beacon/test/harness"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

// saturday is a network that moves in.
type saturday struct {
	t       *testing.T
	admin   *harness.Client
	server  *harness.Server
	key     string // to enrol with
	routers []*box // with the agent
	others  []*harness.Device

	moves         atomic.Int64
	heard         []atomic.Int64 // of each of the others: after how many moves it was acknowledged, and one
	acked, failed atomic.Int64   // heartbeats
}

// A network moves in on one day: its list of nodes is imported, they enrol by one key and
// from one address, their visits are recorded, and the server goes from SQLite to PostgreSQL
// while devices keep sending, some of them with the real agent. Then all of them are online
// at the old address, and nothing is lost of what was acknowledged.
//
// make check moves 300 nodes with 3 agents. BEACON_TEST_LEVEL=torture moves 1,000 with 10;
// -v prints what commands print.
func TestSaturday(t *testing.T) {
	level.Needs(t, level.Check)
	level.Repeats(t)
	nodes, routers := level.Rounds(0, 300, 1000), level.Rounds(0, 3, 10)
	address, from, to := harness.FreeAddress(), filepath.Join(t.TempDir(), "one.db"), storetest.Postgres(t)
	s := &saturday{t: t, server: harness.Start(t, from, "--addr", address, "--public")}
	s.admin = harness.NewClient(t, harness.CreateKey(t, from, "admin").Key)

	s.command("import", s.list(nodes), "--set", "type=public", "--set", "ssid=freifunk.net")
	s.enrol(nodes, routers)
	s.command("verify", s.visits(nodes))

	stop := s.send()
	s.online("on SQLite")
	s.carry(1_000_000)
	s.server.Stop(t)
	for _, b := range s.routers { // it counts while nobody hears it
		b.network("wlan0", 5, counters{rxBytes: 3_000_000})
	}
	s.command("move", "--from", from, "--to", to)
	t.Logf("the server stood still: %d heartbeats failed", s.failed.Load())
	s.moves.Add(1)
	s.server = harness.Start(t, to, "--addr", address, "--public")
	s.online("on PostgreSQL")
	s.carry(4_000_000)
	stop()
	harness.CheckTraffic(t, s.others, s.readings())
	t.Logf("%d heartbeats were acknowledged; each hotspot was compared with its device", s.acked.Load())
	s.onMap(nodes)
}

// command runs a command of beacon with the admin's key, and prints what it says.
func (s *saturday) command(args ...string) {
	s.t.Helper()
	program := harness.Program{Binary: harness.Binary, Environment: []string{"BEACON_KEY=" + s.admin.Key}}
	if args[0] != "move" {
		args = append(args, "--url", s.server.URL)
	}
	began := time.Now()
	said := program.Command(s.t, args...)
	s.t.Logf("beacon %s took %v:\n%s", args[0], time.Since(began).Round(time.Millisecond), said)
}

// file writes a file for a command.
func (s *saturday) file(name, text string) string {
	path := filepath.Join(s.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// list is meshviewer.json with all nodes.
func (s *saturday) list(nodes int) string {
	type node map[string]any
	all := make([]node, nodes)
	for n := range all {
		lat, lng := harness.PlaceOf(n)
		mac := harness.MACOf(n)
		all[n] = node{
			"node_id": strings.ReplaceAll(mac, ":", ""), "mac": mac, "hostname": fmt.Sprintf("node-%d", n), "is_online": true,
			"location": node{"latitude": lat, "longitude": lng},
		}
	}
	text, err := json.Marshal(node{"timestamp": "2026-11-14T10:00:00Z", "nodes": all, "links": []any{}})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.file("meshviewer.json", string(text))
}

// visits is the list of staff who have been to all nodes.
func (s *saturday) visits(nodes int) string {
	var text strings.Builder
	text.WriteString("mac_address,lat,lng,accuracy_m,visited_at,visitor\n")
	for n := range nodes {
		lat, lng := harness.PlaceOf(n)
		fmt.Fprintf(&text, "%s,%v,%v,5,%s,Ada\n", harness.MACOf(n), lat, lng, time.Now().UTC().Format(time.RFC3339))
	}
	return s.file("visits.csv", text.String())
}

// enrol links all devices with one key: the first ones with the agent.
func (s *saturday) enrol(nodes, routers int) {
	s.key = s.admin.Ask(s.t, http.MethodPost, s.server.URL+"/v1/keys", harness.Fields{
		"name": "Saturday", "scopes": []string{"devices:enrol"}, "max_enrolments": nodes, "expires_at": time.Now().Add(24 * time.Hour), "addresses": []string{"127.0.0.0/8"},
	})["key"].(string)
	began := time.Now()
	for n := range routers {
		b := joining(s.t, shells[0], "curl", s.server.URL, "mac="+harness.MACOf(n))
		if printed, exit := b.do("enrol", s.key); exit != 0 || !strings.HasPrefix(printed, "linked to hs_") {
			s.t.Fatalf("an agent exits with %d and says %s", exit, printed)
		}
		s.routers = append(s.routers, b)
	}
	s.others = make([]*harness.Device, nodes-routers)
	var next atomic.Int64
	var working sync.WaitGroup
	for range 8 {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(s.others); i = int(next.Add(1)) - 1 {
				d := &harness.Device{MAC: harness.MACOf(routers + i)}
				a := s.admin.Do(s.t.Context(), http.MethodPost, s.server.URL+"/v1/devices/enrol", harness.Fields{"mac_address": d.MAC}, "Authorization", "Bearer "+s.key)
				if a.Outcome() != harness.Done {
					s.t.Errorf("%s: %d %s %v", d.MAC, a.Status, a.Code, a.Err)
					continue
				}
				got := a.Fields(s.t)
				d.Hotspot, d.Key = got["hotspot_id"].(string), got["device_key"].(string)
				d.SSID = d.MAC // by which readings name it
				s.others[i] = d
			}
		})
	}
	working.Wait()
	if s.t.Failed() {
		s.t.FailNow()
	}
	s.t.Logf("%d devices, %d of them with the agent, enrolled by one key from one address in %v", nodes, routers, time.Since(began).Round(time.Millisecond))
}

// send lets all devices send until stop is called.
func (s *saturday) send() (stop func()) {
	for _, b := range s.routers {
		b.run()
	}
	s.heard = make([]atomic.Int64, len(s.others))
	server, done := s.server, make(chan struct{}) // its address stays
	var working sync.WaitGroup
	const hands = 4
	for hand := range hands {
		working.Go(func() {
			for i := hand; ; i += hands {
				if i >= len(s.others) {
					i = hand
				}
				select {
				case <-done:
					return
				default:
				}
				d, after := s.others[i], s.moves.Load()+1
				if int64(d.Boot) < after {
					d.Reboot() // so that later heartbeats do not make up for those before the move
				}
				if d.Beat(s.t.Context(), s.admin, server).Outcome() == harness.Done {
					s.acked.Add(1)
					s.heard[i].Store(after)
				} else {
					s.failed.Add(1)
					select { // the move has other work for the machine
					case <-done:
						return
					case <-time.After(10 * time.Millisecond):
					}
				}
			}
		})
	}
	return func() {
		close(done)
		working.Wait()
	}
}

// readings are what the server shows of all hotspots, by MAC address.
func (s *saturday) readings() map[string]harness.Reading {
	s.t.Helper()
	all := map[string]harness.Reading{}
	for page := 1; ; page++ {
		a := s.admin.Do(s.t.Context(), http.MethodGet, fmt.Sprintf("%s/v1/users/me/hotspots?per_page=100&page=%d", s.server.URL, page), nil)
		var list []harness.Fields
		if err := json.Unmarshal(a.Data, &list); err != nil {
			s.t.Fatal(a.Status, a.Code, a.Err, err)
		}
		for _, h := range list {
			all[h["device"].(harness.Fields)["mac_address"].(string)] = harness.ReadingOf(h)
		}
		if len(list) < 100 {
			return all
		}
	}
}

// online waits until each device was heard since the last move, and all hotspots are online.
func (s *saturday) online(where string) {
	s.t.Helper()
	nodes, after := len(s.routers)+len(s.others), s.moves.Load()+1
	harness.Eventually(s.t, "all hotspots are online "+where, func() bool {
		for i := range s.heard {
			if s.heard[i].Load() != after {
				return false
			}
		}
		online := 0
		for _, r := range s.readings() {
			if r.Status == "online" {
				online++
			}
		}
		return online == nodes
	})
	s.t.Logf("%d hotspots are online %s", nodes, where)
}

// carry has the Wi-Fi of each real agent carry so much in all, and waits until the server
// knows of each byte, and of no more.
func (s *saturday) carry(bytes uint64) {
	s.t.Helper()
	for _, b := range s.routers {
		b.network("wlan0", 5, counters{rxBytes: bytes})
	}
	harness.Eventually(s.t, fmt.Sprintf("each agent has told of %d bytes", bytes), func() bool {
		told, all := 0, s.readings()
		for n := range s.routers {
			if all[harness.MACOf(n)].Bytes == bytes {
				told++
			}
		}
		return told == len(s.routers)
	})
	s.t.Logf("the server knows exactly the %d bytes that each of %d real agents carried", bytes, len(s.routers))
}

// onMap counts the nodes in what Meshviewer reads.
func (s *saturday) onMap(nodes int) {
	response, err := http.Get(s.server.URL + "/open/meshviewer.json")
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	var file struct {
		Nodes []struct {
			ID string `json:"node_id"`
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&file); err != nil || len(file.Nodes) != nodes || len(file.Nodes[0].ID) != 12 {
		s.t.Errorf("meshviewer.json has %d nodes: %v", len(file.Nodes), err)
	}
	s.t.Logf("meshviewer.json has %d nodes", len(file.Nodes))
}
