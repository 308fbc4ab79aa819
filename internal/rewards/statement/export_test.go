package statement

// Bare returns a report without what the next statement is compared with.
func (r Report) Bare() Report {
	r.holds = nil
	return r
}
