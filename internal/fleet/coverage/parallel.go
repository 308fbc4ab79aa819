package coverage

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// inParallel calls f for consecutive ranges of the numbers below n, each of the given
// size but the last, on all processors if there are more than a few ranges.
func inParallel(n, size int, f func(low, high int)) {
	const few = 4
	if n <= few*size {
		f(0, n)
		return
	}
	var taken atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				low := int(taken.Add(int64(size))) - size
				if low >= n {
					return
				}
				f(low, min(low+size, n))
			}
		})
	}
	workers.Wait()
}
