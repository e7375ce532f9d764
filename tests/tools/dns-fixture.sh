#!/usr/bin/env bash
# A real PowerDNS Authoritative server, and if wanted a real Unbound forwarding to it, on loopback, without systemd and
# without root (high ports).
#
#   dns-fixture.sh deps                        install what is missing (root and apt-get), else print the line to run
#   dns-fixture.sh ready                       exit 0 when everything is installed; else name what is missing
#   dns-fixture.sh up     [options]            start; prints NAME=value lines, also written to DIR/env
#   dns-fixture.sh seed   --dir DIR NAME FORWARD REVERSE
#                                              one tenant: two zones, one TSIG key bound to both
#   dns-fixture.sh stop   --dir DIR            stop the authoritative server, keep its data
#   dns-fixture.sh start  --dir DIR            start it again on the same ports, with PDNS_EXTRA
#   dns-fixture.sh reload-unbound --dir DIR [FLAG...]    rewrite unbound.conf and restart only Unbound
#   dns-fixture.sh ssh-up --dir DIR [--no-forwarding]    an sshd on loopback for this user; SSH_CONFIG in DIR/env
#   dns-fixture.sh ssh-down --dir DIR          stop that sshd; connections it carries stay
#   dns-fixture.sh status --dir DIR
#   dns-fixture.sh down   --dir DIR [--keep]   stop all by pid, remove DIR unless --keep
#
# options for up (defaults in brackets):
#   --dir DIR           data directory, must be new or empty  [mktemp -d]
#   --addr A            auth listens on A  [127.0.0.1]
#   --resolver-addr A   Unbound listens on A [same as --addr]
#   --port-base N|auto  auth N, api N+1, unbound N+2, unbound-control N+3, parent N+4, parent api N+5, sshd N+6 [auto]
#   --api-key K         [fixture-key]
#   --no-resolver       no Unbound
#   --parent            also run a second, DNSSEC-signed auth server for the parent zone (PARENT_ZONE)
#   --unbound-bin P --pdns-bin P   other binaries than those on PATH
# PDNS_EXTRA: lines for the end of pdns.conf; a setting that is there twice has its last value.
#
# FORWARDS: for reload-unbound, the zones that are forwarded instead of those of up; set and empty forwards none.
#
# Unbound behaviour is switched with FLAGs (env FIXTURE_FLAGS="a b", or arguments of reload-unbound).
# The default is what an OPNsense "query forwarding" entry writes; each flag takes one piece away or adds one:
#   no-private-domain   no private-domain: for the forward zones (rebinding filter eats RFC1918 answers)
#   no-nodefault        no local-zone for the reverse zones (built-in 10.in-addr.arpa answers NXDOMAIN)
#   no-insecure         no domain-insecure: for the forwarded zones
#   no-private-address  no private-address: lines at all
#   stub                stub-zone instead of forward-zone
#   serve-expired       serve-expired: yes
#   validate            trust the parent's KSK (needs --parent)
#   reply-ede           ede: yes (and ede-serve-expired where known)
#   forward-first       forward-first: yes
#   tcp-upstream        forward-tcp-upstream: yes
set -euo pipefail
# Daemons live in sbin, which is not on everybody's PATH.
PATH=$PATH:/usr/sbin:/sbin

PACKAGES=(pdns-server pdns-backend-sqlite3 sqlite3 unbound openssh-client openssh-server curl jq)

PARENT_ZONE=${PARENT_ZONE:-deevnet.net}
FWD_ZONES=${FWD_ZONES:-tdemo.mobile.deevnet.net tother.mobile.deevnet.net}
REV_ZONES=${REV_ZONES:-129.20.10.in-addr.arpa 130.20.10.in-addr.arpa}

die() { echo "dns-fixture: $*" >&2; exit 1; }
now_ms() { local t=${EPOCHREALTIME/[.,]/}; echo $((t / 1000)); }

missing() { # programs and files of PACKAGES that are not here
  local out=() p
  for p in pdns_server sqlite3 unbound ssh sshd curl jq; do command -v "$p" >/dev/null || out+=("$p"); done
  schema >/dev/null || out+=(pdns-backend-sqlite3)
  echo "${out[*]}"
}

