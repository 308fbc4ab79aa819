package simulate

import (
	"math"
	"time"
)

// chance is a random number generator of eight bytes. Every device has its own, so
// that the order in which devices are asked does not matter.
type chance uint64

// chanceOf returns the generator for one of many things made from a seed.
func chanceOf(seed, number uint64) chance {
	c := chance(seed)
	return chance(c.next() ^ number*0x9e3779b97f4a7c15)
}

// next is SplitMix64.
func (c *chance) next() uint64 {
	*c += 0x9e3779b97f4a7c15
	z := uint64(*c)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// unit returns a number in [0, 1).
func (c *chance) unit() float64 { return float64(c.next()>>11) / (1 << 53) }

// between returns a number between two bounds.
func (c *chance) between(low, high float64) float64 { return low + c.unit()*(high-low) }

// one returns a number in [0, n).
func (c *chance) one(n int) int { return int(c.next() % uint64(n)) }

// normal returns a number around 0, mostly between -1 and 1: a sum of a few uniform
// numbers is near enough.
func (c *chance) normal() float64 {
	return (c.unit() + c.unit() + c.unit() + c.unit() - 2) * math.Sqrt(3)
}

// after returns the time until the next of events that happen once in mean, on
// average.
func (c *chance) after(mean time.Duration) time.Duration {
	return time.Duration(-math.Log(1-c.unit()) * float64(mean))
}

// pick returns one of several things.
func pick[T any](c *chance, from []T) T { return from[c.one(len(from))] }
