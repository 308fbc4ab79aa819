//go:build linux

package torture_test

// crashMutants lose or invent writes where a process, a disk or a race is the
// trouble.
var crashMutants = []mutant{
	{
		name:  "beats are acknowledged before they are written",
		fault: "TestF01_Kill/sqlite",
		file:  "telemetry/gather.go",
		old: `	seq, err := t.Store.AppendBeats(ctx, data)
	if err != nil {`,
		new: `	close(b.done)
	b = &batch{beats: b.beats, spots: b.spots, done: make(chan struct{})}
	seq, err := t.Store.AppendBeats(ctx, data)
	if err != nil {`,
		says: "are lost",
	},
}
