package coding_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/beacon-wifi/beacon/internal/httpserver/coding"
)

// nearby resembles a response with so many hotspots.
func nearby(hotspots int) []byte {
	chance := rand.New(rand.NewPCG(1, 2))
	body := []byte(`{"data":[`)
	for i := range hotspots {
		body = fmt.Appendf(body, `{"id":"hs_01kb3g%018x","name":"Hotspot %d","type":"public","location":{"lat":%.7f,"lng":%.7f,"address":"%d Main Street, New York"},`+
			`"distance_m":%.1f,"status":"online","coverage_radius_m":100,"signal_quality":"good","performance_tier":"standard","current_load":%.4f,"uptime_30d":%.4f},`,
			chance.Uint64(), i, 40.7+chance.Float64(), -74+chance.Float64(), chance.IntN(2000), 1000*chance.Float64(), chance.Float64(), chance.Float64())
	}
	return append(body, "]}"...)
}

func BenchmarkAppend(b *testing.B) {
	for _, hotspots := range []int{20, 100} {
		body := nearby(hotspots)
		for _, c := range []coding.Coding{coding.Gzip, coding.Zstd} {
			b.Run(fmt.Sprintf("%v/%d", c, hotspots), func(b *testing.B) {
				var out []byte
				b.ReportAllocs()
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					out = c.Append(out[:0], body)
				}
				b.ReportMetric(float64(len(out))/float64(len(body)), "left")
			})
		}
	}
}
