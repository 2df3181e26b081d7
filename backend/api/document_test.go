package api

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write docs/openapi.json anew")

const documentFile = "../../docs/openapi.json"

func TestDocumentIsFresh(t *testing.T) {
	if *update {
		if err := os.WriteFile(documentFile, OpenAPI(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(documentFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(OpenAPI()) != string(committed) {
		t.Fatal("docs/openapi.json is not what the code declares: run make openapi")
	}
}
