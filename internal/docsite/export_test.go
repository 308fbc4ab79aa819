package docsite

// Slug names a heading on a page that has these already.
func Slug(text string, used ...string) string {
	s := slugs{used: map[string]bool{}}
	for _, name := range used {
		s.Put([]byte(name))
	}
	return string(s.Generate([]byte(text), 0))
}
