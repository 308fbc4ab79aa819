package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/beacon-wifi/beacon/internal/beacon"
)

// micros returns a time as stored in a row; 0 is the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// hotspotRow is a hotspot in the order of hotspotColumns, plus mac_live.
type hotspotRow struct {
	id, operator                       string
	createdAt                          int64
	name, kind                         string
	lat, lng                           float64
	address                            string
	verifiedAt                         int64
	ssid, mac                          string
	linkedAt, maxConnections           int64
	bandwidth                          float64
	hours                              string
	radius                             float64
	updatedAt, deletedAt, version      int64
	deviceHash, pastHours, pastService string
	unverified, agent, visits, vouches string
	showSSID                           string
	seal                               int64

	macLive any     // NULL once the hotspot is deleted, which frees its MAC
	said    content // reused from row to row
}

// hotspotReader reads a row of hotspotColumns.
func hotspotReader(h *beacon.Hotspot) ([]any, func() error) {
	var r hotspotRow
	return r.targets(), func() (err error) {
		*h, err = r.named()
		return err
	}
}

// named returns the hotspot, or an error that says which one cannot be read.
func (r *hotspotRow) named() (beacon.Hotspot, error) {
	h, err := r.hotspot()
	if err != nil {
		return beacon.Hotspot{}, fmt.Errorf("hotspot %s: %w", r.id, err)
	}
	return h, nil
}

// targets returns the pointers that hotspotColumns are scanned into.
func (r *hotspotRow) targets() []any {
	return []any{
		&r.id, &r.operator, &r.createdAt, &r.name, &r.kind, &r.lat, &r.lng, &r.address, &r.verifiedAt, &r.ssid, &r.mac, &r.linkedAt,
		&r.maxConnections, &r.bandwidth, &r.hours, &r.radius, &r.updatedAt, &r.deletedAt, &r.version,
		&r.deviceHash, &r.pastHours, &r.pastService, &r.unverified, &r.agent, &r.visits, &r.vouches, &r.showSSID, &r.seal,
	}
}

func (r *hotspotRow) hotspot() (beacon.Hotspot, error) {
	h := beacon.Hotspot{
		ID:        beacon.HotspotID(r.id),
		Operator:  beacon.UserID(r.operator),
		Name:      r.name,
		Type:      sharedType(r.kind),
		CreatedAt: fromMicros(r.createdAt),
		UpdatedAt: fromMicros(r.updatedAt),
		DeletedAt: fromMicros(r.deletedAt),
		Version:   r.version,
	}
	h.Location.Point.Lat, h.Location.Point.Lng = r.lat, r.lng
	h.Location.Address = r.address
	h.Location.VerifiedAt = fromMicros(r.verifiedAt)
	if r.verifiedAt == 0 { // an older program verifies and leaves the reason
		h.Location.UnverifiedReason = r.unverified
	}
	h.Device = beacon.Device{SSID: r.ssid, MAC: beacon.MAC(r.mac), LinkedAt: fromMicros(r.linkedAt)}
	h.Settings = beacon.Settings{
		MaxConnections:     int(r.maxConnections),
		BandwidthLimitMbps: r.bandwidth,
		CoverageRadiusM:    r.radius,
		ShowSSID:           r.showSSID != "",
	}
	var err, errPast, errService, errVisits, errVouches, errHash, errAgent error
	h.Settings.OperatingHours, err = decodeHours(r.hours)
	h.PastHours, errPast = decodePastHours(r.pastHours)
	h.PastService, errService = decodePastService(r.pastService)
	h.Visits, errVisits = decodeVisits(r.visits)
	h.Vouches, errVouches = decodeVouches(r.vouches)
	h.Device.KeyHash, errHash = decodeHash(r.deviceHash)
	if r.linkedAt != 0 { // an older program unlinks and leaves the agent
		h.Device.Agent, errAgent = decodeAgent(r.agent)
	}
	return h, cmp.Or(err, errPast, errService, errVisits, errVouches, errHash, errAgent, r.checkSeal())
}

// sharedType returns one of the constants, so that a million hotspots do not hold a
// million copies of "home".
func sharedType(text string) beacon.Type {
	for _, known := range [...]beacon.Type{beacon.Home, beacon.Business, beacon.Public} {
		if text == string(known) {
			return known
		}
	}
	return beacon.Type(text)
}

