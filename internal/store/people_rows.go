package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

const (
	personColumns     = `id, name, mail, mail_folded, mail_proven, folded, language, created_at, suspended_at, recovered_at, erased_at, seal`
	membershipColumns = `person_id, user_id, role, posts, hotspots, since, seal`
	inviteColumns     = `id, token_hash, user_id, name, role, posts, hotspots, created_at, created_by, key_id, expires_at, used_at, used_by, revoked_at, seal`
	sessionColumns    = `id, person_id, secret_hash, device, door, created_at, last_used_at, expires_at, fresh_until`
	passkeyColumns    = `id, person_id, name, data, synced, created_at, last_used_at`
	ticketColumns     = `hash, kind, person_id, data, created_by, created_at, expires_at`
)

// personRow has the fields of personColumns. What is derived is written and not read.
func personRow(p *beacon.Person) []any {
	mail := as(&p.Mail, always(beacon.FoldMail), func(string) (string, error) { return p.Mail, nil })
	folded := as(&p.Name, always(func(string) string { return foldedPerson(p) }), func(string) (string, error) { return p.Name, nil })
	return []any{
		(*string)(&p.ID), &p.Name, &p.Mail, mail, moment(&p.MailProven), folded, &p.Language, moment(&p.CreatedAt), moment(&p.SuspendedAt), moment(&p.RecoveredAt), moment(&p.ErasedAt),
		sealOf(func() *content {
			c := &content{version: unchanging}
			c.text(string(p.ID), p.Name, p.Mail, p.Language)
			c.integer(micros(p.CreatedAt), micros(p.SuspendedAt), micros(p.RecoveredAt), micros(p.ErasedAt), micros(p.MailProven))
			return c
		}),
		named{"person", (*string)(&p.ID)},
	}
}

// foldedPerson returns what a search looks into.
func foldedPerson(p *beacon.Person) string {
	return plainPattern(beacon.FoldName(p.Name + "\n" + p.Mail))
}

// plainPattern removes what means something in a pattern.
func plainPattern(text string) string {
	return strings.NewReplacer("%", "", "_", "", `\`, "").Replace(text)
}

func words[T ~string](field *[]T) cell {
	return as(field, always(wordsText[T]), always(parseWords[T]))
}

func wordsText[T ~string](all []T) string {
	return strings.Join(mapped(all, func(one T) string { return string(one) }), " ")
}

func parseWords[T ~string](text string) (all []T) {
	for word := range strings.FieldsSeq(text) {
		all = append(all, T(word))
	}
	return all
}

// membershipRow has the fields of membershipColumns.
func membershipRow(m *beacon.Membership) []any {
	return []any{
		(*string)(&m.Person), (*string)(&m.Account), (*string)(&m.Role), words(&m.Posts), words(&m.Hotspots), moment(&m.Since),
		sealOf(func() *content {
			c := &content{version: unchanging}
			c.text(string(m.Person), string(m.Account), string(m.Role), wordsText(m.Posts), wordsText(m.Hotspots))
			c.integer(micros(m.Since))
			return c
		}),
		named{"membership of", (*string)(&m.Person)},
	}
}

// rosterRow has a membership, and of its person the name, whether they are suspended, when they
// were recovered, and until when they can be by a link.
func rosterRow(m *beacon.Member) []any {
	return append(membershipRow(&m.Membership), &m.Name, flag(&m.Suspended), moment(&m.RecoveredAt), moment(&m.LinkUntil))
}

// hexHash is a hash in a column of text, which can be a key.
func hexHash(h *[sha256.Size]byte) cell {
	return as(h, func(h [sha256.Size]byte) (string, error) { return hex.EncodeToString(h[:]), nil }, func(text string) (h [sha256.Size]byte, err error) {
		if n, err := hex.Decode(h[:], []byte(text[:min(len(text), hex.EncodedLen(sha256.Size))])); err != nil || n != sha256.Size {
			return h, fmt.Errorf("a hash of %d characters", len(text))
		}
		return h, nil
	})
}

// inviteRow has the fields of inviteColumns.
func inviteRow(i *beacon.Invite) []any {
	return []any{
		(*string)(&i.ID), hexHash(&i.Hash), (*string)(&i.Account), &i.Name, (*string)(&i.Role), words(&i.Posts), words(&i.Hotspots),
		moment(&i.CreatedAt), (*string)(&i.CreatedBy), (*string)(&i.Key), moment(&i.ExpiresAt), moment(&i.UsedAt), (*string)(&i.UsedBy), moment(&i.RevokedAt),
		sealOf(func() *content {
			c := &content{version: unchanging}
			c.text(string(i.ID), string(i.Hash[:]), string(i.Account), i.Name, string(i.Role), wordsText(i.Posts), wordsText(i.Hotspots), string(i.CreatedBy), string(i.Key), string(i.UsedBy))
			c.integer(micros(i.CreatedAt), micros(i.ExpiresAt), micros(i.UsedAt), micros(i.RevokedAt))
			return c
		}),
		named{"invitation", (*string)(&i.ID)},
	}
}

// sessionRow has the fields of sessionColumns.
func sessionRow(s *beacon.Session) []any {
	return []any{
		(*string)(&s.ID), (*string)(&s.Person), hash(&s.SecretHash), &s.Device, (*string)(&s.Door),
		moment(&s.CreatedAt), moment(&s.LastUsedAt), moment(&s.ExpiresAt), moment(&s.FreshUntil),
		named{"session", (*string)(&s.ID)},
	}
}

// passkeyRow has the fields of passkeyColumns.
func passkeyRow(p *beacon.Passkey) []any {
	return []any{
		&p.ID, (*string)(&p.Person), &p.Name, &p.Data, flag(&p.Synced), moment(&p.CreatedAt), moment(&p.LastUsedAt),
		named{"passkey of", (*string)(&p.Person)},
	}
}

// ticketRow has the fields of ticketColumns.
func ticketRow(t *beacon.Ticket) []any {
	return []any{
		hexHash(&t.Hash), (*string)(&t.Kind), (*string)(&t.Person), &t.Data, (*string)(&t.CreatedBy), moment(&t.CreatedAt), moment(&t.ExpiresAt),
	}
}
