package beacon

import "time"

// CheckIn is what an app on a phone reports of a hotspot. An install has one for each
// hotspot and UTC day: the latest.
type CheckIn struct {
	Hotspot  HotspotID
	Operator UserID // of the hotspot
	User     UserID // of the app's key
	Install  Install
	At       time.Time
	Works    bool
	Measured Measured

	// Visited is set if the phone was at the hotspot, and staff had visited that: two
	// such check-ins at other operators' make those of its install evidence elsewhere. It
	// stays set for the day.
	Visited bool
	// Evidence is set if the check-in counts: in the quality of the hotspot and, if it
	// works, in what extends the proof of its place.
	Evidence bool
}

// Install is the keyed hash of the random token that an app makes when it is installed.
type Install [16]byte

// Measured is what a phone measured, if it did.
type Measured struct {
	DownMbps, UpMbps float32 // both 0: not measured
	RSSI             int     // dBm; 0: not measured
}

const (
	// CheckInDays is for how many days check-ins are kept, and how old evidence is at
	// most.
	CheckInDays = 90
	// QualityDays is over how many days the quality of a hotspot is shown.
	QualityDays = 30
	// VouchedAtOthers is at how many other operators' visited hotspots an install must
	// have checked in for its check-ins to be evidence.
	VouchedAtOthers = 2
	// installsShown is how many installs there must be to show a quality: with fewer, it
	// would show what single people do.
	installsShown = 5

	// CheckInsPerInstall and CheckInsPerHotspot are how many check-ins are kept for one
	// day: of a hotspot those that are evidence, as many of others who were there, and as
	// many of those who were not, so that nobody displaces those who prove more.
	CheckInsPerInstall = 20
	CheckInsPerHotspot = 100
)

// NoEvidence is why a check-in is no evidence; empty if it is.
type NoEvidence string

const (
	OwnHotspot NoEvidence = "own_hotspot" // the app's key belongs to the operator
	NotOnline  NoEvidence = "not_online"  // the hotspot is not online
	Elsewhere  NoEvidence = "elsewhere"   // the device sends from another address
	NewInstall NoEvidence = "new_install" // the install has not checked in at enough others
)

// Quality is what people found at a hotspot.
type Quality struct {
	CheckIns, Working int // evidence of the last QualityDays
	Installs          int // how many made them
}

// Shown reports whether enough people made the check-ins to show them.
func (q Quality) Shown() bool { return q.Installs >= installsShown }

// SuccessRate returns how many of the check-ins say that the hotspot works, in
// ten-thousandths.
func (q Quality) SuccessRate() int { return q.Working * 10_000 / max(q.CheckIns, 1) }

// CheckInForm is a check-in as sent by an app.
type CheckInForm struct {
	Install Opt[string]
	Works   Opt[bool]
	Speed   Opt[SpeedForm]
	RSSI    Opt[float64]
}

// SpeedForm is the speed that a phone measured.
type SpeedForm struct{ DownMbps, UpMbps Opt[float64] }

const minInstall, maxInstall = 16, 64

// Validate returns the token of the install and what it reports, or all the faults of
// the form.
func (form *CheckInForm) Validate() (install string, works bool, m Measured, err error) {
	var f Faults
	if text, ok := Required(form.Install, "install", &f); ok {
		f.Check("install", checkToken(text, minInstall, maxInstall))
		install = text
	}
	works, _ = Required(form.Works, "works", &f)
	if speed, ok := Optional(form.Speed, "speed", &f); ok {
		m.DownMbps = rate(speed.DownMbps, "speed.down_mbps", &f)
		m.UpMbps = rate(speed.UpMbps, "speed.up_mbps", &f)
	}
	dbm, _ := checkRSSI(form.RSSI, &f)
	m.RSSI = int(dbm)
	return install, works, m, f.Err()
}

// DeviceAddress is from where the device of a hotspot sends: keyed hashes of the address,
// and of the network that it is in.
type DeviceAddress struct {
	Hotspot HotspotID
	Hash    int64
	Network int64     // 0: not known
	At      time.Time // when it was noted
}

// AddressLasts is how long the address of a device is valid after it was noted. Servers
// note it once an hour.
const AddressLasts = 2 * time.Hour