func rowOf(h beacon.Hotspot) (*hotspotRow, error) {
	hours, err := encodeHours(h.Settings.OperatingHours)
	pastHours, errPast := encodePastHours(h.PastHours)
	pastService, errService := encodePastService(h.PastService)
	agent, errAgent := encodeAgent(h.Device.Agent)
	visits, errVisits := encodeVisits(h.Visits)
	vouches, errVouches := encodeVouches(h.Vouches)
	if err := errors.Join(err, errPast, errService, errAgent, errVisits, errVouches, storable(h)); err != nil {
		return nil, err
	}
	row := &hotspotRow{
		id: string(h.ID), operator: string(h.Operator), name: h.Name, kind: string(h.Type),
		lat: h.Location.Point.Lat, lng: h.Location.Point.Lng, address: h.Location.Address,
		verifiedAt: micros(h.Location.VerifiedAt),
		ssid:       h.Device.SSID, mac: string(h.Device.MAC), linkedAt: micros(h.Device.LinkedAt),
		maxConnections: int64(h.Settings.MaxConnections), bandwidth: h.Settings.BandwidthLimitMbps,
		hours: hours, radius: h.Settings.CoverageRadiusM,
		createdAt: micros(h.CreatedAt), updatedAt: micros(h.UpdatedAt), deletedAt: micros(h.DeletedAt),
		version:    h.Version,
		deviceHash: encodeHash(h.Device.KeyHash), pastHours: pastHours, pastService: pastService,
		unverified: h.Location.UnverifiedReason, agent: agent, visits: visits, vouches: vouches,
	}
	if h.Settings.ShowSSID {
		row.showSSID = shown
	}
	if !h.Deleted() {
		row.macLive = h.Device.MAC.Canonical()
	}
	row.seal = row.content().seal()
	return row, nil
}

// shown is the text of a setting that is on.
const shown = "shown"

// values returns the values of hotspotColumns and of mac_live: those that never change, and
// the ones that an update writes.
func (r *hotspotRow) values() (fixed, mutable []any) {
	return []any{r.id, r.operator, r.createdAt}, []any{
		r.name, r.kind, r.lat, r.lng, r.address, r.verifiedAt, r.ssid, r.mac, r.linkedAt,
		r.maxConnections, r.bandwidth, r.hours, r.radius, r.updatedAt, r.deletedAt, r.version,
		r.deviceHash, r.pastHours, r.pastService, r.unverified, r.agent, r.visits, r.vouches, r.showSSID, r.seal, r.macLive,
	}
}

// write overwrites a version of the row, and returns how many rows it found.
func (r *hotspotRow) write(tx *transaction, version int64) (int64, error) {
	_, mutable := r.values()
	return tx.exec(sqlText.updateHotspot, append(mutable, r.id, version)...)
}

// storable rejects what databases handle differently: PostgreSQL rejects NUL and
// invalid UTF-8, and SQLite stores them; SQLite turns NaN into NULL.
func storable(h beacon.Hotspot) error {
	texts := []string{
		string(h.ID), string(h.Operator), h.Name, string(h.Type), h.Location.Address, h.Device.SSID, h.Location.UnverifiedReason,
		h.Device.Agent.Version, h.Device.Agent.Model, h.Device.Agent.Firmware, h.Device.Agent.Kernel,
	}
	for _, past := range h.PastHours {
		if past.Hours != nil {
			texts = append(texts, past.Hours.Timezone)
		}
	}
	if err := storableText(texts...); err != nil {
		return err
	}
	if h.Device.MAC.Canonical() == "" {
		return fmt.Errorf("hotspot %s has no MAC address", h.ID)
	}
	for _, x := range []float64{
		h.Location.Point.Lat, h.Location.Point.Lng, h.Settings.BandwidthLimitMbps, h.Settings.CoverageRadiusM,
	} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("hotspot %s has a number that cannot be stored", h.ID)
		}
	}
	return nil
}

func storableText(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return errors.New("a text cannot be stored: it is not UTF-8, or has a NUL in it") // the text may be someone's address, so it is not in the error
		}
	}
	return nil
}

// encodeHash returns a hash as stored in a row; "" is the zero hash.
func encodeHash(hash [sha256.Size]byte) string {
	if hash == ([sha256.Size]byte{}) {
		return ""
	}
	return hex.EncodeToString(hash[:])
}

func decodeHash(text string) (hash [sha256.Size]byte, err error) {
	if text == "" {
		return hash, nil
	}
	if len(text) != hex.EncodedLen(len(hash)) {
		return hash, fmt.Errorf("hash of %d digits", len(text))
	}
	_, err = hex.Decode(hash[:], []byte(text))
	return hash, err
}

