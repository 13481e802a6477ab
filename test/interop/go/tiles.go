package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	f_note "github.com/transparency-dev/formats/note"
	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/api"
	"github.com/transparency-dev/tessera/client"
	"golang.org/x/mod/sumdb/note"
)

// checkLog follows a statement log as a stock tile client does: from the checkpoint that was kept to the newest one.
func (c *checker) checkLog(kept keptNote, keys *knownKeys) {
	ctx := context.Background()
	prefix, err := url.Parse(kept.URL)
	if err != nil {
		panic(err)
	}
	fetcher, err := client.NewHTTPFetcher(prefix, nil)
	if err != nil {
		panic(err)
	}
	verifier, err := note.NewVerifier(kept.Vkey)
	if err != nil {
		panic(err)
	}
	first := c.read(kept.Checkpoint)
	var tracker *client.LogStateTracker
	c.check(kept.Kind+" log: it extends the checkpoint that was kept", func() error {
		consensus := client.UnilateralConsensus(fetcher.ReadCheckpoint)
		tracker, err = client.NewLogStateTracker(ctx, fetcher.ReadTile, first, verifier, kept.Origin, consensus)
		if err != nil {
			return err
		}
		size := tracker.Latest().Size
		if _, path, _, err := tracker.Update(ctx); err != nil || len(path) == 0 {
			return fmt.Errorf("%d hashes of a consistency proof: %v", len(path), err)
		}
		if tracker.Latest().Size <= size {
			return errors.New("it did not grow")
		}
		return nil
	})
	if tracker == nil {
		return
	}
	size, root := tracker.Latest().Size, tracker.Latest().Hash
	c.check(kept.Kind+" log: tiles lead to the root", func() error {
		nodes, err := client.FetchRangeNodes(ctx, size, fetcher.ReadTile)
		if err != nil {
			return err
		}
		whole, err := (&compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}).NewRange(0, size, nodes)
		if err != nil {
			return err
		}
		computed, err := whole.GetRootHash(nil)
		if err != nil || !bytes.Equal(computed, root) {
			return fmt.Errorf("another root: %v", err)
		}
		return nil
	})
	var leaves [][]byte
	c.check(kept.Kind+" log: every leaf is included, every size consistent", func() error {
		leaves, err = client.FetchLeafHashes(ctx, fetcher.ReadTile, 0, size, size)
		if err != nil {
			return err
		}
		return checkProofs(ctx, fetcher, size, root, leaves)
	})
	if kept.Kind == "private" {
		c.check("private log: no entry bundles", func() error {
			if _, err := fetcher.ReadEntryBundle(ctx, 0, 1); !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("it has one: %v", err)
			}
			return nil
		})
		return
	}
	c.check(kept.Kind+" log: cosigned by every witness", func() error { return checkWitnesses(first, c.kept.Witnesses, verifier) })
	c.check(kept.Kind+" log: every entry is its leaf, and a signed message", func() error {
		return checkEntries(ctx, fetcher, size, leaves)
	})
	// The entries of the keys log have no receipts.
	if kept.Kind == "public" {
		c.check("public log: receipts are of its own states", func() error { return c.checkReceiptsOf(ctx, fetcher, size, keys) })
	}
}

func checkProofs(ctx context.Context, fetcher *client.HTTPFetcher, size uint64, root []byte, leaves [][]byte) error {
	builder, err := client.NewProofBuilder(ctx, size, fetcher.ReadTile)
	if err != nil {
		return err
	}
	for index, leaf := range leaves {
		path, err := builder.InclusionProof(ctx, uint64(index))
		if err != nil {
			return err
		}
		if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), size, leaf, path, root); err != nil {
			return fmt.Errorf("leaf %d: %w", index, err)
		}
	}
	grown := (&compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}).NewEmptyRange(0)
	for index, leaf := range leaves {
		if err := grown.Append(leaf, nil); err != nil {
			return err
		}
		before, err := grown.GetRootHash(nil)
		if err != nil {
			return err
		}
		path, err := builder.ConsistencyProof(ctx, uint64(index+1), size)
		if err != nil {
			return err
		}
		if err := proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(index+1), size, path, before, root); err != nil {
			return fmt.Errorf("size %d: %w", index+1, err)
		}
	}
	return nil
}

func checkWitnesses(checkpoint []byte, witnesses []string, log note.Verifier) error {
	verifiers := []note.Verifier{log}
	for _, vkey := range witnesses {
		verifier, err := f_note.NewVerifierForCosignatureV1(vkey)
		if err != nil {
			return err
		}
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open(checkpoint, note.VerifierList(verifiers...))
	if err != nil {
		return err
	}
	if len(opened.Sigs) != len(verifiers) {
		return fmt.Errorf("%d signatures of %d", len(opened.Sigs), len(verifiers))
	}
	for _, signature := range opened.Sigs[1:] {
		if _, err := f_note.CoSigV1Timestamp(signature); err != nil {
			return err
		}
	}
	return nil
}

func unbundle(data []byte) ([][]byte, error) {
	var bundle api.EntryBundle
	err := bundle.UnmarshalText(data)
	return bundle.Entries, err
}

func checkEntries(ctx context.Context, fetcher *client.HTTPFetcher, size uint64, leaves [][]byte) error {
	sizeOf := func(context.Context) (uint64, error) { return size, nil }
	bundles := client.EntryBundles(ctx, 2, sizeOf, fetcher.ReadEntryBundle, 0, size)
	seen := uint64(0)
	for entry, err := range client.Entries(bundles, unbundle) {
		if err != nil {
			return err
		}
		if entry.Index != seen || !bytes.Equal(rfc6962.DefaultHasher.HashLeaf(entry.Entry), leaves[seen]) {
			return fmt.Errorf("entry %d is not its leaf", seen)
		}
		if _, err := decode(entry.Entry); err != nil {
			return fmt.Errorf("entry %d: %w", seen, err)
		}
		seen++
	}
	if seen != size {
		return fmt.Errorf("%d entries of %d", seen, size)
	}
	return nil
}

// checkReceiptsOf compares the root that each receipt of the public log signs with the log's own root at that size.
func (c *checker) checkReceiptsOf(ctx context.Context, fetcher *client.HTTPFetcher, size uint64, keys *knownKeys) error {
	found := 0
	for _, kept := range c.kept.Statements {
		if !kept.Public {
			continue
		}
		message, err := decode(c.read(kept.Transparent))
		if err != nil {
			return err
		}
		entry, err := entryOf(c.read(kept.Signed))
		if err != nil {
			return err
		}
		receipt := message.Headers.Unprotected[labelReceipts].([]any)[0].([]byte)
		read, root, err := verifyRFC9162(receipt, rfc6962.DefaultHasher.HashLeaf(entry), keys.log)
		if err != nil {
			return err
		}
		nodes, err := client.FetchRangeNodes(ctx, read.Size, fetcher.ReadTile)
		if err != nil {
			return err
		}
		whole, err := (&compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}).NewRange(0, read.Size, nodes)
		if err != nil {
			return err
		}
		published, err := whole.GetRootHash(nil)
		if err != nil || !bytes.Equal(published, root) || read.Size > size {
			return fmt.Errorf("%s: signed another root than the log's: %v", kept.Path, err)
		}
		found++
	}
	if found == 0 {
		return errors.New("no receipt is of the public log")
	}
	return nil
}
