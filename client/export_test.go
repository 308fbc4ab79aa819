package client

import (
	"reflect"
	"time"
)

// WithSilence changes how long a stream may say nothing.
func WithSilence(d time.Duration) Option { return func(c *Client) { c.silence = d } }

// SentSettings is what a SettingsForm is sent as.
func SentSettings() reflect.Type { return reflect.TypeFor[settingsForm]() }

// EachMessage is how a stream of events is taken apart.
var EachMessage = eachMessage

// RetryAfter is how that header is read.
var RetryAfter = retryAfter
