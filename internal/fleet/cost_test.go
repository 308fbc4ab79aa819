package fleet

import (
	"testing"
	"time"
)

// A pause of the machine is not what the work takes; when it takes long again, it is.
func TestCost_Usual(t *testing.T) {
	var c cost
	for i, step := range []struct{ took, want time.Duration }{
		{2 * time.Second, 0},
		{time.Millisecond, time.Millisecond},
		{time.Second, time.Millisecond},
		{3 * time.Second, time.Second},
		{3 * time.Second, 3 * time.Second},
		{0, 0},
	} {
		if c.note(step.took); c.usual() != step.want {
			t.Errorf("after step %d it usually takes %v; want %v", i, c.usual(), step.want)
		}
	}
}
