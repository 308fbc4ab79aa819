package agentsite

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
)

// The files of usign, which are those of OpenBSD's signify: a line of comment, and a line
// in base64 with the algorithm, the number of the key, and the rest.
const (
	algorithm    = "Ed"
	derivation   = "BK" // of a secret key from a passphrase
	numberLength = 8
)

// usignKey signs indexes of packages.
type usignKey struct {
	number []byte
	key    ed25519.PrivateKey
}

// parseSecret reads a secret key as "usign -G" or "signify -G -n" writes it.
func parseSecret(file []byte) (k usignKey, err error) {
	_, line, _ := bytes.Cut(file, []byte("\n"))
	raw, err := base64.StdEncoding.AppendDecode(nil, bytes.TrimSpace(line))
	const salt, sum = 16, 8
	if want := len(algorithm+derivation) + 4 + salt + sum + numberLength + ed25519.PrivateKeySize; err != nil || len(raw) != want || string(raw[:4]) != algorithm+derivation {
		return k, errors.New("this is not a secret key of usign or signify")
	}
	if binary.BigEndian.Uint32(raw[4:]) != 0 {
		return k, errors.New("the secret key has a passphrase: make one without, by usign -G or signify -G -n")
	}
	raw = raw[8+salt:]
	k = usignKey{number: raw[sum:][:numberLength], key: ed25519.PrivateKey(raw[sum+numberLength:])}
	if got := sha512.Sum512(k.key); !bytes.Equal(got[:sum], raw[:sum]) {
		return k, errors.New("the secret key is damaged: its checksum is wrong")
	}
	return k, nil
}

// sign returns the signature of a file.
func (k usignKey) sign(body []byte) []byte {
	return k.file(fmt.Sprintf("signed by key %x", k.number), ed25519.Sign(k.key, body))
}

// public returns the public key, which devices trust.
func (k usignKey) public() []byte {
	return k.file(fmt.Sprintf("public key %x", k.number), k.key.Public().(ed25519.PublicKey))
}

func (k usignKey) file(comment string, rest []byte) []byte {
	raw := bytes.Join([][]byte{[]byte(algorithm), k.number, rest}, nil)
	return fmt.Appendf(nil, "untrusted comment: %s\n%s\n", comment, base64.StdEncoding.EncodeToString(raw))
}
