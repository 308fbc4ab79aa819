package telemetry

import "testing"

func TestFoldState_Plan(t *testing.T) {
	owned := foldState{token: 7, rolled: 100}
	for name, test := range map[string]struct {
		state foldState
		in    foldInput
		want  foldPlan
	}{
		"no lease":                       {foldState{}, foldInput{day: 100}, foldPlan{reader, false}},
		"no lease, a gap in a journal":   {foldState{}, foldInput{day: 100, suspected: true}, foldPlan{reader, true}},
		"the lease was lost":             {owned, foldInput{day: 101, finalDue: true}, foldPlan{reader, false}},
		"the first lease":                {foldState{}, foldInput{token: 7, day: 100}, foldPlan{takingOver, true}},
		"the lease is back":              {owned, foldInput{token: 9, day: 100}, foldPlan{takingOver, true}},
		"the clock was set":              {owned, foldInput{token: 7, day: 100, suspected: true}, foldPlan{takingOver, true}},
		"nothing special":                {owned, foldInput{token: 7, day: 100}, foldPlan{owner, false}},
		"a day began":                    {owned, foldInput{token: 7, day: 101}, foldPlan{owner, true}},
		"a day can be written for good":  {owned, foldInput{token: 7, day: 100, finalDue: true}, foldPlan{owner, true}},
		"the clock went back over a day": {owned, foldInput{token: 7, day: 99}, foldPlan{owner, true}},
	} {
		if got := test.state.plan(test.in); got != test.want {
			t.Errorf("%s: %v, all %v; want %v, all %v", name, got.role, got.all, test.want.role, test.want.all)
		}
	}
}

// After a fold the next one owns what this one wrote, and trims what this one had
// read. A reader owns and trims nothing.
func TestFoldState_Next(t *testing.T) {
	read := map[string]int64{"a": 5}
	s := foldState{}.next(foldInput{token: 7, day: 100, reached: read})
	if s.token != 7 || s.rolled != 100 || s.trimTo["a"] != 5 {
		t.Errorf("after a fold: %+v", s)
	}
	if got := s.plan(foldInput{token: 7, day: 100}); got != (foldPlan{owner, false}) {
		t.Errorf("the next fold: %+v", got)
	}
	if s = s.next(foldInput{day: 100, reached: read}); s.token != 0 || s.trimTo != nil {
		t.Errorf("after a fold of a reader: %+v", s)
	}
}

// A fold clears the suspicions that it saw, and none that was raised meanwhile.
func TestSuspicions(t *testing.T) {
	var s suspicions
	s.raise()
	seen := s.raised.Load()
	s.raise()
	if s.clear(seen); !s.any() {
		t.Error("a suspicion that was raised during the fold is gone")
	}
	if s.clear(s.raised.Load()); s.any() {
		t.Error("a suspicion stays for ever")
	}
}
