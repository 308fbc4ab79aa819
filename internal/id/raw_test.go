package id_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/id"
)

func TestParse_GivesTheNumber(t *testing.T) {
	for i := range 1000 {
		text := id.New("hs_", time.UnixMilli(int64(i)*1_700_000_003))
		raw, ok := id.Parse("hs_", text)
		if want := decode(t, strings.TrimPrefix(text, "hs_")); !ok || !bytes.Equal(raw[:], want) {
			t.Fatalf("Parse(%s) = %x, %v; want %x", text, raw, ok, want)
		}
		if want := time.UnixMilli(int64(i) * 1_700_000_003); !raw.Time().Equal(want) {
			t.Fatalf("%s was made %s; want %s", text, raw.Time(), want)
		}
		if got := raw.Format("hs_"); got != text {
			t.Fatalf("%x is spelt %s; want %s", raw, got, text)
		}
	}
}

func TestParse_Bounds(t *testing.T) {
	for text, want := range map[string]id.Raw{
		"x_" + strings.Repeat("0", 26):       {},
		"x_7" + strings.Repeat("z", 25):      {0: 255, 1: 255, 2: 255, 3: 255, 4: 255, 5: 255, 6: 255, 7: 255, 8: 255, 9: 255, 10: 255, 11: 255, 12: 255, 13: 255, 14: 255, 15: 255},
		"x_" + strings.Repeat("0", 25) + "1": {15: 1},
	} {
		if got, ok := id.Parse("x_", text); !ok || got != want || got.Format("x_") != text {
			t.Errorf("Parse(%s) = %x, %v; want %x", text, got, ok, want)
		}
	}
}

func TestParse_RefusesWhatValidDoes(t *testing.T) {
	good := id.New("hs_", time.Unix(1_800_000_000, 0))
	for _, bad := range []string{
		"", "hs_", good[:len(good)-1], good + "0", strings.ToUpper(good), "usr_" + good[3:],
		"hs_8" + good[4:], "hs_0i" + good[5:], "hs_0l" + good[5:], "hs_0\x00" + good[5:], good[3:],
	} {
		if raw, ok := id.Parse("hs_", bad); ok {
			t.Errorf("Parse accepts %q as %x", bad, raw)
		}
	}
}
