package main

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/fxamacker/cbor/v2"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/veraison/go-cose"
)

const (
	labelReceipts     = int64(394)
	labelStructure    = int64(395)
	labelProofs       = int64(396)
	labelClaims       = int64(15)
	labelPeakReceipts = int64(-65931)
	inclusion         = int64(-1)
)

var canonical = func() cbor.EncMode {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err)
	}
	return mode
}()

func decode(data []byte) (*cose.Sign1Message, error) {
	message := cose.NewSign1Message()
	return message, message.UnmarshalCBOR(data)
}

// verify checks a signature, and that it fails once a bit of the payload is turned.
func verify(message *cose.Sign1Message, payload []byte, verifier cose.Verifier) error {
	if verifier == nil {
		return errors.New("no published key has this kid")
	}
	message.Payload = payload
	if err := message.Verify(nil, verifier); err != nil {
		return err
	}
	altered := bytes.Clone(payload)
	altered[len(altered)-1] ^= 1
	message.Payload = altered
	if message.Verify(nil, verifier) == nil {
		return errors.New("an altered payload verifies")
	}
	return nil
}

func kidOf(message *cose.Sign1Message) string {
	kid, _ := message.Headers.Protected[cose.HeaderLabelKeyID].([]byte)
	return string(kid)
}

// entryOf is what the statement logs commit to: the message with an empty unprotected header.
func entryOf(data []byte) ([]byte, error) {
	var tag cbor.RawTag
	if err := cbor.Unmarshal(data, &tag); err != nil {
		return nil, err
	}
	var parts []cbor.RawMessage
	if err := cbor.Unmarshal(tag.Content, &parts); err != nil {
		return nil, err
	}
	parts[1] = cbor.RawMessage{0xa0}
	content, err := canonical.Marshal(parts)
	if err != nil {
		return nil, err
	}
	return canonical.Marshal(cbor.RawTag{Number: 18, Content: content})
}

func onlyProof(message *cose.Sign1Message) (any, error) {
	proofs, _ := message.Headers.Unprotected[labelProofs].(map[any]any)
	list, _ := proofs[inclusion].([]any)
	if len(list) != 1 {
		return nil, fmt.Errorf("%d proofs of inclusion", len(list))
	}
	return list[0], nil
}

type rfc9162Proof struct {
	_     struct{} `cbor:",toarray"`
	Size  uint64
	Index uint64
	Path  [][]byte
}

// verifyRFC9162 returns the size, index and root that a receipt of vds 1 signs for a leaf.
func verifyRFC9162(data, leaf []byte, keys map[string]cose.Verifier) (*rfc9162Proof, []byte, error) {
	message, err := decode(data)
	if err != nil {
		return nil, nil, err
	}
	if message.Headers.Protected[labelStructure] != int64(1) || message.Payload != nil {
		return nil, nil, errors.New("not a receipt of an RFC 9162 tree")
	}
	only, err := onlyProof(message)
	if err != nil {
		return nil, nil, err
	}
	encoded, _ := only.([]byte)
	var read rfc9162Proof
	if err := cbor.Unmarshal(encoded, &read); err != nil {
		return nil, nil, err
	}
	root, err := proof.RootFromInclusionProof(rfc6962.DefaultHasher, read.Index, read.Size, leaf, read.Path)
	if err != nil {
		return nil, nil, err
	}
	return &read, root, verify(message, root, keys[kidOf(message)])
}

func (c *checker) checkStatements(keys *knownKeys) {
	for _, kept := range c.kept.Statements {
		c.check(kept.Path+": statement", func() error {
			message, err := decode(c.read(kept.Signed))
			if err != nil {
				return err
			}
			return verify(message, message.Payload, keys.issuer[kidOf(message)])
		})
		c.check(kept.Path+": transparent statement", func() error { return c.checkTransparent(kept, keys) })
		for _, form := range []string{kept.ReceiptMap, kept.ReceiptDraft} {
			c.check(kept.Path+": "+form, func() error {
				return verifyMMR(c.read(form), c.leafOf(kept), keys.log)
			})
		}
	}
}

func (c *checker) checkTransparent(kept keptStatement, keys *knownKeys) error {
	message, err := decode(c.read(kept.Transparent))
	if err != nil {
		return err
	}
	entry, err := entryOf(c.read(kept.Signed))
	if err != nil {
		return err
	}
	same, err := entryOf(c.read(kept.Transparent))
	if err != nil || !bytes.Equal(entry, same) {
		return fmt.Errorf("another statement: %v", err)
	}
	receipts, _ := message.Headers.Unprotected[labelReceipts].([]any)
	if len(receipts) != 2 {
		return fmt.Errorf("%d receipts", len(receipts))
	}
	_, _, err = verifyRFC9162(receipts[0].([]byte), rfc6962.DefaultHasher.HashLeaf(entry), keys.log)
	if err != nil {
		return err
	}
	return verifyMMR(receipts[1].([]byte), c.leafOf(kept), keys.log)
}

// embeddedVerifier takes the key that a self-asserted statement brings.
func embeddedVerifier(message *cose.Sign1Message) (cose.Verifier, error) {
	claims, _ := message.Headers.Protected[labelClaims].(map[any]any)
	confirmation, _ := claims[int64(8)].(map[any]any)
	embedded, _ := confirmation[int64(1)].(map[any]any)
	algorithm, err := message.Headers.Protected.Algorithm()
	if err != nil {
		return nil, err
	}
	if embedded[int64(1)] == int64(3) {
		n, e := embedded[int64(-1)].([]byte), embedded[int64(-2)].([]byte)
		var public crypto.PublicKey = &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
		return cose.NewVerifier(algorithm, public)
	}
	encoded, err := canonical.Marshal(embedded)
	if err != nil {
		return nil, err
	}
	var key cose.Key
	if err := key.UnmarshalCBOR(encoded); err != nil {
		return nil, err
	}
	return key.Verifier()
}

func (c *checker) checkRegistered(keys *knownKeys) {
	for _, kept := range c.kept.Registered {
		c.check("registered "+kept.Name, func() error {
			message, err := decode(c.read(kept.Statement))
			if err != nil {
				return err
			}
			verifier, err := embeddedVerifier(message)
			if err != nil {
				return err
			}
			if err := verify(message, message.Payload, verifier); err != nil {
				return err
			}
			entry, err := entryOf(c.read(kept.Statement))
			if err != nil {
				return err
			}
			_, _, err = verifyRFC9162(c.read(kept.Receipt), rfc6962.DefaultHasher.HashLeaf(entry), keys.log)
			return err
		})
	}
}

func (c *checker) checkPayloadHash() {
	var set struct {
		Keys []jwk `json:"keys"`
	}
	if err := json.Unmarshal(c.read(c.kept.PayloadHash.Keys), &set); err != nil {
		panic(err)
	}
	keys := map[string]cose.Verifier{}
	for _, key := range set.Keys {
		if err := key.addTo(keys); err != nil {
			panic(err)
		}
	}
	for _, kept := range c.kept.PayloadHash.Entries {
		c.check("payload-hash "+kept.Receipt, func() error {
			message, err := decode(c.read(kept.Statement))
			if err != nil {
				return err
			}
			digest := sha256.Sum256(message.Payload)
			_, _, err = verifyRFC9162(c.read(kept.Receipt), rfc6962.DefaultHasher.HashLeaf(digest[:]), keys)
			return err
		})
	}
}
