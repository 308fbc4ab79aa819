package statement

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/beacon-wifi/beacon/internal/beacon"
	"github.com/beacon-wifi/beacon/internal/ledger"
	"github.com/go-json-experiment/json/jsontext"
)

// reader parses JSON as a stream. The tokenizer rejects bad UTF-8 and duplicate
// names.
type reader struct {
	input *bounded
	dec   *jsontext.Decoder
}

func newReader(from io.Reader) reader {
	input := &bounded{from: from}
	return reader{input, jsontext.NewDecoder(input)}
}

// fault translates a JSON error into plain words.
func (r *reader) fault(err error) error {
	fault, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case r.input.err != nil:
		return r.input.err
	case errors.Is(err, io.EOF):
		return errors.New("not a statement: it is empty")
	case !ok || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the end of the file is missing")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return errors.New("duplicate name: " + fault.JSONPointer.LastToken())
	default:
		return fmt.Errorf("not valid JSON at byte %d", fault.ByteOffset)
	}
}

// take reads a token of one kind.
func (r *reader) take(kind jsontext.Kind, wrong string) (string, error) {
	token, err := r.dec.ReadToken()
	switch {
	case err != nil:
		return "", r.fault(err)
	case token.Kind() != kind:
		return "", errors.New(wrong)
	}
	return token.String(), nil
}

// object reads an object whose members must have one of the names, each at most once, and
// the first of them always. It returns which were present, as bits. An error in a member
// names it.
func (r *reader) object(names []string, always int, read func(i int) error) (seen uint, err error) {
	if _, err := r.take(jsontext.KindBeginObject, "must be an object"); err != nil {
		return 0, err
	}
	for r.dec.PeekKind() != jsontext.KindEndObject {
		name, err := r.take(jsontext.KindString, "must be an object")
		if err != nil {
			return seen, err
		}
		i := slices.Index(names, name)
		if i < 0 {
			return seen, fmt.Errorf("%.80q is not a name that belongs here", name)
		}
		if err := read(i); err != nil {
			return seen, within(name, err)
		}
		seen |= 1 << i
	}
	if _, err = r.take(jsontext.KindEndObject, "must be an object"); err == nil {
		err = missing(names[:always], seen)
	}
	return seen, err
}

// rowFault is an error of a row. It already says where it is.
type rowFault struct{ error }

