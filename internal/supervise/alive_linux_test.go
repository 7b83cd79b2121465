package supervise_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// pidIn reads a pid that was written with its newline.
func pidIn(file string) (int, error) {
	text, err := os.ReadFile(file)
	if err == nil && !strings.HasSuffix(string(text), "\n") {
		err = os.ErrInvalid
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	rest := text[bytes.LastIndexByte(text, ')')+1:]
	state := bytes.Fields(rest)[0][0]
	return state != 'Z' && state != 'X'
}
