package main

import (
	"errors"
	"strings"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"
)

// checkWitnessed checks the seal in an evidence bundle as any tool for C2SP tlog-proofs does: under a policy that names
// the log and all witnesses.
func (c *checker) checkWitnessed() {
	proof, seal := c.read(c.kept.Witnessed.Proof), c.read(c.kept.Witnessed.Seal)
	c.check("witnessed seal: its proof holds, cosigned by every witness", func() error {
		return c.verifyWitnessed(proof, seal)
	})
	c.check("witnessed seal: no other seal is proven", func() error {
		seal[0] ^= 1
		var refused *torchwood.VerifyRecordError
		if err := c.verifyWitnessed(proof, seal); !errors.As(err, &refused) {
			return errors.New("an altered one is")
		}
		return nil
	})
}

func (c *checker) verifyWitnessed(proof, seal []byte) error {
	lines, group := []string{}, "group all all"
	for _, kept := range c.kept.Notes {
		if kept.Kind == "public" {
			lines = append(lines, "log "+kept.Vkey)
		}
	}
	for _, vkey := range c.kept.Witnesses {
		name, _, _ := strings.Cut(vkey, "+")
		lines = append(lines, "witness "+name+" "+vkey)
		group += " " + name
	}
	lines = append(lines, group, "quorum all")
	policy, err := torchwood.ParsePolicy([]byte(strings.Join(lines, "\n")))
	if err != nil {
		return err
	}
	return torchwood.VerifyProof(policy, tlog.RecordHash(seal), proof)
}
