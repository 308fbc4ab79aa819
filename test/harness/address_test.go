package harness

import (
	"testing"
)

// Servers start some time after they were given their addresses: no two may have
// the same.
func TestFreeAddress_IsGivenOnce(t *testing.T) {
	seen := map[string]bool{}
	for range 500 {
		free := FreeAddress()
		if seen[free] {
			t.Fatalf("%s is given twice", free)
		}
		seen[free] = true
	}
}
