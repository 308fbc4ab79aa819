package access

import (
	"time"

	"github.com/beacon-wifi/beacon/beacon"
)

// Validate lists all the faults of the form, whoever sent it.
func (in Creation) Validate(now time.Time) error {
	_, err := in.validate(beacon.Principal{User: NewUser}, now)
	return err
}
