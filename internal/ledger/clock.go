package ledger

import "time"

// ClockMark is what the clock of a server said when it was last written down.
type ClockMark struct {
	Node  string
	Said  time.Time
	Marks int64 // how often it was written down: grows while the server lives
}

// ClockState is what a database knows about the time.
type ClockState struct {
	Certain   time.Time   // the latest moment that has certainly come; zero: unknown
	Confirmed int64       // how often staff have said what day it is
	Marks     []ClockMark // of all servers, also of those that have ended
	Up        time.Time   // when any server was last up, by its own clock; zero: never
	Database  time.Time   // the clock of the database; zero: it has none of its own
}
