package teach

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// skills are the folders that WriteSkills makes, by name: one for a server, one for the directory without one.
var skills = []string{"mutex", "agentmutex"}

// WriteSkills writes a folder for each skill into dir, which it makes if it is not there, and gives the files' paths. A
// skill of that name is replaced; any other file in its place is left alone, and an error.
func WriteSkills(dir, url string) ([]string, error) {
	var written []string
	for _, name := range skills {
		path := filepath.Join(dir, name, "SKILL.md")
		if err := replaceable(path, name); err != nil {
			return written, err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return written, err
		}
		if err := os.WriteFile(path, []byte(render("skill-"+name+".md", url)), 0o666); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	return written, nil
}

// replaceable refuses a file that is no skill of the name.
func replaceable(path, name string) error {
	there, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !strings.HasPrefix(string(there), "---\nname: "+name+"\n"):
		return fmt.Errorf("%s is there and is no skill named %s: move it away, or choose another directory", path, name)
	}
	return nil
}
