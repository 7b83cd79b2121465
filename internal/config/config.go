package config

import (
	"net/url"
	"time"
)

// Config is every setting of the server.
type Config struct {
	Host    string   `env:"HOST" envDefault:"127.0.0.1" help:"address to listen on"`
	Port    int      `env:"PORT" envDefault:"4185" help:"port to listen on; 0 picks a free one"`
	Listen  string   `env:"LISTEN" help:"listen here instead of host and port: unix:/path, or host:port"`
	BaseURL *url.URL `env:"BASE_URL" help:"this server's URL as its clients know it; default: from each request's Host"`
	TLSCert string   `env:"TLS_CERT" help:"PEM file with the certificate chain; needs tls-key"`
	TLSKey  string   `env:"TLS_KEY" help:"PEM file with the private key"`

	Tokens         []string `env:"TOKEN" help:"POST and DELETE need one of these bearer tokens, comma-separated"`
	TokenFile      string   `env:"TOKEN_FILE" help:"file with such tokens, one a line"`
	AdminToken     string   `env:"ADMIN_TOKEN" help:"token for whatever lists names or breaks leases; default on loopback and unix sockets: one is made, where only your user finds it"`
	AdminTokenFile string   `env:"ADMIN_TOKEN_FILE" help:"file with the admin token"`
	Policy         string   `env:"POLICY" help:"YAML file: who may do what to which topics; read again on SIGHUP"`
	AllowedHosts   []string `env:"ALLOWED_HOSTS" help:"host names answered to besides loopback's, when listening on loopback; comma-separated"`
	CORSOrigins    []string `env:"CORS_ORIGIN" help:"origins whose pages may call this server, comma-separated; * for any"`

	DataDir       string   `env:"DATA_DIR" help:"keep leases and fences in this directory through restarts; default: in memory only"`
	Fsync         string   `env:"FSYNC" envDefault:"always" help:"always: no answer before its record is on disk; interval: a power cut can lose the last fsync-interval; never: it can lose what the system had not written yet"`
	FsyncInterval Duration `env:"FSYNC_INTERVAL" envDefault:"100ms" help:"how often to sync with fsync=interval"`
	History       bool     `env:"HISTORY" envDefault:"true" help:"keep a history of who held what, in data-dir or in memory"`
	HistoryAge    Duration `env:"HISTORY_AGE" envDefault:"720h" help:"how long events are kept"`
	HistorySize   int64    `env:"HISTORY_SIZE" envDefault:"256000000" help:"how large the history may grow, in bytes; in memory 16 MiB at most"`

	MaxTTL      Duration `env:"MAX_TTL" envDefault:"3600s" help:"longest ttl that may be asked for"`
	MaxWait     Duration `env:"MAX_WAIT" envDefault:"300s" help:"longest wait that may be asked for"`
	MaxCapacity int      `env:"MAX_CAPACITY" envDefault:"1024" help:"highest capacity that may be asked for"`
	MaxTopics   int      `env:"MAX_TOPICS" envDefault:"10000" help:"topics in use at once"`
	MaxWaiters  int      `env:"MAX_WAITERS" envDefault:"1024" help:"places in one topic's queue"`
	MaxBody     int64    `env:"MAX_BODY" envDefault:"4096" help:"longest request body, in bytes"`
	TopicIdle   Duration `env:"TOPIC_IDLE" envDefault:"1h" help:"a topic that nothing lives in is forgotten after this"`
	KeepPlace   Duration `env:"KEEP_PLACE" envDefault:"30s" help:"how long an Idempotency-Key keeps its place after its connection ended, and is refused after its lease has"`
	Heartbeat   Duration `env:"SSE_HEARTBEAT" envDefault:"25s" help:"time between comment lines on a quiet event stream"`

	ReadHeaderTimeout Duration `env:"READ_HEADER_TIMEOUT" envDefault:"10s" help:"how long a client may take to send a request's header, and then its body"`
	IdleTimeout       Duration `env:"IDLE_TIMEOUT" envDefault:"180s" help:"how long a connection may lie idle between requests"`
	ShutdownTimeout   Duration `env:"SHUTDOWN_TIMEOUT" envDefault:"5s" help:"how long requests may take to end when the server stops; storage has 5s more"`

	LogFormat string `env:"LOG_FORMAT" envDefault:"text" help:"text or json"`
	LogLevel  string `env:"LOG_LEVEL" envDefault:"info" help:"debug (a line for every request), info, warn or error"`
	Pprof     string `env:"PPROF" help:"serve Go's profiler on this loopback address, such as 127.0.0.1:6060; default: off"`
}

// Duration is a length of time that a user writes as a number of seconds or with a unit: 60, 0.5, 20m.
type Duration time.Duration

// D is the duration as the standard library has it.
func (d Duration) D() time.Duration { return time.Duration(d) }
