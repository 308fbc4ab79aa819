package beacon

// Opt is a field of a request that may be absent, null, or a value: three different
// things to a merge patch (decision N11). A latitude of 0 is not an absent one.
type Opt[T any] struct {
	Set  bool // the field is in the request
	Null bool // it is null
	V    T    // its value, if set and not null
}

// Some returns a field with a value.
func Some[T any](v T) Opt[T] { return Opt[T]{Set: true, V: v} }

// Null returns a field that was sent as null.
func Null[T any]() Opt[T] { return Opt[T]{Set: true, Null: true} }

// Required returns the value of a field that must be present.
func Required[T any](o Opt[T], field string, f *Faults) (v T, ok bool) {
	if !o.Set {
		f.Missing(field)
		return v, false
	}
	return Optional(o, field, f)
}

// Optional returns the value of a field that may be absent, but not null.
func Optional[T any](o Opt[T], field string, f *Faults) (v T, ok bool) {
	if o.Null {
		f.Check(field, errNull)
		return v, false
	}
	return o.V, o.Set
}
