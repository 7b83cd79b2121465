package cli

// use is a verb's synopsis: what stands where on its command line.
func (d *door) use(verb, operands string) string {
	switch {
	case operands == "":
		return verb + " [flags]"
	case d.FlagsFirst:
		return verb + " [flags] " + operands
	}
	return verb + " " + operands + " [flags]"
}

// keys is what stands for the keys of acquire and run.
func (d *door) keys() string {
	if d.Many {
		return upper(d.Noun) + "..."
	}
	return upper(d.Noun)
}

func (d *door) mostKeys() int {
	if d.Many {
		return -1
	}
	return 1
}

// useWithLease is the synopsis of a verb that needs a lease.
func (d *door) useWithLease(verb string) string {
	if d.Lease.Arg {
		return d.use(verb, upper(d.Noun)+" [LEASE|-]")
	}
	return d.use(verb, upper(d.Noun))
}

func (d *door) argsWithLease() int {
	if d.Lease.Arg {
		return 2
	}
	return 1
}
