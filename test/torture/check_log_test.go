//go:build linux

package torture_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/beacon-wifi/beacon/test/harness"
)

// addresses is whatever looks like a MAC, in any spelling.
var addresses = regexp.MustCompile(`(?i)\b[0-9a-f]{2}(?:[:.-]?[0-9a-f]{2}){5}\b`)

// places is whatever looks like one of the longitudes at which hotspots stand,
// some of them in homes.
var places = regexp.MustCompile(`-7[0-4](?:\.[0-9]+)?\b`)

// checkLog looks through the log of a server for the very keys, MACs and places
// that were used on it (I14).
func (l *load) checkLog(t testing.TB, s *harness.Server) {
	t.Helper()
	text := s.Log(t)
	for _, key := range l.keys() {
		// The part that is secret stands after the last underline.
		if secret := key[strings.LastIndex(key, "_")+1:]; strings.Contains(text, secret) {
			t.Errorf("the log holds a key: …%.200s", text[max(0, strings.Index(text, secret)-100):])
		}
	}
	if at := places.FindStringIndex(text); at != nil {
		t.Errorf("the log holds a place: …%.200s", text[max(0, at[0]-100):])
	}
	used := map[string]bool{}
	for n := range int(l.number.Load()) {
		used[canonical(harness.MACOf(n))] = true
	}
	for _, found := range addresses.FindAllString(text, -1) {
		if used[canonical(found)] {
			t.Errorf("the log holds the MAC %s", found)
		}
	}
}

// keys are all that were used.
func (l *load) keys() []string {
	keys := []string{l.admin.Key}
	for _, u := range l.users {
		keys = append(keys, u.Key)
	}
	for _, d := range l.devices {
		keys = append(keys, d.Key)
	}
	return keys
}
