package simulate

import (
	"math"
	"time"
)

// chance is a source of random numbers of eight bytes: every device has one of
// its own, so that it does not matter in which order devices are asked.
type chance uint64

// chanceOf gives the source for one of many things made from a seed.
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

// unit is a number from 0 up to, not including, 1.
func (c *chance) unit() float64 { return float64(c.next()>>11) / (1 << 53) }

// between is a number within two bounds.
func (c *chance) between(low, high float64) float64 { return low + c.unit()*(high-low) }

// one of n things, by number.
func (c *chance) one(n int) int { return int(c.next() % uint64(n)) }

// normal is around 0, mostly within -1 and 1: the sum of a few is near enough.
func (c *chance) normal() float64 {
	return (c.unit() + c.unit() + c.unit() + c.unit() - 2) * math.Sqrt(3)
}

// after is how long it takes until something happens that happens once in mean.
func (c *chance) after(mean time.Duration) time.Duration {
	return time.Duration(-math.Log(1-c.unit()) * float64(mean))
}

// pick takes one of several things.
func pick[T any](c *chance, from []T) T { return from[c.one(len(from))] }
