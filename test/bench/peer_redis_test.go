package bench

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/beacon-wifi/beacon/internal/geo"
)

// redisVariable names the binary of Redis.
const redisVariable = "REDIS_BIN"

// onRedis keeps places in a sorted set and each item under its id. A client asks
// twice: who is near, and what they are.
func onRedis(b *testing.B, w *peerWorld, items []item) *contestant {
	b.Helper()
	server := startRESP(b, func(folder, port string) *exec.Cmd {
		return exec.Command(os.Getenv(redisVariable), "--bind", "127.0.0.1", "--port", port, "--dir", folder, "--save", "", "--appendonly", "no")
	})
	for some := range slices.Chunk(items, 1000) {
		places, texts := []string{"GEOADD", "hotspots"}, []string{"MSET"}
		for _, one := range some {
			places = append(places, degrees(one.at.Lng), degrees(one.at.Lat), one.id)
			texts = append(texts, one.id, one.json)
		}
		server.must(b, places...)
		server.must(b, texts...)
	}
	ask := func(client *respConn, at geo.Point) (near, texts reply, err error) {
		near, err = client.do("GEOSEARCH", "hotspots", "FROMLONLAT", degrees(at.Lng), degrees(at.Lat),
			"BYRADIUS", strconv.Itoa(nearbyRadius), "m", "ASC", "COUNT", strconv.Itoa(nearbyLimit), "WITHDIST")
		if err != nil || len(near.list) == 0 {
			return near, texts, err
		}
		command := []string{"MGET"}
		for _, hit := range near.list {
			command = append(command, hit.list[0].text)
		}
		texts, err = client.do(command...)
		return near, texts, err
	}
	return &contestant{
		target: "1/14",
		name:   "Redis",
		does:   "`GEOSEARCH … BYRADIUS … ASC COUNT … WITHDIST`, then `MGET` of the items",
		ask: func(at geo.Point) (all []neighbour, err error) {
			near, texts, err := ask(server.clients[0], at)
			for i, hit := range near.list {
				meters, _ := strconv.ParseFloat(hit.list[1].text, 64)
				all = append(all, neighbour{hit.list[0].text, texts.list[i].text, meters})
			}
			return all, err
		},
		drive: func(c, first, n int) error {
			for i := range n {
				if _, _, err := ask(server.clients[c], w.places[(first+i)%len(w.places)]); err != nil {
					return err
				}
			}
			return nil
		},
		cpu:     func() float64 { return server.cpu(b) },
		perTurn: perTurn / 10,
		size:    fmt.Sprintf("%.0f B of memory", server.memory(b)/float64(len(items))),
	}
}

func degrees(d float64) string { return strconv.FormatFloat(d, 'f', -1, 64) }
