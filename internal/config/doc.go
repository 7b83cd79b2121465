// Package config reads the settings of mutex serve, once, into one struct.
//
// Every setting is an environment variable MUTEX_… and a flag; the flag wins. Name, default, unit and meaning of
// each stand in the tags of [Config] and nowhere else: flags and help are made from them. A value that cannot be used
// is reported by the name that the user gave it, with what it takes.
//
// It owns no goroutine, and apart from files that hold tokens it reads nothing but what it is given.
package config
