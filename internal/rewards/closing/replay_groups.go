package closing

// ChangeGroup is by how much operators would gain or lose, of what they earned.
type ChangeGroup string

// The groups, from the greatest loss to the greatest gain.
const (
	LoseHalf    ChangeGroup = "lose_50_or_more"
	LoseQuarter ChangeGroup = "lose_25_to_50"
	LoseTenth   ChangeGroup = "lose_10_to_25"
	LoseLittle  ChangeGroup = "lose_up_to_10"
	TheSame     ChangeGroup = "same"
	GainLittle  ChangeGroup = "gain_up_to_10"
	GainTenth   ChangeGroup = "gain_10_to_25"
	GainQuarter ChangeGroup = "gain_25_to_50"
	GainHalf    ChangeGroup = "gain_50_or_more"
)

// changeGroups are the groups in order, each with its bound in percent of what operators
// earned: those that lose, lose at least that much; the others gain at most that much. The
// last has no bound.
var changeGroups = []struct {
	group   ChangeGroup
	percent int64
}{
	{LoseHalf, -50},
	{LoseQuarter, -25},
	{LoseTenth, -10},
	{LoseLittle, 0},
	{TheSame, 0},
	{GainLittle, 10},
	{GainTenth, 25},
	{GainQuarter, 50},
	{GainHalf, 0},
}

// GroupCount is how many operators are in a group.
type GroupCount struct {
	Group     ChangeGroup
	Operators int
}

// CountGroups returns all groups, from the greatest loss to the greatest gain.
func CountGroups(all []ReplayedOperator) []GroupCount {
	counts := make([]GroupCount, len(changeGroups))
	for i, g := range changeGroups {
		counts[i].Group = g.group
	}
	for i := range all {
		counts[all[i].group()].Operators++
	}
	return counts
}

// group returns the index of an operator's group.
func (o *ReplayedOperator) group() int {
	was, change := int64(o.Was.Total()), int64(o.Change())
	for i, g := range changeGroups[:len(changeGroups)-1] {
		if loses := i < len(changeGroups)/2; loses == (change < 0) && 100*change <= g.percent*was {
			return i
		}
	}
	return len(changeGroups) - 1
}
