package history

import (
	"context"
	"database/sql"
	"errors"
)

const (
	// useGrace is for how many blocks a topic or holder on record may be used before that is noted, and so for how
	// many more it is kept.
	useGrace = 16
	// maxNames bounds what the writer remembers of each kind; past it, it starts over.
	maxNames = 16384
	// holdersRecalled is how many of the newest holders are read at the start.
	holdersRecalled = 64
)

// names remembers the ids of the topics and holders that the writer has met, so that an event costs no look-up.
type names struct {
	topics     map[string]*topicRef
	holders    map[who]holderRef
	nextHolder int64
}

type who struct {
	name, reason, host string
	pid                int
}

// topicRef is a topic on record, and the last block whose sets it was put into.
type topicRef struct {
	id       int64
	noted    int64 // the block in its row
	changes  int64
	renewals int64
}

type holderRef struct{ id, noted int64 }

func newNames() names {
	return names{topics: make(map[string]*topicRef), holders: make(map[who]holderRef)}
}

// recall forgets everything and reads the newest holders: one of them may come again, and their ids go on from there.
func (n *names) recall(ctx context.Context, tx *sql.Tx) (err error) {
	clear(n.topics)
	clear(n.holders)
	n.nextHolder = 1
	rows, err := tx.QueryContext(ctx, "SELECT id, name, reason, host, pid, block FROM holders ORDER BY id DESC LIMIT ?",
		holdersRecalled)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var (
			w   who
			ref holderRef
		)
		if err := rows.Scan(&ref.id, &w.name, &w.reason, &w.host, &w.pid, &ref.noted); err != nil {
			return err
		}
		n.nextHolder = max(n.nextHolder, ref.id+1)
		if _, newer := n.holders[w]; !newer {
			n.holders[w] = ref
		}
	}
	return rows.Err()
}

// topic gives the topic's id, and keeps its row from being swept while it is in use.
func (n *names) topic(ctx context.Context, tx *sql.Tx, name string, block int64) (*topicRef, error) {
	ref := n.topics[name]
	if ref != nil && block-ref.noted <= useGrace {
		return ref, nil
	}
	ref = &topicRef{noted: block, changes: -1, renewals: -1}
	err := tx.QueryRowContext(ctx, `INSERT INTO topics (name, block) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET block = excluded.block RETURNING id`, name, block).Scan(&ref.id)
	if err != nil {
		return nil, err
	}
	if len(n.topics) >= maxNames {
		clear(n.topics)
	}
	n.topics[name] = ref
	return ref, nil
}

// holder gives the holder's id; a new one the caller must insert.
func (n *names) holder(w who, block int64) (id int64, isNew bool) {
	ref, ok := n.holders[w]
	if ok && block-ref.noted <= useGrace {
		return ref.id, false
	}
	if len(n.holders) >= maxNames {
		clear(n.holders)
	}
	id = n.nextHolder
	n.nextHolder++
	n.holders[w] = holderRef{id: id, noted: block}
	return id, true
}

// note puts an event into the block's summary.
func (b *block) note(t *topicRef, kind Kind, at int64) {
	b.span(at)
	seen, set := &t.changes, &b.changes
	if kind == Renewed {
		seen, set = &t.renewals, &b.renewals
	}
	if *seen != b.id {
		*seen = b.id
		*set = append(*set, t.id)
	}
}

// load reads the block's row, if there is one.
func (b *block) load(ctx context.Context, tx *sql.Tx) error {
	var changes, renewals []byte
	row := tx.QueryRowContext(ctx, "SELECT earliest, latest, changes, renewals FROM blocks WHERE id = ?", b.id)
	err := row.Scan(&b.earliest, &b.latest, &changes, &renewals)
	if err == sql.ErrNoRows {
		return nil
	}
	for id := range topicsIn(changes) {
		b.changes = append(b.changes, id)
	}
	for id := range topicsIn(renewals) {
		b.renewals = append(b.renewals, id)
	}
	return err
}

func (b *block) save(ctx context.Context, tx *sql.Tx) error {
	if b.latest == 0 {
		return nil // nothing in it
	}
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?)",
		b.id, b.earliest, b.latest, encodeSet(b.changes), encodeSet(b.renewals))
	return err
}
