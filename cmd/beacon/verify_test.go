package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/client"
)

// Staff run a list of visits: dry, for real, again, and what was refused once it is mended.
// Each visit counts once.
func TestVerify(t *testing.T) {
	t.Parallel()
	server, key, own := importServer(t)
	var made []client.Hotspot
	for n := range 4 {
		h, err := own.RegisterHotspot(t.Context(), client.Registration{
			Name: fmt.Sprintf("Hotspot %d", n), Type: client.Public, Location: client.Place{Lat: 52.52, Lng: 13.4},
			Device: client.AccessPoint{SSID: "x", MACAddress: fmt.Sprintf("02005e%06x", n)},
		})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, h)
	}
	folder := t.TempDir()
	file, refused := filepath.Join(folder, "visits.csv"), filepath.Join(folder, "visits-refused.csv")
	at := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	text := "Hotspot ID;MAC;Latitude;Longitude;Accuracy;Visited At;Visitor\n" +
		made[0].ID + ";;52,52;13,4;5;" + at + ";Ada\n" +
		";02:00:5e:00:00:01;52,52;13,4;5;" + at + ";Ada\n" +
		";02:00:5e:00:00:02;52,53;13,4;5;" + at + ";Ada\n" + // a kilometre off
		";02:00:5e:00:00:99;52,52;13,4;5;" + at + ";\n" +
		";02:00:5e:00:00:03;52,52;east;5;" + at + ";\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	verified := func() (n int) {
		for _, h := range made {
			if now, err := own.Hotspot(t.Context(), h.ID); err == nil && now.Location.Verified {
				n++
			}
		}
		return n
	}
	step := func(name string, want int, code int, said, diagnosed string, args ...string) {
		t.Helper()
		var out, diagnosis bytes.Buffer
		got := run(t.Context(), append([]string{"verify", "--url", server}, args...), &out, &diagnosis)
		if got != code || strings.TrimSpace(out.String()) != said || !strings.Contains(diagnosis.String(), diagnosed) || verified() != want {
			t.Errorf("%s: exit code %d, %d are verified, %s %s", name, got, verified(), &out, &diagnosis)
		}
	}
	step("without a key", 0, exitUsage, "", "verify needs a key", file)
	step("dry, without a key", 0, exitFailed, "4 could be recorded, 1 refused; nothing was recorded", "visits.csv:6: lng must be a number", file, "--dry-run")
	step("dry", 0, exitFailed, "2 could be recorded, 3 refused; nothing was recorded", "visits.csv:5: no hotspot has this MAC address", file, "--dry-run", "--key", key)
	step("for real", 2, exitFailed, "2 recorded, 0 recorded before, 3 refused", "visits.csv:4: this is 1112 m from where the hotspot is registered", file, "--key", key)
	step("again", 2, exitFailed, "", "visits-refused.csv is there already", file, "--key", key)
	step("again, into another file", 2, exitFailed, "0 recorded, 2 recorded before, 3 refused", "3 lines refused", file, "--key", key, "--refused", filepath.Join(folder, "more.csv"))

	left, err := os.ReadFile(refused)
	if err != nil {
		t.Fatal(err)
	}
	if more, _ := os.ReadFile(filepath.Join(folder, "more.csv")); !bytes.Equal(more, left) {
		t.Errorf("the second run leaves %s; the first left %s", more, left)
	}
	mended := strings.NewReplacer("52.53", "52.5201", "02:00:5e:00:00:99", "02:00:5e:00:00:01", "east", "13.4").Replace(string(left))
	if !strings.Contains(mended, "lng must be a number, such as 40.7532") {
		t.Errorf("no reason is in %s", left)
	}
	if err := os.WriteFile(refused, []byte(mended), 0o600); err != nil {
		t.Fatal(err)
	}
	step("what was mended", 4, exitDone, "2 recorded, 1 recorded before, 0 refused", "", refused, "--key", key)
	step("twice", 4, exitDone, "0 recorded, 3 recorded before, 0 refused", "", refused, "--key", key)
}