deps() {
  local absent made=''
  absent=$(missing)
  [[ -n $absent ]] || return 0
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    die "missing: $absent. Run: sudo apt-get install --no-install-recommends ${PACKAGES[*]}"
  fi
  if [[ ! -e /usr/sbin/policy-rc.d ]]; then # packages must not start their own daemons
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod 755 /usr/sbin/policy-rc.d
    made=1
  fi
  local rc=0
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      "${PACKAGES[@]}" >/dev/null; } || rc=$?
  [[ -z $made ]] || rm -f /usr/sbin/policy-rc.d
  ((rc == 0)) || die "apt-get failed. Run: sudo apt-get install --no-install-recommends ${PACKAGES[*]}"
  absent=$(missing)
  [[ -z $absent ]] || die "still missing after the installation: $absent"
}

port_free() { # no TCP listener and no UDP socket on the port, on any address
  local hex; printf -v hex '%04X' "$1"
  ! grep -qhiE "^ *[0-9]+: [0-9A-F]+:$hex [0-9A-F]+:[0-9A-F]+ (0A|07)" /proc/net/tcp /proc/net/udp /proc/net/tcp6 /proc/net/udp6 2>/dev/null
}

pick_base() { # below the ports given to clients; from the pid, so that two fixtures starting at once differ
  local i b p
  for ((i = 0; i < 1200; i++)); do
    b=$((20000 + ($$ + i) % 1200 * 10))
    for p in 0 1 2 3 4 5 6; do port_free $((b + p)) || continue 2; done
    echo "$b"; return
  done
  die "no free block of ports"
}

schema() { # comes with the Debian package
  local s
  for s in /usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql /usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql; do
    if [[ -r $s ]]; then echo "$s"; return; fi
  done
  return 1
}

new_db() {
  local s
  s=$(schema) || die "pdns-backend-sqlite3's schema is not here (run: dns-fixture.sh deps)"
  sqlite3 -bail "$1" <"$s"
}

write_pdns_conf() { # dir addr port apiport
  (umask 077; : >"$1/pdns.conf") # it holds the API key
  cat >"$1/pdns.conf" <<C
launch=gsqlite3
gsqlite3-database=$1/pdns.sqlite3
gsqlite3-pragma-synchronous=0
gsqlite3-dnssec=yes
local-address=$2
local-port=$3
api=yes
api-key=$API_KEY
webserver=yes
webserver-address=$2
webserver-port=$4
webserver-allow-from=127.0.0.0/8
webserver-loglevel=normal
dnsupdate=yes
allow-dnsupdate-from=
allow-axfr-ips=127.0.0.0/8
socket-dir=$1/run
config-dir=$1
primary=yes
guardian=no
daemon=no
disable-syslog=yes
write-pid=yes
loglevel=6
log-dns-queries=no
log-dns-details=yes
security-poll-suffix=
version-string=powerdns
default-soa-content=ns1.fixture. hostmaster.@ 0 10800 3600 604800 60
C
  [[ -z ${PDNS_EXTRA:-} ]] || printf '%s\n' "$PDNS_EXTRA" >>"$1/pdns.conf"
}

wait_for() { # pidfile-less wait: command, pid, log, seconds
  local end=$(( $(now_ms) + $4 * 1000 ))
  until eval "$1" >/dev/null 2>&1; do
    kill -0 "$2" 2>/dev/null || { tail -20 "$3" >&2; die "process $2 exited while starting"; }
    (( $(now_ms) < end )) || { tail -20 "$3" >&2; die "not ready after $4 s: $1"; }
    sleep 0.02
  done
}

api_answers() { # addr port: whatever it says; a server that does not admit us ends the connection
  local rc=0
  curl -s -m 2 -o /dev/null "http://$1:$2/api/v1/servers" || rc=$?
  [[ $rc == 0 || $rc == 52 || $rc == 56 ]]
}

