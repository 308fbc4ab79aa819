package ratelimit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/httpserver/ratelimit"
)

func TestParse(t *testing.T) {
	tests := []struct {
		text  string
		every time.Duration
		burst int
	}{
		{"100/s:200", 10 * time.Millisecond, 200},
		{"1/s:10", time.Second, 10},
		{"20/s:100", 50 * time.Millisecond, 100},
		{"10/min", 6 * time.Second, 10},
		{"5/h:1", 12 * time.Minute, 1},
		{"3/s", 333_333_334, 3},
		{"60/min:5", time.Second, 5},
		{"1000000/s", time.Microsecond, 1_000_000},
		{"92998/s:1", 10_753, 1},
		{"999999/s:1", 1001, 1},
		{"off", 0, 0},
	}
	for _, tt := range tests {
		got, err := ratelimit.Parse(tt.text)
		if want := (ratelimit.Limit{Every: tt.every, Burst: tt.burst}); err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", tt.text, got, err, want)
		}
	}
}

func TestParse_Refuses(t *testing.T) {
	tests := []struct{ text, because string }{
		{"", "unit of time is missing"},
		{"100", "unit of time is missing"},
		{"100:200", "unit of time is missing"},
		{"OFF", "unit of time is missing"},
		{"100/", `unit ""`},
		{"100/sec", `unit "sec"`},
		{"100/m", `unit "m"`},
		{"100/s:", `burst "" is not`},
		{"/s", `rate "" is not`},
		{"+1/s", `rate "+1" is not`},
		{"-1/s", `rate "-1" is not`},
		{"1.5/s", `rate "1.5" is not`},
		{"1e3/s", `rate "1e3" is not`},
		{" 1/s", `rate " 1" is not`},
		{"١/s", "is not a whole number"},
		{"1/s:2:3", `burst "2:3" is not`},
		{"0/s", "rate is 0"},
		{"1/s:0", "burst is 0"},
		{"1000001/s", "more than 1000000 per second"},
		{"99999999999999999999/s", "too large"},
		{"1/s:99999999999999999999", "too large"},
		{"1/h:10000", "over a year"},
		{"1/s:1000000000000", "over a year"},
	}
	for _, tt := range tests {
		got, err := ratelimit.Parse(tt.text)
		if err == nil || got != (ratelimit.Limit{}) {
			t.Errorf("Parse(%q) = %+v, %v; want an error", tt.text, got, err)
			continue
		}
		if !strings.Contains(err.Error(), tt.because) || !strings.Contains(err.Error(), "100/s:200") {
			t.Errorf("Parse(%q) says %q; want %q and an example", tt.text, err, tt.because)
		}
	}
}

func TestUnmarshalText(t *testing.T) {
	limit := three
	if err := limit.UnmarshalText([]byte("5/min:7")); err != nil || limit != (ratelimit.Limit{Every: 12 * time.Second, Burst: 7}) {
		t.Errorf("got %+v, %v", limit, err)
	}
	was := limit
	if err := limit.UnmarshalText([]byte("5")); err == nil || limit != was {
		t.Errorf("a wrong text gives %+v, %v; want an error and no change", limit, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"100/s:200", "off", "10/min", "7/h:3", "1/s:", "999999/s:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limit, err := ratelimit.Parse(text)
		if err != nil {
			return
		}
		if limit.Off() != (text == "off") {
			t.Fatalf("Parse(%q) = %+v", text, limit)
		}
		if d := limit.Spend(epoch, epoch, 1); !d.Allowed || d.Reset < 0 || d.Remaining < 0 {
			t.Fatalf("%+v decides %+v", limit, d)
		}
	})
}
