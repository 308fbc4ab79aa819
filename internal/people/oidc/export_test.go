package oidc

import "time"

// SetTimeout sets how long a request to the issuer may last.
func (i *Issuer) SetTimeout(d time.Duration) { i.client.Timeout = d }
