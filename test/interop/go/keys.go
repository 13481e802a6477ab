package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/fxamacker/cbor/v2"
	"github.com/veraison/go-cose"
)

// knownKeys are verifiers by key id: those of receipts and seals, and those of statements.
type knownKeys struct {
	log    map[string]cose.Verifier
	issuer map[string]cose.Verifier
}

// thumbprint is RFC 9679's, of an EC2 key.
func thumbprint(key *cose.Key) ([]byte, error) {
	curve, x, y, _ := key.EC2()
	data, err := canonical.Marshal(map[int]any{1: 2, -1: int64(curve), -2: x, -3: y})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return sum[:], nil
}

func readKeys(c *checker) (*knownKeys, error) {
	keys := &knownKeys{log: map[string]cose.Verifier{}, issuer: map[string]cose.Verifier{}}
	var set []cbor.RawMessage
	if err := cbor.Unmarshal(c.read(c.kept.ScittKeys), &set); err != nil {
		return nil, err
	}
	for _, raw := range set {
		var key cose.Key
		if err := key.UnmarshalCBOR(raw); err != nil {
			return nil, err
		}
		kid, err := thumbprint(&key)
		if err != nil || !bytes.Equal(kid, key.ID) {
			return nil, fmt.Errorf("a kid is not the key's thumbprint: %v", err)
		}
		verifier, err := key.Verifier()
		if err != nil {
			return nil, err
		}
		keys.log[string(kid)] = verifier
	}
	var document struct {
		Methods []struct {
			JWK jwk `json:"publicKeyJwk"`
		} `json:"verificationMethod"`
	}
	if err := json.Unmarshal(c.read(c.kept.IssuerKeys), &document); err != nil {
		return nil, err
	}
	for _, method := range document.Methods {
		if err := method.JWK.addTo(keys.issuer); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

type jwk struct {
	Kid string `json:"kid"`
	X   string `json:"x"`
	Y   string `json:"y"`
}

func (j jwk) addTo(keys map[string]cose.Verifier) error {
	x, err := base64.RawURLEncoding.DecodeString(j.X)
	if err != nil {
		return err
	}
	y, err := base64.RawURLEncoding.DecodeString(j.Y)
	if err != nil {
		return err
	}
	key, err := cose.NewKeyEC2(cose.AlgorithmES256, x, y, nil)
	if err != nil {
		return err
	}
	kid, err := thumbprint(key)
	if err != nil || base64.RawURLEncoding.EncodeToString(kid) != j.Kid {
		return fmt.Errorf("a JWK's kid is not its thumbprint: %v", err)
	}
	verifier, err := key.Verifier()
	if err != nil {
		return err
	}
	keys[string(kid)] = verifier
	return nil
}

func decodeKid(text string) (string, error) {
	kid, err := base64.RawURLEncoding.DecodeString(text)
	return string(kid), err
}
