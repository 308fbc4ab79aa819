package people

// NewSession makes a session, and the text for its browser.
var NewSession = newSession
