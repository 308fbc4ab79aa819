package access

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
)

const saltLength = 32

// Seal encrypts data with a secret that its reader will send. Context says what it is
// for, and is needed to open it. The secret must be one that nobody can guess: a guess
// can be checked without asking us.
func Seal(secret, context string, data []byte) ([]byte, error) {
	salt := make([]byte, saltLength)
	rand.Read(salt) // never fails: see crypto/rand
	box, err := sealer(secret, context, salt)
	if err != nil {
		return nil, err
	}
	return box.Seal(salt, nil, data, nil), nil
}

var errSealed = errors.New("sealed with another secret")

// Unseal returns what was sealed with the secret and context. It fails for any others.
func Unseal(secret, context string, sealed []byte) ([]byte, error) {
	if len(sealed) < saltLength {
		return nil, errSealed
	}
	box, err := sealer(secret, context, sealed[:saltLength])
	if err != nil {
		return nil, err
	}
	data, err := box.Open(nil, nil, sealed[saltLength:], nil)
	if err != nil {
		return nil, errSealed
	}
	return data, nil
}

// sealer returns a cipher, which puts its nonce before what it seals.
func sealer(secret, context string, salt []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), salt, context, sha256.Size)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
