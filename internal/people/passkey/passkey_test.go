package passkey_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people/passkey"
)

var ada = passkey.Person{ID: "per_01jada", Name: "Ada"}

// site is a site with its database, and a clock that stands.
type site struct {
	*passkey.Passkeys
	now    time.Time
	stored map[string][]byte
}

func newSite(publicURL string) *site {
	s := &site{now: time.Date(2026, 7, 3, 12, 0, 0, 0, time.UTC), stored: map[string][]byte{}}
	s.Passkeys = passkey.New(passkey.Config{PublicURL: publicURL, Now: func() time.Time { return s.now }})
	return s
}

func (s *site) put(t testing.TB, c passkey.Credential) {
	t.Helper()
	text, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s.stored[string(c.ID)] = text
}

func (s *site) find(id []byte) (passkey.Credential, error) {
	text, found := s.stored[string(id)]
	if !found {
		return passkey.Credential{}, beacon.NoSuch("passkey")
	}
	return passkey.Decode(text)
}

// device is an authenticator with a browser that has opened a page of a site.
type device struct {
	page          virtualwebauthn.RelyingParty
	authenticator virtualwebauthn.Authenticator
	key           virtualwebauthn.Credential
}

// newKey returns a key whose coordinates have no leading zeros: the authenticator would leave
// them out, against the standard, one time in 128.
func newKey() virtualwebauthn.Credential {
	for {
		key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		if len(key.Key.AttestationData()) == 77 {
			return key
		}
	}
}

func newDevice() *device {
	return &device{
		virtualwebauthn.RelyingParty{ID: "wifi.example.org", Name: "Wi-Fi", Origin: "https://wifi.example.org"},
		virtualwebauthn.NewAuthenticator(), newKey(),
	}
}

func (d *device) add(t testing.TB, options []byte) []byte {
	t.Helper()
	o, err := virtualwebauthn.ParseAttestationOptions(string(options))
	if err != nil {
		t.Fatal(err)
	}
	d.authenticator.Options.UserHandle = []byte(o.UserID)
	return []byte(virtualwebauthn.CreateAttestationResponse(d.page, d.authenticator, d.key, *o))
}

func (d *device) sign(t testing.TB, options []byte) []byte {
	t.Helper()
	o, err := virtualwebauthn.ParseAssertionOptions(string(options))
	if err != nil {
		t.Fatal(err)
	}
	return []byte(virtualwebauthn.CreateAssertionResponse(d.page, d.authenticator, d.key, *o))
}