dns_answers() { # addr port: a question for the root's SOA over TCP has an answer, whatever it says
  local answer
  exec 9<>"/dev/tcp/$1/$2" || return 1
  printf '\0\021\022\064\0\0\0\1\0\0\0\0\0\0\0\0\6\0\1' >&9
  answer=$(timeout 2 head -c 4 <&9 | od -An -tx1 | tr -d ' \n')
  exec 9>&- 9<&-
  [[ $answer == *1234 ]]
}

start_pdns() { # dir addr port apiport
  mkdir -p "$1/run"
  [[ -f $1/pdns.sqlite3 ]] || new_db "$1/pdns.sqlite3"
  write_pdns_conf "$@"
  setsid "$PDNS_BIN" --config-dir="$1" >>"$1/pdns.log" 2>&1 </dev/null &
  echo $! >"$1/pdns.pid"
  # A port that takes a connection says little: another socket of the server before, the queue of a thread that is not there.
  wait_for "api_answers '$2' '$4'" "$(cat "$1/pdns.pid")" "$1/pdns.log" 20
  wait_for "dns_answers '$2' '$3'" "$(cat "$1/pdns.pid")" "$1/pdns.log" 20
}

has() { [[ " $FLAGS " == *" $1 "* ]]; }

write_unbound_conf() {
  local z kind=forward-zone key=forward-addr
  has stub && { kind=stub-zone; key=stub-addr; }
  {
    cat <<C
server:
  directory: "$DIR/unbound"
  chroot: ""
  username: ""
  pidfile: "$DIR/unbound/unbound.pid.own"
  use-syslog: no
  logfile: "$DIR/unbound/unbound.log"
  log-time-ascii: yes
  verbosity: ${UNBOUND_VERBOSITY:-1}
  log-servfail: yes
  log-queries: no
  num-threads: 1
  do-daemonize: no
  interface: $RESOLVER_ADDR
  port: $RESOLVER_PORT
  access-control: 127.0.0.0/8 allow
  do-not-query-localhost: no
  do-ip6: no
  outgoing-interface: $ADDR
  prefetch: no
  extended-statistics: yes
  root-hints: ""
  harden-below-nxdomain: yes
C
    has no-private-address || printf '  private-address: %s\n' 0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 fc00::/8 fd00::/8 fe80::/10
    if has validate; then
      echo '  module-config: "validator iterator"'
      grep -h 'trust-anchor' "$DIR/parent/anchor.conf"
    else
      echo '  module-config: "iterator"'
    fi
    for z in $FWD_ZONES $REV_ZONES; do
      has no-insecure || echo "  domain-insecure: \"$z\""
      case $z in
        *.arpa) has no-nodefault || echo "  local-zone: \"$z\" typetransparent" ;;
        *) has no-private-domain || echo "  private-domain: \"$z\"" ;;
      esac
    done
    has serve-expired && printf '  serve-expired: yes\n  serve-expired-ttl: 86400\n  serve-expired-reply-ttl: 30\n  serve-expired-client-timeout: %s\n' "${SERVE_EXPIRED_CLIENT_TIMEOUT:-0}"
    has reply-ede && echo '  ede: yes'
    [[ -z ${UNBOUND_EXTRA:-} ]] || printf '%s\n' "$UNBOUND_EXTRA"
    cat <<C
remote-control:
  control-enable: yes
  control-interface: 127.0.0.1
  control-port: $CONTROL_PORT
  control-use-cert: no
C
    for z in $FWD_ZONES $REV_ZONES; do
      printf '%s:\n  name: "%s"\n  %s: %s@%s\n' "$kind" "$z" "$key" "$ADDR" "$AUTH_PORT"
      if ! has stub; then
        has forward-first && echo '  forward-first: yes'
        has tcp-upstream && echo '  forward-tcp-upstream: yes'
      fi
      true
    done
    if [[ -d $DIR/parent ]]; then
      printf 'stub-zone:\n  name: "%s"\n  stub-addr: %s@%s\n' "$PARENT_ZONE" "$ADDR" "$PARENT_PORT"
    fi
    # nothing may leave loopback: everything else is answered by a dead end
    printf 'forward-zone:\n  name: "."\n  forward-addr: 127.0.0.1@9\n'
  } >"$DIR/unbound/unbound.conf"
}

