package sqlite

// What tests look at beside the interface.
var (
	Writing    = writing
	Classify   = classify
	Positional = positional
)