// added returns a site where Ada has a passkey on a device.
func added(t testing.TB, d *device) *site {
	t.Helper()
	s := newSite("https://wifi.example.org/")
	options, state, err := s.Begin(ada, "Riverside Wi-Fi", nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Finish(ada, state, d.add(t, options))
	if err != nil {
		t.Fatal(err)
	}
	s.put(t, c)
	return s
}

// signIn signs in with a device.
func (s *site) signIn(t testing.TB, d *device) (passkey.Credential, error) {
	t.Helper()
	options, state, err := s.BeginSignIn()
	if err != nil {
		t.Fatal(err)
	}
	return s.FinishSignIn(state, d.sign(t, options), s.find)
}

// want checks that an error is for people: of a kind, with words that say what to do.
func want(t testing.TB, err error, kind beacon.Kind, words string) {
	t.Helper()
	e, ok := errors.AsType[*beacon.Error](err)
	if !ok || e.Kind != kind || !strings.Contains(e.Message, words) {
		t.Errorf("got %v; want kind %d and %q", err, kind, words)
	}
}

func TestPasskey_AddedAndUsed(t *testing.T) {
	for _, algorithm := range []virtualwebauthn.KeyType{virtualwebauthn.KeyTypeEC2, virtualwebauthn.KeyTypeRSA} {
		d := newDevice()
		if algorithm == virtualwebauthn.KeyTypeRSA {
			d.key = virtualwebauthn.NewCredential(algorithm)
		}
		s := added(t, d)
		begun := s.now
		s.now = s.now.Add(time.Hour)
		d.key.Counter = 7
		c, err := s.signIn(t, d)
		if err != nil || c.Person != ada.ID || c.Count != 7 || !c.Created.Equal(begun) || !c.Used.Equal(s.now) || !bytes.Equal(c.ID, d.key.ID) || !bytes.Equal(c.Model, d.authenticator.Aaguid[:]) {
			t.Fatalf("%s: %+v, %v", algorithm, c, err)
		}
		options, state, err := s.BeginAgain(ada, []passkey.Credential{c})
		if err != nil {
			t.Fatal(err)
		}
		if d.key.Counter++; !strings.Contains(string(options), base64.RawURLEncoding.EncodeToString(c.ID)) {
			t.Errorf("the device is not told which passkeys are Ada's: %s", options)
		}
		if again, err := s.FinishAgain(ada, state, d.sign(t, options), s.find); err != nil || again.Count != 8 {
			t.Errorf("%+v, %v", again, err)
		}
	}
}

// Devices must keep the passkey, and check their user; they are not asked who made them,
// and learn no more of a person than an id and the name shown.
func TestBegin_Options(t *testing.T) {
	d := newDevice()
	s := added(t, d)
	c, err := s.find(d.key.ID)
	if err != nil {
		t.Fatal(err)
	}
	options, _, err := s.Begin(ada, "Riverside Wi-Fi", []passkey.Credential{c})
	if err != nil {
		t.Fatal(err)
	}
	var o struct {
		PublicKey struct {
			RP               struct{ ID, Name string }
			User             struct{ ID, Name, DisplayName string }
			Attestation      string
			Timeout          int
			PubKeyCredParams []struct{ Alg int }
			Selection        struct {
				ResidentKey, UserVerification string
				RequireResidentKey            bool
			} `json:"authenticatorSelection"`
			ExcludeCredentials []struct{ ID string }
		}
	}
	if err := json.Unmarshal(options, &o); err != nil {
		t.Fatal(err)
	}
	handle, err := base64.RawURLEncoding.DecodeString(o.PublicKey.User.ID)
	if p := o.PublicKey; err != nil || string(handle) != ada.ID || p.User.Name != "Ada" || p.User.DisplayName != "Ada" || p.RP.ID != "wifi.example.org" || p.RP.Name != "Riverside Wi-Fi" ||
		p.Attestation != "none" || p.Timeout != 300_000 || len(p.PubKeyCredParams) < 3 || p.Selection.ResidentKey != "required" || !p.Selection.RequireResidentKey ||
		p.Selection.UserVerification != "required" || len(p.ExcludeCredentials) != 1 {
		t.Errorf("%s", options)
	}
	options, _, err = s.BeginSignIn()
	if err != nil || !strings.Contains(string(options), `"userVerification":"required"`) || strings.Contains(string(options), "allowCredentials") {
		t.Errorf("signing in: %s, %v", options, err)
	}
}

func TestUsable(t *testing.T) {
	for _, url := range []string{"https://wifi.example.org", "https://WIFI.example.org:8443/", "http://localhost:8080", "http://demo.localhost"} {
		if err := newSite(url).Usable(); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{"", "http://wifi.example.org", "http://192.0.2.7:8080", "https://192.0.2.7", "http://[::1]:80", "http://127.0.0.1", "https://router", "ftp://localhost", "https://wifi_example .org", "https://bücher.example", "://"} {
		s := newSite(url)
		want(t, s.Usable(), beacon.Conflict, "sign in with a link or a key")
		if _, _, err := s.Begin(ada, "Wi-Fi", nil); err != s.Usable() {
			t.Errorf("%s: %v", url, err)
		}
		if _, _, err := s.BeginSignIn(); err != s.Usable() {
			t.Errorf("%s: %v", url, err)
		}
		if _, _, err := s.BeginAgain(ada, nil); err != s.Usable() {
			t.Errorf("%s: %v", url, err)
		}
		if _, err := s.FinishSignIn([]byte("{}"), nil, s.find); err != s.Usable() {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// Any of several passkeys will do, also if another one was removed meanwhile.
func TestAgain_OneOfTwo(t *testing.T) {
	phone, laptop := newDevice(), newDevice()
	s := added(t, phone)
	options, state, err := s.Begin(ada, "Wi-Fi", nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Finish(ada, state, laptop.add(t, options))
	if err != nil {
		t.Fatal(err)
	}
	s.put(t, second)
	first, err := s.find(phone.key.ID)
	if err != nil {
		t.Fatal(err)
	}
	if options, state, err = s.BeginAgain(ada, []passkey.Credential{first, second}); err != nil {
		t.Fatal(err)
	}
	delete(s.stored, string(phone.key.ID))
	if c, err := s.FinishAgain(ada, state, laptop.sign(t, options), s.find); err != nil || !bytes.Equal(c.ID, second.ID) {
		t.Errorf("%+v, %v", c, err)
	}
	_, err = s.FinishAgain(ada, state, phone.sign(t, options), s.find)
	want(t, err, beacon.Unauthorized, "not known here")
}

// Someone else's passkey is no answer to the question whether it is still Ada.
func TestAgain_AnothersPasskey(t *testing.T) {
	d := newDevice()
	s := added(t, d)
	mine, err := s.find(d.key.ID)
	if err != nil {
		t.Fatal(err)
	}
	bob, theirs := passkey.Person{ID: "per_01jbob", Name: "Bob"}, newDevice()
	options, state, err := s.Begin(bob, "Wi-Fi", nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Finish(bob, state, theirs.add(t, options))
	if err != nil {
		t.Fatal(err)
	}
	s.put(t, c)
	if options, state, err = s.BeginAgain(ada, []passkey.Credential{mine}); err != nil {
		t.Fatal(err)
	}
	_, err = s.FinishAgain(ada, state, theirs.sign(t, options), s.find)
	want(t, err, beacon.Unauthorized, "not known here")
}

func TestBackupFlags(t *testing.T) {
	d := newDevice()
	s := added(t, d)
	step := func(eligible, backedUp bool) error {
		t.Helper()
		d.authenticator.Options.BackupEligible, d.authenticator.Options.BackupState = eligible, backedUp
		c, err := s.signIn(t, d)
		if err == nil {
			s.put(t, c)
			if c.BackupEligible != eligible || c.BackedUp != backedUp {
				t.Errorf("stored eligible %t, backed up %t; the device said %t, %t", c.BackupEligible, c.BackedUp, eligible, backedUp)
			}
		}
		return err
	}
	for _, flags := range [][2]bool{{false, false}, {true, false}, {true, true}, {true, false}} {
		if err := step(flags[0], flags[1]); err != nil {
			t.Errorf("%v: %v", flags, err)
		}
	}
	want(t, step(false, false), beacon.Unauthorized, "not valid")
	if err := step(true, true); err != nil {
		t.Errorf("a refused sign-in changed something: %v", err)
	}
}

// The flag is believed only where it is signed.
func TestBackupFlags_AreSigned(t *testing.T) {
	d := newDevice()
	s := added(t, d)
	options, state, err := s.BeginSignIn()
	if err != nil {
		t.Fatal(err)
	}
	response := changed(t, d.sign(t, options), "authenticatorData", func(data []byte) []byte {
		data[32] |= 1 << 3
		return data
	})
	_, err = s.FinishSignIn(state, response, s.find)
	want(t, err, beacon.Unauthorized, "not valid")
}

// changed changes what the device made in a response.
func changed(t testing.TB, response []byte, name string, change func([]byte) []byte) []byte {
	t.Helper()
	r := parsed(t, response)
	r["response"].(map[string]any)[name] = base64.RawURLEncoding.EncodeToString(change(part(t, response, name)))
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// part returns what the device made in a response.
func part(t testing.TB, response []byte, name string) []byte {
	t.Helper()
	data, err := base64.RawURLEncoding.DecodeString(parsed(t, response)["response"].(map[string]any)[name].(string))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parsed(t testing.TB, response []byte) (r map[string]any) {
	t.Helper()
	if err := json.Unmarshal(response, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		before, now uint32
		copied      bool
	}{{0, 0, false}, {0, 5, false}, {5, 6, false}, {5, 0, false}, {5, 5, true}, {5, 4, true}, {1 << 31, 1, true}} {
		d := newDevice()
		d.key.Counter = c.before
		s := added(t, d)
		d.key.Counter = c.now
		got, err := s.signIn(t, d)
		switch {
		case !c.copied && (err != nil || got.Count != c.now):
			t.Errorf("%d, then %d: %+v, %v", c.before, c.now, got, err)
		case c.copied && !errors.Is(err, passkey.ErrCopied):
			t.Errorf("%d, then %d: %v", c.before, c.now, err)
		case c.copied:
			want(t, err, beacon.Unauthorized, "remove it and add a new one")
		}
	}
}

// Password managers send results of extensions unasked, and browsers any transports.
func TestFinish_WhatNobodyAskedFor(t *testing.T) {
	d := newDevice()
	s := newSite("https://wifi.example.org")
	options, state, err := s.Begin(ada, "Wi-Fi", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := parsed(t, d.add(t, options))
	r["clientExtensionResults"] = map[string]any{"credProps": map[string]any{"rk": true}, "example": 1}
	r["response"].(map[string]any)["transports"] = []string{"internal", "<script>", "hybrid", "internal"}
	response, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Finish(ada, state, response)
	if err != nil || !reflect.DeepEqual(c.Transports, []string{"hybrid", "internal"}) {
		t.Errorf("%+v, %v", c, err)
	}
}