// ErrSeal reports a row that is not what was written. It contains nothing of the row,
// which may hold someone's address.
var ErrSeal = errors.New("the row is damaged: its checksum does not match")

// content is what a seal covers: the version and the encoded values of a row. The
// version matters because a program older than seals writes the next version and leaves
// the seal, which then does not belong to it.
type content struct {
	version int64
	said    []byte
}

func (c *content) text(texts ...string) {
	for _, text := range texts {
		c.said = binary.AppendUvarint(c.said, uint64(len(text)))
		c.said = append(c.said, text...)
	}
}

func (c *content) integer(numbers ...int64) {
	for _, n := range numbers {
		c.said = binary.LittleEndian.AppendUint64(c.said, uint64(n))
	}
}

// real encodes -0 as 0, because SQLite stores it as 0.
func (c *content) real(numbers ...float64) {
	for _, x := range numbers {
		c.said = binary.LittleEndian.AppendUint64(c.said, math.Float64bits(x+0))
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal returns the low 31 bits of the version and the CRC-32C of the rest. A stored 0
// means no seal.
func (c *content) seal() int64 {
	return c.version&math.MaxInt32<<32 | int64(crc32.Checksum(c.said, castagnoli))
}

// check compares the content with the stored seal.
func (c *content) check(stored int64) error {
	const versionBits = math.MaxInt32 << 32
	if fresh := c.seal(); stored != 0 && stored != fresh && stored&versionBits == fresh&versionBits {
		return ErrSeal
	}
	return nil
}

// usualContent is the encoded size of most rows.
const usualContent = 512

// content returns all of a hotspot but mac_live, which is compared with its MAC
// address. It reuses the memory of the previous call.
func (r *hotspotRow) content() *content {
	c := &r.said
	if c.said == nil {
		c.said = make([]byte, 0, usualContent)
	}
	c.version, c.said = r.version, c.said[:0]
	c.text(r.id, r.operator, r.name, r.kind, r.address, r.ssid, r.mac, r.hours, r.deviceHash, r.pastHours, r.pastService)
	if r.unverified != "" { // rows without a reason keep the seal they had before migration 6
		c.text(r.unverified)
	}
	if r.agent != "" { // since migration 9
		c.text("agent", r.agent)
	}
	if r.visits != "" { // since migration 10
		c.text("visits", r.visits)
	}
	if r.vouches != "" { // since migration 13
		c.text("vouches", r.vouches)
	}
	if r.showSSID != "" { // since migration 15
		c.text("show_ssid", r.showSSID)
	}
	c.real(r.lat, r.lng, r.bandwidth, r.radius)
	c.integer(r.verifiedAt, r.linkedAt, r.maxConnections, r.createdAt, r.updatedAt, r.deletedAt)
	return c
}

// checkSeal also accepts the seal of an older program, which does not know the newest of
// these columns: it writes the next version and leaves them as they are.
func (r *hotspotRow) checkSeal() error {
	err := r.content().check(r.seal)
	older := *r
	for _, unknown := range []*string{&older.showSSID, &older.vouches, &older.visits, &older.agent, &older.unverified} {
		if err == nil {
			return nil
		}
		if *unknown != "" {
			*unknown, older.said = "", content{}
			err = older.content().check(r.seal)
		}
	}
	return err
}

// unchanging is the version of rows that are written once.
const unchanging = 1

// keyContent returns the part of a key that never changes; a revocation is in the
// change stream.
//
// A key without restrictions has the checksum that it had before there were any. So an
// older server refuses to read a key with restrictions, which it would not check.
func keyContent(k *beacon.Key, scopes, restrictions string) *content {
	c := &content{version: unchanging, said: make([]byte, 0, usualContent)}
	c.text(string(k.ID), string(k.User), k.Name, scopes, string(k.SecretHash[:]))
	if restrictions != "" {
		c.text(restrictions)
	}
	c.integer(micros(k.CreatedAt), micros(k.ExpiresAt))
	return c
}

func changeContent(change *beacon.Change) *content {
	c := &content{version: unchanging, said: make([]byte, 0, usualContent)}
	c.text(change.Node, string(change.Kind), change.Target)
	c.text(string(change.Actor.Key), string(change.Actor.User), change.Actor.Request, change.Actor.Note)
	c.integer(change.Seq, change.Version, micros(change.At))
	return c
}