func within(name string, err error) error {
	if _, ok := errors.AsType[rowFault](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// missing returns an error that names the first absent member.
func missing(names []string, seen uint) error {
	for i, name := range names {
		if seen&(1<<i) == 0 {
			return fmt.Errorf("%s is missing", name)
		}
	}
	return nil
}

// array calls read for each element of an array.
func (r *reader) array(read func() error) error {
	if _, err := r.take(jsontext.KindBeginArray, "must be an array"); err != nil {
		return err
	}
	for r.dec.PeekKind() != jsontext.KindEndArray {
		if err := read(); err != nil {
			return err
		}
	}
	_, err := r.take(jsontext.KindEndArray, "must be an array")
	return err
}

func (r *reader) text() (string, error) { return r.take(jsontext.KindString, "must be a string") }

// digits reads a non-negative whole number.
func (r *reader) digits(bits int) (uint64, error) {
	text, err := r.take(jsontext.KindNumber, "must be a whole number")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(text, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("must be a whole number of at most %d bits, but is %.40s", bits, text)
	}
	return n, nil
}

func natural[T int | int64](r *reader, into *T) error {
	n, err := r.digits(63)
	*into = T(n)
	return err
}

func (r *reader) bytes(into *uint64) (err error) {
	*into, err = r.digits(64)
	return err
}

func (r *reader) amount(into *beacon.Amount) error {
	text, err := r.take(jsontext.KindNumber, "must be a number")
	if err != nil {
		return err
	}
	*into, err = beacon.ParseAmount(text)
	return err
}

// parsed reads a text and parses it.
func parsed[T any](r *reader, into *T, parse func(string) (T, error)) error {
	text, err := r.text()
	if err == nil {
		*into, err = parse(text)
	}
	return err
}

func (r *reader) hash(into *ledger.Hash) error { return parsed(r, into, ledger.ParseHash) }

func (r *reader) day(into *beacon.Day) error { return parsed(r, into, beacon.ParseDay) }

var tierNames = []string{beacon.Standard.String(), beacon.Enhanced.String(), beacon.Premium.String()}

func parseTier(text string) (beacon.Tier, error) {
	tier := slices.Index(tierNames, text)
	if tier < 0 {
		return beacon.Standard, errors.New("must be standard, enhanced or premium")
	}
	return beacon.Tier(tier), nil
}

// ident reads an id.
func ident[T ~string](r *reader, into *T, prefix string) error {
	return parsed(r, into, func(text string) (T, error) { return T(text), checkIdent(text, prefix) })
}

// checkIdent checks the characters of an id because hashed lines are split at commas.
func checkIdent(text, prefix string) error {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
	if !strings.HasPrefix(text, prefix) || len(text) > 64 || strings.Trim(text, letters) != "" {
		return fmt.Errorf("must be an id such as %s…, but is %.80q", prefix, text)
	}
	return nil
}

func (r *reader) time(into *time.Time) error {
	text, err := r.text()
	if err != nil {
		return err
	}
	if *into, err = time.Parse(beacon.TimeLayout, text); err != nil {
		return errors.New("must be a time such as 2026-12-04T00:05:00.000Z")
	}
	return nil
}

// exactly reads a text that must equal want.
func (r *reader) exactly(want string) error {
	text, err := r.text()
	if err == nil && text != want {
		err = fmt.Errorf("must be %q, but is %.80q", want, text)
	}
	return err
}

// small reads a whole value that is small in every statement.
func (r *reader) small() ([]byte, error) {
	var value bytes.Buffer
	to := jsontext.NewEncoder(&value)
	depth := r.dec.StackDepth()
	for range maxSmall {
		token, err := r.dec.ReadToken()
		if err == nil {
			err = to.WriteToken(token)
		}
		if err != nil {
			return nil, r.fault(err)
		}
		if r.dec.StackDepth() == depth {
			return value.Bytes(), nil
		}
	}
	return nil, errors.New("is larger than any server makes it")
}

// end checks that nothing follows.
func (r *reader) end() error {
	if _, err := r.dec.ReadToken(); errors.Is(err, io.EOF) && r.input.err == nil {
		return nil
	} else if r.input.err != nil {
		return r.input.err
	}
	return errors.New("there is text after the statement")
}

// Limits on everything in a statement that must be in memory at once.
const (
	maxWord   = 1 << 10  // bytes of a text or number
	maxSpaces = 64 << 10 // bytes between two of them
	maxSmall  = 1000     // tokens of a policy, or of a server's metadata about its response
)

// bounded reads JSON and stops at a token, or at space between tokens, that is longer
// than in any statement, because the decoder buffers that much.
type bounded struct {
	from io.Reader
	err  error

	inText, escaped bool
	word, spaces    int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.from.Read(p)
	for _, c := range p[:n] {
		b.see(c)
	}
	switch {
	case b.word > maxWord:
		b.err = fmt.Errorf("not a statement: it has a string or number of more than %d bytes", maxWord)
	case b.spaces > maxSpaces:
		b.err = fmt.Errorf("not a statement: it has more than %d bytes of white space", maxSpaces)
	case err != nil && err != io.EOF:
		b.err = fmt.Errorf("cannot read the statement: %w", err)
	default:
		return n, err
	}
	return 0, b.err
}

// see advances the state by one byte. A limit once exceeded stays exceeded.
func (b *bounded) see(c byte) {
	switch {
	case b.word > maxWord || b.spaces > maxSpaces:
	case b.inText:
		b.word++
		b.inText = c != '"' || b.escaped
		b.escaped = c == '\\' && !b.escaped
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		b.word = 0
		b.spaces++
	case c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ',':
		b.word, b.spaces = 0, 0
	default:
		b.spaces = 0
		b.word++
		b.inText = c == '"'
	}
}
