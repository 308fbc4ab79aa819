package harness

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// triedPorts is how many ports were tried.
var triedPorts atomic.Int64

// reserved keeps the reservations: one that is garbage would be closed.
var reserved sync.Map

// FreeAddress returns an address for a server that cannot choose its own port, or
// that has to come back at the same one. No other test gets it: as long as this
// process lives, it holds the UDP port of the same number, which every other
// process asks for first. The ports are below those that the kernel gives to
// outgoing connections.
func FreeAddress() string {
	for tried := triedPorts.Add(1); tried < 20_000; tried = triedPorts.Add(1) {
		address := fmt.Sprintf("127.0.0.1:%d", 10_000+tried)
		reservation, err := net.ListenPacket("udp", address)
		if err != nil {
			continue
		}
		reserved.Store(address, reservation)
		if ln, err := net.Listen("tcp", address); err == nil {
			_ = ln.Close()
			return address
		}
	}
	panic("there is no free port")
}
