package beacon

// Operator is a user with hotspots, as staff see them.
type Operator struct {
	User     UserID
	Hotspots int    // that are not deleted
	Waiting  int    // of them, those that are not verified
	Keys     int    // in force
	Earned   Amount // on the closed days of a month
}
