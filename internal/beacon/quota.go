package beacon

// Quota is how much one user may have at a time, however many keys they use.
type Quota struct {
	Hotspots   int // that wait to be verified
	Keys       int // in force
	Streams    int // of events
	Statements int // being read
}

// DefaultQuota is the quota of those for whom staff have set no other.
func DefaultQuota() Quota { return Quota{Hotspots: 50, Keys: 100, Streams: 20, Statements: 4} }

// maxQuota is more than anyone needs.
const maxQuota = 1_000_000

// QuotaForm is a quota as sent by staff. What is absent is as for everyone.
type QuotaForm struct {
	Hotspots, Keys, Streams, Statements Opt[float64]
}

// Validate returns the quota, or all the faults of the form.
func (form QuotaForm) Validate() (Quota, error) {
	var f Faults
	q := DefaultQuota()
	for _, part := range []struct {
		name string
		sent Opt[float64]
		to   *int
	}{{"hotspots", form.Hotspots, &q.Hotspots}, {"keys", form.Keys, &q.Keys}, {"streams", form.Streams, &q.Streams}, {"statements", form.Statements, &q.Statements}} {
		n, ok := Optional(part.sent, part.name, &f)
		if !ok {
			continue
		}
		if *part.to = int(n); !(n >= 0 && n <= maxQuota) || float64(*part.to) != n {
			f.Add(part.name, "must be a whole number of 0 to 1000000")
		}
	}
	return q, f.Err()
}

// Operator is a user with hotspots, as staff see them.
type Operator struct {
	User     UserID
	Hotspots int    // that are not deleted
	Waiting  int    // of them, those that are not verified
	Keys     int    // in force
	Earned   Amount // on the closed days of a month
}