start_unbound() {
  mkdir -p "$DIR/unbound"
  write_unbound_conf
  : >>"$DIR/unbound/unbound.log"
  setsid "$UNBOUND_BIN" -d -c "$DIR/unbound/unbound.conf" >"$DIR/unbound/stderr.log" 2>&1 </dev/null &
  echo $! >"$DIR/unbound/unbound.pid"
  wait_for "exec 9<>/dev/tcp/$RESOLVER_ADDR/$RESOLVER_PORT && exec 9>&-" "$(cat "$DIR/unbound/unbound.pid")" "$DIR/unbound/stderr.log" 10
}

alive() { # a zombie nobody has reaped yet is as good as gone, once its other threads are: they keep its sockets
  local st threads
  st=$(cut -d')' -f2- "/proc/$1/stat" 2>/dev/null) || return 1
  [[ -n $st ]] || return 1
  [[ $st == " Z"* ]] || return 0
  threads=("/proc/$1/task/"*)
  ((${#threads[@]} > 1))
}

ours() { # only a process whose command line names our directory is ours
  [[ -r /proc/$1/cmdline ]] && tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -qF -- "$DIR"
}

stop_pids() { # pidfiles: ask all, then wait for all
  local f pid i
  for f in "$@"; do
    [[ -r $f ]] || continue
    pid=$(cat "$f")
    if alive "$pid" && ours "$pid"; then kill "$pid" 2>/dev/null || true; else rm -f "$f"; fi
  done
  for f in "$@"; do
    [[ -r $f ]] || continue
    pid=$(cat "$f")
    for ((i = 0; i < 250; i++)); do alive "$pid" || break; sleep 0.02; done
    if alive "$pid" && ours "$pid"; then kill -9 "$pid" 2>/dev/null || true; fi
    rm -f "$f"
  done
}

start_sshd() {
  local d=$DIR/ssh user
  [[ -n $(command -v sshd) ]] || die "sshd is missing (run: dns-fixture.sh deps)"
  port_free "$SSH_PORT" || die "port $SSH_PORT is taken"
  # As root sshd wants this directory, which its service makes.
  [[ $(id -u) != 0 || -d /run/sshd ]] || mkdir -m 755 /run/sshd
  user=$(id -un)
  mkdir -m 700 "$d"
  ssh-keygen -q -t ed25519 -N '' -f "$d/host" && ssh-keygen -q -t ed25519 -N '' -f "$d/user"
  cp "$d/user.pub" "$d/authorized"
  printf '[%s]:%s %s\n' "$ADDR" "$SSH_PORT" "$(cut -d' ' -f1,2 "$d/host.pub")" >"$d/known_hosts"
  cat >"$d/sshd_config" <<C
ListenAddress $ADDR
Port $SSH_PORT
HostKey $d/host
AuthorizedKeysFile $d/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
AllowTcpForwarding $1
PidFile none
C
  cat >"$d/config" <<C
Host tunnel
  HostName $ADDR
  Port $SSH_PORT
  User $user
  IdentityFile $d/user
  IdentitiesOnly yes
  UserKnownHostsFile $d/known_hosts
  GlobalKnownHostsFile /dev/null
C
  setsid "$(command -v sshd)" -D -e -f "$d/sshd_config" >"$d/sshd.log" 2>&1 </dev/null &
  echo $! >"$d/sshd.pid"
  wait_for "exec 9<>/dev/tcp/$ADDR/$SSH_PORT && exec 9>&-" "$(cat "$d/sshd.pid")" "$d/sshd.log" 10
  printf 'SSH_CONFIG=%q\n' "$d/config" | tee -a "$DIR/env"
}

load_env() {
  [[ -n $DIR ]] || die "--dir is needed"
  [[ -r $DIR/env ]] || die "no fixture in $DIR"
  # shellcheck disable=SC1091
  . "$DIR/env"
}

api() { # method path [json]
  curl -sS --fail-with-body -m 20 -X "$1" -H @<(printf 'X-API-Key: %s\n' "$API_KEY") -H 'Content-Type: application/json' \
    ${3:+--data-binary "$3"} "$API_URL$2"
}

cmd=${1:-}; [[ -n $cmd ]] || { sed -n '2,/^set -/p' "$0" | grep '^#'; exit 2; }
shift
DIR='' ADDR=127.0.0.1 RESOLVER_ADDR='' BASE=auto API_KEY=fixture-key PARENT=0 KEEP=0 RESOLVER=1 FORWARDING=yes
PDNS_BIN=${PDNS_BIN:-$(command -v pdns_server || true)} UNBOUND_BIN=${UNBOUND_BIN:-$(command -v unbound || true)}
FLAGS=${FIXTURE_FLAGS:-} REST=()
while (($#)); do
  case $1 in
    --dir) DIR=$2; shift 2 ;;
    --addr) ADDR=$2; shift 2 ;;
    --resolver-addr) RESOLVER_ADDR=$2; shift 2 ;;
    --port-base) BASE=$2; shift 2 ;;
    --api-key) API_KEY=$2; shift 2 ;;
    --parent) PARENT=1; shift ;;
    --no-resolver) RESOLVER=0; shift ;;
    --no-forwarding) FORWARDING=no; shift ;;
    --keep) KEEP=1; shift ;;
    --pdns-bin) PDNS_BIN=$2; shift 2 ;;
    --unbound-bin) UNBOUND_BIN=$2; shift 2 ;;
    --*) die "unknown option $1" ;;
    *) REST+=("$1"); shift ;;
  esac
