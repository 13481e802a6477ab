package main

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/fxamacker/cbor/v2"
	"github.com/veraison/go-cose"
)

func height(index uint64) int {
	position := index + 1
	for position&(position+1) != 0 {
		position -= 1<<(bits.Len64(position)-1) - 1
	}
	return bits.Len64(position) - 1
}

func parent(position uint64, left, right []byte) []byte {
	sum := sha256.Sum256(append(append(binary.BigEndian.AppendUint64(nil, position), left...), right...))
	return sum[:]
}

// peakOf is what a path leads to from a node of a Merkle mountain range.
func peakOf(index uint64, node []byte, path [][]byte) []byte {
	for g := height(index); len(path) > 0; g, path = g+1, path[1:] {
		if height(index+1) > g {
			index++
			node = parent(index+1, path[0], node)
		} else {
			index += 2 << g
			node = parent(index+1, node, path[0])
		}
	}
	return node
}

type mapProof struct {
	Index uint64   `cbor:"1,keyasint"`
	Path  [][]byte `cbor:"2,keyasint"`
}

type draftProof struct {
	_     struct{} `cbor:",toarray"`
	Index uint64
	Path  [][]byte
}

// leafOf takes an event's leaf from the log's own file; its hash is the Python program's to check.
func (c *checker) leafOf(kept keptStatement) func(tenant string, index uint64) []byte {
	return func(tenant string, index uint64) []byte {
		for _, log := range c.kept.Massifs {
			if log.Tenant == tenant {
				data := c.read(log.Massif)
				return data[1048864+32*index : 1048864+32*index+32]
			}
		}
		return nil
	}
}

// verifyMMR checks a receipt of vds 3 in either form.
func verifyMMR(data []byte, leaf func(tenant string, index uint64) []byte, keys map[string]cose.Verifier) error {
	message, err := decode(data)
	if err != nil {
		return err
	}
	if message.Headers.Protected[labelStructure] != int64(3) || message.Payload != nil {
		return errors.New("not a receipt of a mountain range")
	}
	only, err := onlyProof(message)
	if err != nil {
		return err
	}
	var read mapProof
	if encoded, draft := only.([]byte); draft {
		var proof draftProof
		if err := cbor.Unmarshal(encoded, &proof); err != nil {
			return err
		}
		read = mapProof{proof.Index, proof.Path}
	} else {
		encoded, err := canonical.Marshal(only)
		if err != nil {
			return err
		}
		if err := cbor.Unmarshal(encoded, &read); err != nil {
			return err
		}
	}
	claims, _ := message.Headers.Protected[labelClaims].(map[any]any)
	tenant, _ := claims[int64(2)].(string)
	node := leaf(tenant, read.Index)
	if node == nil {
		return errors.New("the receipt is of an unknown log: " + tenant)
	}
	return verify(message, peakOf(read.Index, node, read.Path), keys[kidOf(message)])
}

// checkSeals reads each seal as go-cose does, its signed peaks too, and verifies these over the log's nodes.
func (c *checker) checkSeals(keys *knownKeys) {
	for _, log := range c.kept.Massifs {
		c.check("seal of "+log.Tenant, func() error {
			message, err := decode(c.read(log.Seal))
			if err != nil {
				return err
			}
			state := map[int64]any{}
			if err := cbor.Unmarshal(message.Payload, &state); err != nil {
				return err
			}
			var peaks [][]byte
			node := c.leafOf(keptStatement{})
			size := state[1].(uint64)
			for base := uint64(0); base < size; {
				base += 1<<(bits.Len64(size-base+1)-1) - 1
				peaks = append(peaks, node(log.Tenant, base-1))
			}
			state[8] = peaks
			signed, err := canonical.Marshal(state)
			if err != nil {
				return err
			}
			claims, _ := message.Headers.Protected[labelClaims].(map[any]any)
			confirmation, _ := claims[int64(8)].(map[any]any)
			claimed, _ := confirmation[int64(1)].(map[any]any)
			text, _ := claimed[int64(2)].(string)
			kid, err := decodeKid(text)
			if err != nil {
				return err
			}
			receipts, _ := message.Headers.Unprotected[labelPeakReceipts].([]any)
			if len(receipts) != len(peaks) {
				return errors.New("not one receipt a peak")
			}
			for at, receipt := range receipts {
				peak, err := decode(receipt.([]byte))
				if err != nil {
					return err
				}
				if err := verify(peak, peaks[at], keys.log[kidOf(peak)]); err != nil {
					return err
				}
			}
			return verify(message, signed, keys.log[kid])
		})
	}
}
