// That a program elsewhere builds with this module through a replace, with nothing but the standard library.

package tranche

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const elsewhere = `package main

import (
	"context"
	"fmt"

	"tranche.example/tranche"
)

func main() {
	client := tranche.NewClient("tr_live_example", tranche.WithBaseURL("http://127.0.0.1:1"), tranche.WithMaxRetries(0))
	_, err := client.Projects.Retrieve(context.Background(), "prj_1")
	fmt.Println(tranche.Version, err != nil)
}
`

func TestACleanDirectoryBuildsTheModuleThroughReplace(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	module := "module example.com/elsewhere\n\ngo 1.23\n\nrequire tranche.example/tranche v0.0.0\n\nreplace tranche.example/tranche => " + here + "\n"
	for name, text := range map[string]string{"go.mod": module, "main.go": elsewhere} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, arguments ...string) string {
		t.Helper()
		command := exec.Command(name, arguments...)
		command.Dir = directory
		// No network and no vendoring: everything it needs is here.
		command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, output)
		}
		return string(output)
	}
	run("go", "build", "-o", "elsewhere", ".")
	if said := run(filepath.Join(directory, "elsewhere")); said != Version+" true\n" {
		t.Error(said)
	}
	if modules := strings.Fields(run("go", "list", "-m", "all")); len(modules) != 5 {
		t.Errorf("the module brings others with it: %v", modules)
	}
}

func TestTheModuleNeedsNothingButTheStandardLibrary(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("require")) || !bytes.Contains(text, []byte("\ngo 1.23\n")) {
		t.Errorf("%s", text)
	}
}
