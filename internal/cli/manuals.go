package cli

func (d *door) acquireManual() manual {
	c := d.Codes
	what, server := "a lease on {TOPIC}", ""
	if d.Many {
		what = "a lease on each {TOPIC}, all of them or none,"
	}
	if d.Remote {
		server = ` Losing the connection or the server's restart costs neither the
place in line nor the lease.`
	}
	return manual{
		long: `acquire takes ` + what + ` and prints the grant. It waits in line, first come first served, and says who is
in the way.` + server + `

From then on the lease is yours to keep alive with renew, every third of its ttl, and to give back with release.
"{program} run" does both by itself. Keep the lease secret; write the fence along with your data.

If it fails, you hold nothing and nothing is printed on stdout: do not start the work.`,
		exit:    exits(0, "granted", 1, "an error", c.Busy, "held by others", c.Timeout, "not granted within the wait", 2, "wrong usage", "128+n", "ended by signal n while waiting"),
		example: d.acquireExample(),
	}
}

func (d *door) acquireExample() string {
	if d.JSONWhenPiped {
		return `{program} run deploy:staging -- ./deploy.sh    does all of this, renews too, and stops what has lost its lease

By hand, with a ttl longer than the work, as nothing renews here, and the grant in a file of your own:

(umask 077; {program} acquire deploy:staging --ttl 20m > grant.json) || exit
./deploy.sh; code=$?
{program} release deploy:staging --lease-file grant.json || exit
exit $code

A semaphore:

{program} acquire gpu --capacity 4 --wait 20m --reason "train run 7"`
	}
	return `{program} run deploy:staging -- ./deploy.sh    does all of this, renews too, and stops what has lost its lease

By hand, with a ttl longer than the work, as nothing renews here:

token=$({program} acquire --ttl 20m deploy:staging) || exit
./deploy.sh; code=$?
{LEASE}=$token {program} release deploy:staging || exit
exit $code`
}

func (d *door) runManual() manual {
	c := d.Codes
	many := ""
	if d.Many {
		many = ` Several {topic}s are taken in an order that cannot deadlock, and the
environment then has lists, separated by commas, in the order given.`
	}
	return manual{
		long: `run takes the lease, keeps it alive while COMMAND runs, and gives it back afterwards.` + many + `

If the lease is lost, because another took it over or nothing confirmed it in time, the whole tree of processes
is ended before anybody else can hold it: TERM, then KILL after --grace. Signals are passed on. The command has
the terminal, stdin, stdout and stderr as if it were started without run.`,
		exit: exits("0-255", "the command's own", 1, "an error", c.Busy, "held by others", c.Timeout, "not granted within the wait", 2, "wrong usage",
			c.Lost, "the lease was lost, or --max-hold has passed", max(c.NotExecutable, 126), "the command cannot be executed", 127, "there is no such command", "128+n", "ended by signal n"),
		example: `{program} run deploy:staging -- ./deploy.sh production
{program} run --ttl 30 --if-busy skip nightly -- make report`,
	}
}

func (d *door) leaseManual(long string, exit string) manual {
	return manual{
		long: long,
		exit: exit,
		env:  `{LEASE}   the lease, where no flag or argument gives it`,
	}
}

func (d *door) renewManual() manual {
	c := d.Codes
	return d.leaseManual(`renew sets the lease's end to now plus its ttl. Do it every third of the ttl. If it says that the lease is gone, stop
the work at once: another may hold the {topic}.`,
		exits(0, "renewed", 1, "an error: it is not known whether the lease lives", c.NotHeld, "the lease is gone", c.NotHolder, "another holds the "+d.Noun, 2, "wrong usage"))
}

func (d *door) releaseManual() manual {
	c := d.Codes
	again := ""
	if d.Remote {
		again = " It repeats itself until it is answered."
	}
	return d.leaseManual(`release ends the lease; the next in line gets the {topic} in the same instant.`+again,
		exits(0, "released", 1, "an error: the lease ends by its ttl", c.NotHeld, "it had ended before", c.NotHolder, "another holds the "+d.Noun, 2, "wrong usage"))
}

func (d *door) checkManual() manual {
	return d.leaseManual(`check asks whether the lease lives, and changes nothing: only renew prolongs it.`,
		exits(0, "it lives", codeGone, "it is gone", 2, "wrong usage", codeUnknown, "it could not be found out"))
}

var statusManual = manual{
	long: `status shows who holds a {topic}, for how long, when it was last renewed, and who waits. It claims nothing. To act
on it, acquire: looking first and acting then is a race.`,
	exit: `Without --exit-code: 0, or 1 for an error. With it:
` + exits(0, "held", 3, "free", 4, "expired: its holder fell silent, and the next takes over", 5, "corrupt or unreadable{or unreachable}"),
	example: `{program} status --exit-code deploy:staging > /dev/null
case $? in 0) echo held ;; 3) echo free ;; esac`,
}

var waitManual = manual{
	long: `wait returns when the {topic} is free, or as soon as a lease on it ends, even if the next in line takes it in that
instant. It claims nothing: to hold the {topic}, use acquire or run.`,
	exit: exits(0, "free, or a lease has ended", 1, "an error", 2, "wrong usage", codeWaitTimeout, "--timeout has passed"),
}

var forceReleaseManual = manual{
	long: `force-release ends the leases of others. Without --yes it only shows whose; --dry-run says so aloud.

The holder is not stopped by this: until its next renewal nothing but the fence keeps it from writing. Do it when
the holder is known to be dead, or the one who owns the work agreed. With --fence only that very holder is hit,
never one who came since.`,
	exit:    exits(0, "done, or shown, or there was nothing to do", 1, "an error", 2, "wrong usage"),
	example: `{program} force-release --yes --fence 42 deploy:staging`,
}

var historyManual = manual{
	long: `history shows what happened, newest first: evidence, not the truth, since it is written after the fact and may
miss events under strain.`,
	example: `{program} history --since 24h deploy:staging`,
}

var pruneManual = manual{
	long: `prune forgets what nobody holds, awaits or watches; that happens by itself too, later. Nothing is lost by it: a
{topic} is made anew by its next acquire, and its fences go on rising.`,
}

var topManual = manual{
	long: `top shows the longest queues and the longest holds, and keeps them current until q or Ctrl-C. Where stdout is no
terminal it shows them once.`,
}

var listManual = manual{
	long:    `list shows every {topic} that is held, awaited or was lately used, by name.`,
	example: `{program} list --prefix deploy: --state held`,
}
