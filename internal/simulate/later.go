package simulate

import (
	"container/heap"
	"time"
)

// schedule holds the heartbeats to retry, earliest first.
type schedule []later

type later struct {
	at time.Time
	job
}

func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].at.Before(s[j].at) }
func (s schedule) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *schedule) Push(x any)        { *s = append(*s, x.(later)) }

func (s *schedule) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = (*s)[:last]
	return x
}

func (p *pace) repeat(j job, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	heap.Push(&p.again, later{time.Now().Add(wait), j})
}

// pop removes the earliest, if it is due.
func (p *pace) pop(now time.Time) (j job, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.again) == 0 || p.again[0].at.After(now) {
		return job{}, false
	}
	return heap.Pop(&p.again).(later).job, true
}
