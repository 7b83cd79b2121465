package web

import "io"

// SignIn is the page in front of the admin's pages.
type SignIn struct {
	Problem string // what was wrong with the last attempt; "" at the first
	Hint    string // what to do about it, where no form helps
	Closed  bool   // nobody can sign in
}

// SignIn writes the form that takes the admin token, or why there is none.
func (p *Pages) SignIn(w io.Writer, s SignIn) error {
	return p.signIn.Execute(w, struct {
		SignIn
		Root string
	}{s, inAdmin})
}
