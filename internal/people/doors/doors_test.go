package doors

import "testing"

// Passkeys need a name, and on this machine there is one.
func TestSite(t *testing.T) {
	for public, want := range map[string]string{
		"http://127.0.0.1:8080":      "http://localhost:8080",
		"http://127.0.0.1":           "http://localhost",
		"http://[::1]:8080":          "http://localhost:8080",
		"http://127.0.0.2:8080":      "http://127.0.0.2:8080", // localhost leads elsewhere
		"http://192.168.1.5:8080":    "http://192.168.1.5:8080",
		"https://127.0.0.1:8080":     "https://127.0.0.1:8080", // its certificate is for the address
		"https://wifi.example.org":   "https://wifi.example.org",
		"http://wifi.example.org:80": "http://wifi.example.org:80",
		"http://localhost:8080":      "http://localhost:8080",
		"":                           "",
	} {
		if got := Site(public); got != want {
			t.Errorf("people who are sent to %q go to %q, want %q", public, got, want)
		}
	}
}
