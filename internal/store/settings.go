package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// The names of settings.
const (
	homePrivacy = "home_privacy"
	homeSecret  = "home_secret"
	startView   = "start_view"
	language    = "language"

	networkName        = "network_name"
	networkDescription = "network_description"
	networkContact     = "network_contact"
	networkColor       = "network_color"
	networkLogo        = "network_logo"
	dataLicense        = "data_license"
	dataAttribution    = "data_attribution"
	showClients        = "show_clients"
	networkZone        = "network_timezone"
	invitation         = "invitation" // to create the first key
)

const settingsSQL = `SELECT name, value FROM settings ORDER BY name`

// Blur returns what strangers see of homes.
func (db SettingTable) Blur(ctx context.Context) (beacon.Blur, error) {
	set, err := readMap[string, string](ctx, db, same, settingsSQL)
	if err != nil {
		return beacon.Blur{}, err
	}
	blur := beacon.Blur{Homes: beacon.HomesOpen}
	if homes, ok := set[homePrivacy]; ok {
		blur.Homes = beacon.HomePrivacy(homes)
	}
	secret := set[homeSecret]
	secrets, err := hex.Decode(blur.Secret[:], []byte(secret[:min(len(secret), hex.EncodedLen(len(blur.Secret)))]))
	if err != nil {
		return beacon.Blur{}, fmt.Errorf("%w: setting %s", beacon.ErrDamaged, homeSecret)
	}
	// Not knowing what to hide, or with what, must not show homes.
	if beacon.CheckHomePrivacy(blur.Homes) != nil || blur.Homes != beacon.HomesOpen && secrets != len(blur.Secret) {
		return beacon.Blur{}, fmt.Errorf("%w: setting %s", beacon.ErrDamaged, homePrivacy)
	}
	return blur, nil
}

// MapSettings returns what maps show at first.
func (db SettingTable) MapSettings(ctx context.Context) (m beacon.MapSettings, err error) {
	set, err := readMap[string, string](ctx, db, same, settingsSQL)
	if text := set[startView]; text != "" { // empty: it was set once, and is no more
		view, err := beacon.ParseStartView(text)
		if err != nil {
			return m, fmt.Errorf("%w: setting %s", beacon.ErrDamaged, startView)
		}
		m.Start = &view
	}
	m.Language = set[language]
	return m, err
}

// SetStartView sets what maps show at first; nil: where the hotspots are.
func (db SettingTable) SetStartView(ctx context.Context, v *beacon.StartView, by beacon.Actor, now time.Time) error {
	text := ""
	if v != nil {
		text = v.String()
	}
	return db.putSetting(ctx, startView, text, by, now)
}

// SetLanguage sets the language of names on maps; empty: as people there write them.
func (db SettingTable) SetLanguage(ctx context.Context, code string, by beacon.Actor, now time.Time) error {
	return db.putSetting(ctx, language, code, by, now)
}

// Identity returns how the network presents itself.
func (db SettingTable) Identity(ctx context.Context) (i beacon.Identity, err error) {
	set, err := readMap[string, string](ctx, db, same, settingsSQL)
	i.Name, i.Description, i.Contact, i.Color = set[networkName], set[networkDescription], set[networkContact], beacon.Color(set[networkColor])
	i.License, i.Attribution, i.ShowClients = set[dataLicense], set[dataAttribution], set[showClients] == "true"
	i.TimeZone = set[networkZone]
	if text := set[networkLogo]; text != "" && err == nil {
		if i.Logo, err = beacon.ParseLogo(text); err != nil {
			return i, fmt.Errorf("%w: setting %s", beacon.ErrDamaged, networkLogo)
		}
	}
	return i, err
}

// SetIdentity changes how the network presents itself. The trace of a logo describes it.
func (db SettingTable) SetIdentity(ctx context.Context, p beacon.IdentityPatch, by beacon.Actor, now time.Time) error {
	return db.commit(ctx, "settings", func(tx *transaction) (made changes, err error) {
		put := func(set bool, name, value, note string) {
			if !set || err != nil {
				return
			}
			actor := by
			actor.Note = note
			made = append(made, &beacon.Change{Kind: beacon.SettingChanged, Target: name, Actor: actor, At: now})
			err = tx.write(putSettingSQL, name, value)
		}
		put(p.Name.Set, networkName, p.Name.V, p.Name.V)
		put(p.Description.Set, networkDescription, p.Description.V, p.Description.V)
		put(p.Contact.Set, networkContact, p.Contact.V, p.Contact.V)
		put(p.Color.Set, networkColor, string(p.Color.V), string(p.Color.V))
		put(p.License.Set, dataLicense, p.License.V, p.License.V)
		put(p.Attribution.Set, dataAttribution, p.Attribution.V, p.Attribution.V)
		put(p.ShowClients.Set, showClients, strconv.FormatBool(p.ShowClients.V), strconv.FormatBool(p.ShowClients.V))
		put(p.TimeZone.Set, networkZone, p.TimeZone.V, p.TimeZone.V)
		put(p.Logo.Set, networkLogo, p.Logo.V.String(), p.Logo.V.Note())
		return made, err
	})
}

const putSettingSQL = `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`

func (db *core) putSetting(ctx context.Context, name, value string, by beacon.Actor, now time.Time) error {
	by.Note = value
	change := beacon.Change{Kind: beacon.SettingChanged, Target: name, Actor: by, At: now}
	return db.exec(ctx, "settings", changes{&change}, putSettingSQL, name, value)
}

// SetHomePrivacy sets what strangers see of homes. The first time, it makes the secret.
func (db SettingTable) SetHomePrivacy(ctx context.Context, p beacon.HomePrivacy, by beacon.Actor, now time.Time) error {
	blur := beacon.Blur{Homes: p}
	rand.Read(blur.Secret[:]) // never fails: see crypto/rand
	return db.SetBlur(ctx, blur, by, now)
}

const addSettingSQL = `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`

// SetBlur sets what strangers see of homes. A secret that the network has already stays.
func (db SettingTable) SetBlur(ctx context.Context, blur beacon.Blur, by beacon.Actor, now time.Time) error {
	by.Note = string(blur.Homes)
	change := beacon.Change{Kind: beacon.SettingChanged, Target: homePrivacy, Actor: by, At: now}
	return db.commit(ctx, "settings", func(tx *transaction) (changes, error) {
		return changes{&change}, cmp.Or(
			tx.write(addSettingSQL, homeSecret, hex.EncodeToString(blur.Secret[:])),
			tx.write(putSettingSQL, homePrivacy, string(blur.Homes)),
		)
	})
}
