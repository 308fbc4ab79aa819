package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// The names of settings.
const (
	homePrivacy = "home_privacy"
	homeSecret  = "home_secret"
)

// Blur returns what strangers see of homes.
func (db *DB) Blur(ctx context.Context) (beacon.Blur, error) {
	rows, err := query(ctx, db, func(scan func(...any) error) (row [2]string, err error) {
		return row, scan(&row[0], &row[1])
	}, sqlText.settings)
	if err != nil {
		return beacon.Blur{}, err
	}
	blur, secrets := beacon.Blur{Homes: beacon.HomesOpen}, 0
	for _, row := range rows {
		switch row[0] {
		case homePrivacy:
			blur.Homes = beacon.HomePrivacy(row[1])
		case homeSecret:
			if secrets, err = hex.Decode(blur.Secret[:], []byte(row[1][:min(len(row[1]), hex.EncodedLen(len(blur.Secret)))])); err != nil {
				return beacon.Blur{}, fmt.Errorf("%w: setting %s", beacon.ErrDamaged, homeSecret)
			}
		}
	}
	// Not knowing what to hide, or with what, must not show homes.
	if beacon.CheckHomePrivacy(blur.Homes) != nil || blur.Homes != beacon.HomesOpen && secrets != len(blur.Secret) {
		return beacon.Blur{}, fmt.Errorf("%w: setting %s", beacon.ErrDamaged, homePrivacy)
	}
	return blur, nil
}

// SetHomePrivacy sets what strangers see of homes. The first time, it makes the secret.
func (db *DB) SetHomePrivacy(ctx context.Context, p beacon.HomePrivacy, by beacon.Actor, now time.Time) error {
	var secret [len(beacon.Blur{}.Secret)]byte
	rand.Read(secret[:]) // never fails: see crypto/rand
	by.Note = string(p)
	change := beacon.Change{Kind: beacon.SettingChanged, Target: homePrivacy, Actor: by, At: now}
	op := &operation{order: "settings"}
	op.run = func(tx *transaction) (changes, error) {
		if _, err := tx.exec(sqlText.addSetting, homeSecret, hex.EncodeToString(secret[:])); err != nil {
			return nil, err
		}
		_, err := tx.exec(sqlText.putSetting, homePrivacy, string(p))
		return changes{&change}, err
	}
	return db.committer.do(ctx, op)
}
