package sqlite

// What tests look at beside the interface.
var (
	Writing     = writing
	Classify    = classify
	Positional  = positional
	OpenReaders = openReaders
)

// KeptStatements is the most statements that a connection keeps.
const KeptStatements = keptStatements

// Kept returns how many statements a connection of a reader keeps.
func Kept(conn any) int { return len(conn.(*keepingConn).idle) }
