// That every piece of Go in the README compiles, as it stands there.

package tranche

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// surroundings are the variables that the README's pieces take for granted.
const surroundings = `func piece(ctx context.Context, client *tranche.Client, project *tranche.Project, milestone *tranche.Milestone, payment *tranche.Payment,
	body []byte, request *http.Request, secret string, lastSeq int64, event tranche.WebhookEvent) error {
	{
%s
	}
	return nil
}

func main() {
	fmt.Print(piece == nil)
}
`

func TestTheREADMECompiles(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/readme\n\ngo 1.23\n\nrequire tranche.example/tranche v0.0.0\n\nreplace tranche.example/tranche => "+here+"\n")
	pieces := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(pieces) < 8 {
		t.Fatalf("the README has only %d pieces", len(pieces))
	}
	for index, piece := range pieces {
		program := piece[1]
		if !strings.HasPrefix(program, "package main") {
			program = fmt.Sprintf(surroundings, program)
			imports := []string{"context", "fmt", "net/http", "tranche.example/tranche"}
			for _, path := range []string{"errors", "os"} {
				if strings.Contains(program, path+".") {
					imports = append(imports, path)
				}
			}
			program = "package main\n\nimport (\n\t\"" + strings.Join(imports, "\"\n\t\"") + "\"\n)\n\n" + program
		}
		write(fmt.Sprintf("piece%d/main.go", index), program)
	}
	command := exec.Command("go", "build", "-o", os.DevNull, "./...")
	command.Dir = directory
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
