package disk

// Op is the label of one file call.
type Op string

// Opening the directory.
const (
	MakeDir   Op = "make the data directory"
	LockDir   Op = "lock the data directory"
	BootOpen  Op = "open the journal at boot"
	BootRead  Op = "read the journal at boot"
	BootWrite Op = "go on in the old journal at boot"
	BootSync  Op = "sync the old journal at boot"
	FreeSpace Op = "ask for the free space"
)

// Appending to the journal.
const (
	AppendWrite    Op = "append records"
	AppendSync     Op = "sync appended records"
	AppendBlanks   Op = "lay blank lines for the records to come"
	AppendLook     Op = "look whether the journal is still in its place"
	AppendAllocate Op = "set room aside"
	CloseTruncate  Op = "give back room at close"
	CloseSync      Op = "sync at close"
)

// Making a new file from what is known: at boot, when compacting, after a failure, and to repair.
const (
	NewLook     Op = "look whether the data directory is still in its place"
	NewCreate   Op = "create a new journal"
	NewWrite    Op = "write a new journal"
	NewAllocate Op = "set room aside in a new journal"
	NewSync     Op = "sync a new journal"
	NewRename   Op = "put a new journal in place"
	NewSyncDir  Op = "sync the directory of a new journal"
	NewRemove   Op = "remove a new journal that did not work out"
)

// Checking and repairing by hand.
const (
	CheckOpen    Op = "open the journal to check it"
	CheckRead    Op = "read the journal to check it"
	BackupCreate Op = "create a backup"
	BackupWrite  Op = "write a backup"
	BackupSync   Op = "sync a backup"
)
