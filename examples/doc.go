// Package examples shows how resources of several kinds refuse writes of those who lost their lease. Each is a command
// to put behind "mutex run"; README.md in this directory lists them. The package itself has only their tests.
package examples
