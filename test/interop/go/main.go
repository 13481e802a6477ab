// Command statementlog checks what a running service handed out with libraries that are not ours: the public statement log
// as a stock tile client follows it, statements and receipts with go-cose, a witnessed seal with torchwood. Its one argument is the folder of
// gather-evidence.ts. It prints a JSON line for each check that failed and one with the number of checks. With a second
// argument, a file of encoded CBOR items in hex, it only prints their core deterministic encodings.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

type keptStatement struct {
	Path         string `json:"path"`
	Public       bool   `json:"public"`
	Signed       string `json:"signed"`
	Transparent  string `json:"transparent"`
	ReceiptMap   string `json:"receipt_map"`
	ReceiptDraft string `json:"receipt_draft"`
}

type keptReceipt struct {
	Name      string `json:"name"`
	Statement string `json:"statement"`
	Receipt   string `json:"receipt"`
}

type keptNote struct {
	Kind       string `json:"kind"`
	Origin     string `json:"origin"`
	Vkey       string `json:"vkey"`
	URL        string `json:"url"`
	Checkpoint string `json:"checkpoint"`
}

type manifest struct {
	ScittKeys   string          `json:"scitt_keys"`
	IssuerKeys  string          `json:"issuer_keys"`
	Statements  []keptStatement `json:"statements"`
	Registered  []keptReceipt   `json:"registered"`
	PayloadHash struct {
		Keys    string        `json:"keys"`
		Entries []keptReceipt `json:"entries"`
	} `json:"payload_hash"`
	Massifs []struct {
		Tenant string `json:"tenant"`
		Seal   string `json:"seal"`
		Massif string `json:"massif"`
	} `json:"massifs"`
	Notes     []keptNote `json:"notes"`
	Witnesses []string   `json:"witnesses"`
	Witnessed struct {
		Proof string `json:"proof"`
		Seal  string `json:"seal"`
	} `json:"witnessed"`
}

type checker struct {
	folder   string
	kept     manifest
	checks   int
	failures int
}

func (c *checker) read(name string) []byte {
	data, err := os.ReadFile(filepath.Join(c.folder, name))
	if err != nil {
		panic(err)
	}
	return data
}

func (c *checker) check(name string, work func() error) {
	c.checks++
	if err := work(); err != nil {
		c.failures++
		line, _ := json.Marshal(map[string]string{"check": name, "error": err.Error()})
		fmt.Println(string(line))
	}
}

func main() {
	c := &checker{folder: os.Args[1]}
	if len(os.Args) > 2 {
		os.Exit(recode(os.Args[2]))
	}
	if err := json.Unmarshal(c.read("manifest.json"), &c.kept); err != nil {
		panic(err)
	}
	keys, err := readKeys(c)
	if err != nil {
		panic(err)
	}
	c.checkStatements(keys)
	c.checkRegistered(keys)
	c.checkPayloadHash()
	c.checkSeals(keys)
	c.checkWitnessed()
	for _, kept := range c.kept.Notes {
		c.checkLog(kept, keys)
	}
	fmt.Printf("{\"checks\":%d,\"failures\":%d}\n", c.checks, c.failures)
	if c.failures > 0 {
		os.Exit(1)
	}
}