done

case $cmd in
  deps) deps ;;
  ready)
    absent=$(missing)
    [[ -z $absent ]] || die "missing: $absent. Run: sudo apt-get install --no-install-recommends ${PACKAGES[*]}"
    ;;
  up)
    t0=$(now_ms)
    [[ -x ${PDNS_BIN:-} ]] || die "pdns_server is missing (run: dns-fixture.sh deps)"
    [[ $RESOLVER = 0 || -x ${UNBOUND_BIN:-} ]] || die "unbound is missing (run: dns-fixture.sh deps)"
    [[ -n $DIR ]] || DIR=$(mktemp -d "${TMPDIR:-/tmp}/dns-fixture.XXXXXX")
    mkdir -p "$DIR"; DIR=$(cd "$DIR" && pwd)
    [[ -z $(ls -A "$DIR") ]] || die "$DIR is not empty"
    RESOLVER_ADDR=${RESOLVER_ADDR:-$ADDR}
    [[ $BASE != auto ]] || BASE=$(pick_base)
    AUTH_PORT=$BASE API_PORT=$((BASE + 1)) RESOLVER_PORT=$((BASE + 2)) CONTROL_PORT=$((BASE + 3)) PARENT_PORT=$((BASE + 4)) PARENT_API_PORT=$((BASE + 5)) SSH_PORT=$((BASE + 6))
    API_URL=http://$ADDR:$API_PORT/api/v1/servers/localhost
    PARENT_API_URL=http://$ADDR:$PARENT_API_PORT/api/v1/servers/localhost
    for p in "$AUTH_PORT" "$API_PORT" "$RESOLVER_PORT" "$CONTROL_PORT"; do port_free "$p" || die "port $p is taken"; done
    trap 'rc=$?; ((rc == 0)) || { stop_pids "$DIR/unbound/unbound.pid" "$DIR/auth/pdns.pid" "$DIR/parent/pdns.pid"; }; exit $rc' EXIT
    mkdir -p "$DIR/auth"
    start_pdns "$DIR/auth" "$ADDR" "$AUTH_PORT" "$API_PORT"
    t1=$(now_ms)
    if ((PARENT)); then
      mkdir -p "$DIR/parent"
      start_pdns "$DIR/parent" "$ADDR" "$PARENT_PORT" "$PARENT_API_PORT"
      API_URL_SAVE=$API_URL; API_URL=$PARENT_API_URL
      api POST /zones "{\"name\":\"$PARENT_ZONE.\",\"kind\":\"Native\",\"nameservers\":[\"ns1.$PARENT_ZONE.\"],\"dnssec\":true,\"rrsets\":[{\"name\":\"ns1.$PARENT_ZONE.\",\"type\":\"A\",\"ttl\":60,\"records\":[{\"content\":\"$ADDR\"}]}]}" >/dev/null
      api PUT "/zones/$PARENT_ZONE./rectify" >/dev/null
      api GET "/zones/$PARENT_ZONE./cryptokeys" | jq -r --arg z "$PARENT_ZONE." '.[]|select(.keytype=="csk" or .keytype=="ksk")|"  trust-anchor: \""+$z+" 3600 IN DNSKEY "+.dnskey+"\""' >"$DIR/parent/anchor.conf"
      API_URL=$API_URL_SAVE
    fi
    ((RESOLVER == 0)) || start_unbound
    t2=$(now_ms)
    {
      for v in DIR ADDR RESOLVER_ADDR AUTH_PORT API_PORT RESOLVER_PORT CONTROL_PORT PARENT_PORT PARENT_API_PORT SSH_PORT API_URL PARENT_API_URL API_KEY PDNS_BIN UNBOUND_BIN; do
        printf '%s=%q\n' "$v" "${!v}"
      done
      printf 'FWD_ZONES=%q\nREV_ZONES=%q\nPARENT_ZONE=%q\n' "$FWD_ZONES" "$REV_ZONES" "$PARENT_ZONE"
    } >"$DIR/env"
    cat "$DIR/env"
    echo "# pdns ready after $((t1 - t0)) ms, everything after $((t2 - t0)) ms"
    ;;
  seed)
    load_env
    ((${#REST[@]} == 3)) || die "seed NAME FORWARD REVERSE"
    key=${REST[0]} fwd=${REST[1]%.}. rev=${REST[2]%.}.
    secret=$(api POST /tsigkeys "{\"name\":\"$key\",\"algorithm\":\"hmac-sha256\"}" | jq -r .key)
    for z in "$fwd" "$rev"; do
      api POST /zones "{\"name\":\"$z\",\"kind\":\"Native\",\"nameservers\":[\"ns1.$fwd\"],\"soa_edit_api\":\"INCREASE\"}" >/dev/null
      api POST "/zones/$z/metadata" '{"kind":"TSIG-ALLOW-DNSUPDATE","metadata":["'"$key"'"]}' >/dev/null
      api POST "/zones/$z/metadata" '{"kind":"ALLOW-DNSUPDATE-FROM","metadata":["127.0.0.0/8"]}' >/dev/null
      api POST "/zones/$z/metadata" '{"kind":"SOA-EDIT-DNSUPDATE","metadata":["INCREASE"]}' >/dev/null
    done
    umask 077
    printf 'key "%s" {\n\talgorithm hmac-sha256;\n\tsecret "%s";\n};\n' "$key" "$secret" >"$DIR/$key.key"
    echo "$DIR/$key.key"
    ;;
  stop)
    load_env
    stop_pids "$DIR/auth/pdns.pid"
    ;;
  start)
    load_env
    [[ ! -r $DIR/auth/pdns.pid ]] || die "the server is running; stop it first"
    start_pdns "$DIR/auth" "$ADDR" "$AUTH_PORT" "$API_PORT"
    ;;
  ssh-up)
    load_env
    start_sshd "$FORWARDING"
    ;;
  ssh-down)
    load_env
    stop_pids "$DIR/ssh/sshd.pid"
    ;;
  reload-unbound)
    load_env
    FLAGS="${REST[*]:-}"
    [[ -z ${FORWARDS+set} ]] || { FWD_ZONES=$FORWARDS; REV_ZONES=; }
    stop_pids "$DIR/unbound/unbound.pid"
    start_unbound
    ;;
  status)
    load_env
    for f in auth/pdns.pid parent/pdns.pid unbound/unbound.pid ssh/sshd.pid; do
      [[ -r $DIR/$f ]] || continue
      if alive "$(cat "$DIR/$f")"; then echo "$f $(cat "$DIR/$f") up"; else echo "$f $(cat "$DIR/$f") DEAD"; fi
    done
    ;;
  down)
    load_env
    stop_pids "$DIR/ssh/sshd.pid" "$DIR/unbound/unbound.pid" "$DIR/parent/pdns.pid" "$DIR/auth/pdns.pid"
    ((KEEP)) || rm -rf -- "$DIR"
    ;;
  *) die "unknown command $cmd" ;;
esac
