package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/fxamacker/cbor/v2"
)

// recode reads one encoded item a line, in hex, and prints what the core deterministic encoding of its value is.
func recode(path string) int {
	file, err := os.Open(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer file.Close()
	strict, err := cbor.DecOptions{DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden}.DecMode()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, err := hex.DecodeString(lines.Text())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		var value any
		if err := strict.Unmarshal(data, &value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		encoded, err := canonical.Marshal(value)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(hex.EncodeToString(bytes.Clone(encoded)))
	}
	return 0
}
