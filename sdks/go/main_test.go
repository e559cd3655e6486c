// Runs the tests of this package against a real server: starts the shared test environment around itself.
// A test binary that is started within such an environment already uses that one.

package tranche

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("TRANCHE_CONTROL_URL") != "" {
		os.Exit(m.Run())
	}
	node := "node"
	if own, err := filepath.Abs("../../node_modules/.bin/node"); err == nil {
		if _, err := os.Stat(own); err == nil {
			node = own
		}
	}
	command := exec.Command(node, append([]string{"../testing/serve.ts", "--", os.Args[0]}, os.Args[1:]...)...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := command.Run()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		os.Exit(ended.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "the test environment did not start:", err)
		os.Exit(1)
	}
}
