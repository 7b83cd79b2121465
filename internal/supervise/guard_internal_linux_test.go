package supervise

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAGuardKnowsNoLaterTimeThanNow: whatever it was told, and if it was told nothing, it ends what it guards.
func TestAGuardEndsItsTreeWhateverItWasTold(t *testing.T) {
	for name, told := range map[string]string{
		"nothing": "", "a moment long past": "1\n", "a line that was cut off": "99999999999999999",
		"what is no number": "soon\n",
	} {
		t.Run(name, func(t *testing.T) {
			command := exec.Command("/bin/sh", "-c", "trap '' TERM; echo; while :; do sleep 0.1; done")
			command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			out, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 1)); err != nil { // TERM is ignored now
				t.Fatal(err)
			}
			session, _, _ := syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0)
			order, err := json.Marshal(guardOrder{
				Group: command.Process.Pid, Session: int(session), RunID: "none", Grace: time.Hour,
			})
			if err != nil {
				t.Fatal(err)
			}
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			guard := &exec.Cmd{Path: exe, Args: []string{guardName, string(order)}, Stdin: strings.NewReader(told)}
			if err := guard.Run(); err != nil {
				t.Errorf("guard: %v", err)
			}
			if err := command.Wait(); err == nil || command.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Errorf("command: %v", err)
			}
		})
	}
}
