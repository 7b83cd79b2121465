// Package arch is a test that holds the house in shape: who may import whom, and that every package says what it owns.
package arch
