package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// tile38Variable names the binary of Tile38, which Debian does not have.
const tile38Variable = "TILE38_BIN"

// onTile38 keeps each item as the properties of a GeoJSON feature, so that one
// answer says it all. Where there is no Tile38, it says why.
func onTile38(b *testing.B, w *peerWorld, items []item) (c *contestant, missing string) {
	b.Helper()
	binary := os.Getenv(tile38Variable)
	if binary == "" {
		return nil, "**not run** (`" + tile38Variable + "` is not set)"
	}
	server := startRESP(b, func(folder, port string) *exec.Cmd {
		return exec.Command(binary, "-h", "127.0.0.1", "-p", port, "-d", folder, "--appendonly", "no")
	})
	together(b, func(c int) error {
		for i := c; i < len(items); i += connections {
			if _, err := server.clients[c].do("SET", "hotspots", items[i].id, "OBJECT", featureOf(items[i])); err != nil {
				return err
			}
		}
		return nil
	})
	ask := func(client *respConn, at geo.Point) (reply, error) {
		return client.do("NEARBY", "hotspots", "LIMIT", strconv.Itoa(nearbyLimit), "DISTANCE",
			"POINT", degrees(at.Lat), degrees(at.Lng), strconv.Itoa(nearbyRadius))
	}
	return &contestant{
		target: "1/25",
		name:   "Tile38",
		does:   "`NEARBY … LIMIT … DISTANCE POINT`, items as GeoJSON features, over RESP",
		ask: func(at geo.Point) (all []neighbour, err error) {
			answer, err := ask(server.clients[0], at)
			if err != nil || len(answer.list) != 2 {
				return nil, fmt.Errorf("%d parts, %w", len(answer.list), err)
			}
			for _, hit := range answer.list[1].list { // id, object, distance
				meters, _ := strconv.ParseFloat(hit.list[len(hit.list)-1].text, 64)
				all = append(all, neighbour{hit.list[0].text, propertiesOf(hit.list[1].text), meters})
			}
			return all, nil
		},
		drive: func(c, first, n int) error {
			for i := range n {
				if _, err := ask(server.clients[c], w.places[(first+i)%len(w.places)]); err != nil {
					return err
				}
			}
			return nil
		},
		cpu:     func() float64 { return server.cpu(b) },
		perTurn: perTurn / 10,
		size:    fmt.Sprintf("%.0f B of memory", server.memory(b)/float64(len(items))),
	}, ""
}

func featureOf(one item) string {
	return fmt.Sprintf(`{"type":"Feature","geometry":{"type":"Point","coordinates":[%s,%s]},"properties":%s}`,
		degrees(one.at.Lng), degrees(one.at.Lat), one.json)
}

// propertiesOf gives the properties of a feature as they were sent.
func propertiesOf(feature string) string {
	var parts struct{ Properties json.RawMessage }
	if err := json.Unmarshal([]byte(feature), &parts); err != nil {
		return err.Error()
	}
	return string(parts.Properties)
}
