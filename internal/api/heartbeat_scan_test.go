package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/beacon-wifi/beacon/internal/api"
	"github.com/beacon-wifi/beacon/test/harness/level"
)

func randomBeat(random *rand.Rand) string {
	blanks := []string{"", "", "", " ", "\n\t", "\r"}
	blank := func() string { return blanks[random.IntN(len(blanks))] }
	var parts []string
	for _, piece := range random.Perm(9)[:random.IntN(10)] {
		if random.IntN(12) == 0 {
			piece = random.IntN(len(beatMembers))
		}
		parts = append(parts, blank()+beatMembers[piece]+blank())
	}
	body := blank() + "{" + strings.Join(parts, ",") + "}" + blank()
	if random.IntN(20) == 0 {
		body += []string{"x", "{}", "}", ",", "\x00", "0"}[random.IntN(6)]
	}
	if random.IntN(10) == 0 { // a typing error
		i := random.IntN(len(body))
		body = body[:i] + string(rune(' '+random.IntN(95))) + body[min(len(body), i+random.IntN(2)):]
	}
	return body
}

// checkBeat holds the quick reader to the general one: it agrees, or declines.
func checkBeat(t *testing.T, body string) (quick bool) {
	t.Helper()
	want, wantErr := api.DecodeBeat(body, plainJSON)
	fast, quick := api.ScanBeat(body)
	if quick && (wantErr != nil || fast != want) {
		t.Errorf("%q is read quickly as %+v; it is %+v, %v", body, fast, want, wantErr)
	}
	got, err := api.ReadBeat(body, plainJSON)
	if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) || (err == nil) != (wantErr == nil) {
		t.Errorf("%q is read as %+v, %v; want %+v, %v", body, got, err, want, wantErr)
	}
	return quick
}

func TestScanBeat_Random(t *testing.T) {
	n := level.Rounds(4000, 20_000, 20_000)
	quick, random := 0, rand.New(rand.NewPCG(level.Seed(t), 1))
	for range n {
		if checkBeat(t, randomBeat(random)) {
			quick++
		}
	}
	if quick < n/100 || quick > n/2 || t.Failed() {
		t.Errorf("%d of %d were read quickly", quick, n)
	}
}

// What devices send is read quickly: the examples of the document, and numbers
// of all sizes.
func TestScanBeat_Usual(t *testing.T) {
	bodies := []string{beat(1), `{"boot_id":"0b7c8d3e-6c2f-4a53-9a51-3a1d5a0f6f10","seq":4503599627370495,"counter_epoch":"7","counter_bits":64,"clients":10000,"rx_bytes":0,"tx_bytes":1,
		"rssi_dbm":-61.53,"speedtest":{"down_mbps":187.4231,"up_mbps":21,"latency_ms":11.8}}`}
	for _, example := range document(t).RequestExamples() {
		if strings.HasSuffix(example.Path, "/heartbeats") {
			body, err := json.Marshal(example.Value)
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, string(body))
		}
	}
	if len(bodies) < 4 {
		t.Error("the document shows no heartbeats")
	}
	for _, body := range bodies {
		if !checkBeat(t, body) {
			t.Errorf("%s is not read quickly", body)
		}
	}
}

func FuzzScanBeat(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		f.Add(randomBeat(random))
	}
	f.Add(beat(1))
	f.Fuzz(func(t *testing.T, body string) {
		if len(body) > 0 { // without one, net/http sends no length
			checkBeat(t, body)
		}
	})
}

// Numbers are those that strconv reads, bit for bit.
func FuzzScanBeat_Numbers(f *testing.F) {
	for _, seed := range []string{"0", "-0", "0.1", "-61.5", "9007199254740992", "9007199254740993", "0.000000000000000001", "123456789.123456789", "1e5", "00", "."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, number string) {
		body := `{"boot_id":"b","seq":1,"clients":1,"rx_bytes":1,"tx_bytes":1,"speedtest":{"down_mbps":` + number + `,"up_mbps":1,"latency_ms":1}}`
		beat, quick := api.ScanBeat(body)
		if !quick {
			return
		}
		if want, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err != nil || beat.Test.DownMbps != float32(want) {
			t.Errorf("%q is read as %v; want %v, %v", number, beat.Test.DownMbps, want, err)
		}
		checkBeat(t, body)
	})
}

// A beat keeps less than a double, so that a wrong last bit would not show in it.
func TestScanBeat_ExactNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(level.Seed(t), 1))
	quick := 0
	for range 100_000 {
		text := strconv.FormatUint(random.Uint64()>>random.IntN(64), 10)
		if point := random.IntN(len(text)); point > 0 {
			text = text[:point] + "." + text[point:]
		}
		got, ok := api.ScanNumber(text)
		if !ok {
			continue
		}
		quick++
		if want, err := strconv.ParseFloat(text, 64); err != nil || got != want {
			t.Fatalf("%s is read as %v; want %v, %v", text, got, want, err)
		}
	}
	if quick < 10_000 {
		t.Errorf("only %d were read quickly", quick)
	}
}

func TestNumbers(t *testing.T) {
	for n := range 10_001 {
		if got, want := api.Fraction(n), strconv.FormatFloat(float64(n)/10_000, 'f', -1, 64); got != want {
			t.Fatalf("%d ten-thousandths are %s; want %s", n, got, want)
		}
	}
	for _, tc := range []struct {
		part, whole int
		want        string
	}{{0, 7, "0"}, {7, 7, "1"}, {1, 3, "0.3333"}, {2, 3, "0.6667"}, {1, 100_000, "0.0001"}, {99_999, 100_000, "0.9999"}, {1, 1440, "0.0007"}} {
		if got := api.ShareOf(tc.part, tc.whole); got != tc.want {
			t.Errorf("%d of %d are %s; want %s", tc.part, tc.whole, got, tc.want)
		}
	}
	for bytes, want := range map[uint64]string{
		0: "0", 1: "0.000000001", 1_000_000_000: "1", 1_500_000_000: "1.5", 123_456_789_012: "123.456789012", 100_000_000: "0.1", 1<<64 - 1: "18446744073.709551615", 999_999_999: "0.999999999", 10: "0.00000001",
	} {
		if got := api.Gigabytes(bytes); got != want {
			t.Errorf("%d bytes are %s GB; want %s", bytes, got, want)
		}
	}
	if diff := cmp.Diff(`,"status":"online","coverage_radius_m":33.3,"signal_quality":"fair","performance_tier":"premium","current_load":0.25,"uptime_30d":1}`,
		string(api.AppendFacts(nil, facts(33.3)))); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}
