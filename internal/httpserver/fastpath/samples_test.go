package fastpath

import "github.com/beacon-wifi/beacon/internal/httpserver/fastpath/fastpathtest"

// Short names for the shared requests and their client.
var (
	inLines      = fastpathtest.Lines
	plainSamples = fastpathtest.Plain
	oddSamples   = fastpathtest.Odd
	cutSamples   = fastpathtest.Cut
	endless      = fastpathtest.Endless
	call         = fastpathtest.Dial
	talk         = fastpathtest.Talk
)

type caller = fastpathtest.Client
