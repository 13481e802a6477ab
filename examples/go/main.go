// Command verifyreceipt checks the first receipt of a transparent statement: that the statement log holds the statement.
// It uses go-cose and the Merkle proofs of transparency-dev, and nothing of this project.
//
//	verifyreceipt call.cose log-keys.cbor
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/fxamacker/cbor/v2"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/veraison/go-cose"
)

// Header labels: RFC 9942 section 6.
const (
	labelReceipts  = int64(394)
	labelStructure = int64(395)
	labelProofs    = int64(396)
	inclusion      = int64(-1)
)

type inclusionProof struct {
	_     struct{} `cbor:",toarray"`
	Size  uint64
	Index uint64
	Path  [][]byte
}

func main() {
	if len(os.Args) != 3 {
		fail(errors.New("usage: verifyreceipt <transparent statement> <log keys>"))
	}
	statement, err := os.ReadFile(os.Args[1])
	fail(err)
	keys, err := os.ReadFile(os.Args[2])
	fail(err)
	found, err := verify(statement, keys)
	fail(err)
	fmt.Printf("VERIFIED: the log holds the statement as entry %d of %d\n", found.Index, found.Size)
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "REFUSED:", err)
		os.Exit(1)
	}
}

// verify computes the tree's root from the statement and the receipt's path, and checks the log's signature over it.
func verify(statement, keys []byte) (*inclusionProof, error) {
	message := cose.NewSign1Message()
	if err := message.UnmarshalCBOR(statement); err != nil {
		return nil, err
	}
	receipts, _ := message.Headers.Unprotected[labelReceipts].([]any)
	if len(receipts) == 0 {
		return nil, errors.New("the statement has no receipt")
	}
	encoded, _ := receipts[0].([]byte)
	receipt := cose.NewSign1Message()
	if err := receipt.UnmarshalCBOR(encoded); err != nil {
		return nil, err
	}
	if receipt.Headers.Protected[labelStructure] != int64(1) || receipt.Payload != nil {
		return nil, errors.New("the first receipt is not of an RFC 9162 log")
	}
	entry, err := entryOf(statement)
	if err != nil {
		return nil, err
	}
	found, err := proofOf(receipt)
	if err != nil {
		return nil, err
	}
	leaf := rfc6962.DefaultHasher.HashLeaf(entry)
	root, err := proof.RootFromInclusionProof(rfc6962.DefaultHasher, found.Index, found.Size, leaf, found.Path)
	if err != nil {
		return nil, err
	}
	verifier, err := verifierOf(receipt, keys)
	if err != nil {
		return nil, err
	}
	receipt.Payload = root
	return found, receipt.Verify(nil, verifier)
}

// entryOf returns what the log commits to: the statement with an empty unprotected header.
func entryOf(statement []byte) ([]byte, error) {
	var tag cbor.RawTag
	if err := cbor.Unmarshal(statement, &tag); err != nil {
		return nil, err
	}
	var parts []cbor.RawMessage
	if err := cbor.Unmarshal(tag.Content, &parts); err != nil {
		return nil, err
	}
	if len(parts) != 4 {
		return nil, errors.New("the statement is not a COSE_Sign1 message")
	}
	parts[1] = cbor.RawMessage{0xa0}
	content, err := cbor.Marshal(parts)
	if err != nil {
		return nil, err
	}
	return cbor.Marshal(cbor.RawTag{Number: 18, Content: content})
}

func proofOf(receipt *cose.Sign1Message) (*inclusionProof, error) {
	proofs, _ := receipt.Headers.Unprotected[labelProofs].(map[any]any)
	list, _ := proofs[inclusion].([]any)
	if len(list) != 1 {
		return nil, fmt.Errorf("the receipt has %d proofs of inclusion, not one", len(list))
	}
	encoded, _ := list[0].([]byte)
	var read inclusionProof
	return &read, cbor.Unmarshal(encoded, &read)
}

// verifierOf finds the key that the receipt names among the log's published keys.
func verifierOf(receipt *cose.Sign1Message, keys []byte) (cose.Verifier, error) {
	kid, _ := receipt.Headers.Protected[cose.HeaderLabelKeyID].([]byte)
	var set []cbor.RawMessage
	if err := cbor.Unmarshal(keys, &set); err != nil {
		return nil, err
	}
	for _, raw := range set {
		var key cose.Key
		if err := key.UnmarshalCBOR(raw); err != nil {
			return nil, err
		}
		if string(key.ID) == string(kid) {
			return key.Verifier()
		}
	}
	return nil, errors.New("no published key of the log has the receipt's key id")
}
