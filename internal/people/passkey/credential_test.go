package passkey_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/people/passkey"
)

func TestDecode(t *testing.T) {
	d := newDevice()
	s := added(t, d)
	text := s.stored[string(d.key.ID)]
	c, err := passkey.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	c.Name, c.Transports, c.Count, c.BackupEligible, c.BackedUp = "Ada's phone", []string{"internal"}, 3, true, true
	s.put(t, c)
	if again, err := s.find(c.ID); err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("%+v, %v; want %+v", again, err, c)
	}
	for _, damage := range []struct{ from, to string }{
		{`{"v":1`, `{"v":0`},
		{`"key":"`, `"key":"AAAA`},
		{`"id":"`, `"id":"","was":"`},
		{`"person":"per_01jada"`, `"person":""`},
		{`}`, ``},
	} {
		if _, err := passkey.Decode([]byte(strings.Replace(string(text), damage.from, damage.to, 1))); !errors.Is(err, beacon.ErrDamaged) {
			t.Errorf("%s: %v", damage.to, err)
		}
	}
	if _, err := passkey.Decode(bytes.Replace(text, []byte(`"v":1`), []byte(`"v":2`), 1)); err == nil || errors.Is(err, beacon.ErrDamaged) {
		t.Errorf("of a newer version: %v", err)
	}
	other := newDevice()
	added(t, other)
	c.Key = nil
	s.put(t, c)
	if _, err := s.signIn(t, d); !errors.Is(err, beacon.ErrDamaged) {
		t.Errorf("with a damaged passkey: %v", err)
	}
}

// What a released version stored can be read.
func TestDecode_Version1(t *testing.T) {
	const text = `{"v":1,"id":"AQID","person":"per_01jada","name":"phone","created":"2026-07-03T12:00:00Z","used":"2026-07-03T13:00:00Z","count":9,"backup_eligible":true,"backed_up":true,` +
		`"transports":["hybrid","internal"],"model":"AAAAAAAAAAAAAAAAAAAAAA==","key":"pQECAyYgASFYIDe0L+aWwJZfV8Nmx8XzLtVxXSuY9gx53icq4j2hO0UVIlggJHMEhagKUatAipFjGVZxMZYy5EJQ9pMOILkoEJe2qQc="}`
	c, err := passkey.Decode([]byte(text))
	if err != nil || string(c.ID) != "\x01\x02\x03" || c.Person != ada.ID || c.Name != "phone" || c.Count != 9 || !c.BackupEligible || !c.BackedUp || len(c.Transports) != 2 || len(c.Model) != 16 {
		t.Errorf("%+v, %v", c, err)
	}
	if again, err := c.Encode(); err != nil || string(again) != text {
		t.Errorf("it is written as %s, %v", again, err)
	}
}

// FuzzFinish sends any response, and responses in which any bytes are what the device made.
func FuzzFinish(f *testing.F) {
	d := newDevice()
	s := added(f, d)
	adding, addingState, err1 := s.Begin(ada, "Wi-Fi", nil)
	signing, signingState, err2 := s.BeginSignIn()
	if err := errors.Join(err1, err2); err != nil {
		f.Fatal(err)
	}
	made, signed := d.add(f, adding), d.sign(f, signing)
	f.Add(made, []byte(nil))
	f.Add(signed, []byte(nil))
	f.Add([]byte(nil), part(f, made, "attestationObject"))
	f.Add([]byte(nil), part(f, signed, "authenticatorData"))
	f.Fuzz(func(t *testing.T, response, bytesOfDevice []byte) {
		toAdd, toSignIn := response, response
		if len(response) == 0 {
			toAdd = changed(t, made, "attestationObject", func([]byte) []byte { return bytesOfDevice })
			toSignIn = changed(t, signed, "authenticatorData", func([]byte) []byte { return bytesOfDevice })
		}
		if c, err := s.Finish(ada, addingState, toAdd); err == nil {
			text, err := c.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if again, err := passkey.Decode(text); err != nil || !reflect.DeepEqual(again, c) {
				t.Errorf("what was added cannot be read: %v", err)
			}
		} else if beacon.KindOf(err) == beacon.Internal {
			t.Error(err)
		}
		if c, err := s.FinishSignIn(signingState, toSignIn, s.find); err == nil && c.Person != ada.ID || err != nil && beacon.KindOf(err) == beacon.Internal {
			t.Error(c, err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	d := newDevice()
	f.Add(added(f, d).stored[string(d.key.ID)])
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := passkey.Decode(text)
		if err != nil {
			return
		}
		again, err := c.Encode()
		if err != nil {
			t.Skip() // a year beyond 9999
		}
		if second, err := passkey.Decode(again); err != nil || !bytes.Equal(second.Key, c.Key) || !second.Used.Equal(c.Used) {
			t.Errorf("%+v was read again as %+v, %v", c, second, err)
		}
	})
}

// Two uses at once are stored in any order.
func TestMerge(t *testing.T) {
	noon := time.Date(2026, 7, 3, 12, 0, 0, 0, time.UTC)
	at := func(count uint32, minutes int, eligible, backed bool) passkey.Credential {
		return passkey.Credential{ID: []byte("x"), Count: count, Used: noon.Add(time.Duration(minutes) * time.Minute), BackupEligible: eligible, BackedUp: backed}
	}
	for _, c := range []struct{ stored, used, want passkey.Credential }{
		{at(5, 0, false, false), at(6, 1, true, true), at(6, 1, true, true)},
		{at(7, 2, true, true), at(6, 1, false, false), at(7, 2, true, true)},
		{at(0, 0, true, false), at(0, 1, true, true), at(0, 1, true, true)},
		{at(5, 0, true, false), at(0, 1, true, true), at(5, 1, true, true)},
	} {
		if got, err := c.stored.Merge(c.used); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v and %+v became %+v, %v", c.stored, c.used, got, err)
		}
	}
	if _, err := at(6, 1, true, true).Merge(at(6, 2, true, true)); !errors.Is(err, passkey.ErrCopied) {
		t.Errorf("two devices with one count: %v", err)
	}
}
