#!/bin/sh
# deevnet-exit-node: what deevnet-console runs on an exit node. POSIX sh, version in VERSION below.
#
#   deevnet-exit-node version
#   deevnet-exit-node read [LOOKUP|flows/PREFIX...|-]
#                                            one reading of the whole node, as one frame on stdout
#   deevnet-exit-node probe dns VRF SERVER NAME TYPE | -
#                                            DNS questions asked from inside a VRF, as one frame on stdout
#   deevnet-exit-node probe path KIND VRF SOURCE DESTINATION ARGUMENT | -
#                                            packets sent along a path, or flows listed, as one frame on stdout
#   deevnet-exit-node probe show WHAT | -    what a reading leaves out, as one frame on stdout
#
# LOOKUP is NAME/DESTINATION/SOURCE/INTERFACE, "-" for a source or interface that is not given; flows/PREFIX counts the
# connections tracked from PREFIX and lists some; "-" alone takes one of these a line from stdin. Reading changes nothing on the node but a temporary directory, removed at the end.
# A probe sends packets and changes nothing either; "-" takes one question a line from stdin. KIND is ping, mtu
# (ARGUMENT: bytes of payload, not to be fragmented), tcp or http (ARGUMENT: a port), flows (connections tracked from
# the prefix DESTINATION), arp (ARGUMENT: an interface). "-" for VRF is the main table, "-" for SOURCE the kernel's
# choice, "-" for no ARGUMENT. WHAT is vnis (as FRR has bound them), running (FRR's configuration in force), saved
# (frr.conf.sav).
# Runs installed (through sudo) or from the stdin of "sh -s". docs/exit-node-access.md says what each part needs.
#
# Exit: 0 a frame was written, 1 it could not be, 2 the arguments were refused.

VERSION=3
INSTALLED=/usr/local/sbin/deevnet-exit-node
MAX_LOOKUPS=8192
MAX_QUESTIONS=32
MAX_FLOWS=8
# A run takes a minute at most: a directory that nobody has touched for so many minutes is left over.
STALE=60

say() { printf 'deevnet-exit-node: %s\n' "$1" >&2; }
refuse() { say "refused: $1"; exit 2; }

# Nothing below is ever evaluated: words are compared with patterns, then passed on as single arguments.
is_name() { # label of a lookup
  case $1 in '' | *[!A-Za-z0-9._-]* | [.-]*) return 1 ;; esac
  [ "${#1}" -le 64 ]
}
is_interface() {
  case $1 in '' | *[!A-Za-z0-9._-]* | [.-]*) return 1 ;; esac
  [ "${#1}" -le 15 ]
}
is_ipv4() {
  case $1 in '' | *[!0-9.]* | .* | *. | *..* | *.*.*.*.*) return 1 ;; *.*.*.*) ;; *) return 1 ;; esac
  [ "${#1}" -le 15 ] || return 1
  rest=$1.
  while [ -n "$rest" ]; do
    octet=${rest%%.*}
    rest=${rest#*.}
    [ "${#octet}" -le 3 ] && [ "$octet" -le 255 ] || return 1
  done
}

is_dns_name() { # absolute, with or without its last dot; nothing dig could take for an option
  case $1 in '' | *[!A-Za-z0-9._/-]* | [./+-]* | *..*) return 1 ;; esac
  [ "${#1}" -le 253 ]
}
is_dns_type() {
  case $1 in '' | *[!A-Z0-9]* | [0-9]* | ANY | AXFR | IXFR) return 1 ;; esac
  [ "${#1}" -le 10 ]
}

is_number() { # is_number WORD LEAST MOST
  case $1 in '' | *[!0-9]* | 0?*) return 1 ;; esac
  [ "${#1}" -le 5 ] && [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}
is_prefix() {
  case $1 in */*/*) return 1 ;; */*) ;; *) return 1 ;; esac
  is_ipv4 "${1%/*}" && is_number "${1#*/}" 8 32
}

add_lookup() { # add_lookup NAME/DST/SRC/IIF: checks it and appends a line to the batch for ip
  case $1 in */*/*/*/*) refuse "a lookup has more than four fields" ;; */*/*/*) ;; *) refuse "a lookup needs four fields" ;; esac
  [ "${#1}" -le 128 ] || refuse "a lookup is longer than 128 characters"
  name=${1%%/*} tail=${1#*/}
  dst=${tail%%/*} tail=${tail#*/}
  src=${tail%%/*} iif=${tail#*/}
  is_name "$name" || refuse "a lookup's name may hold A-Z a-z 0-9 . _ - only, at most 64"
  is_ipv4 "$dst" || refuse "a lookup's destination is not an IPv4 address"
  line="route get $dst"
  if [ "$src" != - ]; then
    is_ipv4 "$src" || refuse "a lookup's source is not an IPv4 address"
    line="$line from $src"
  fi
  if [ "$iif" != - ]; then
    is_interface "$iif" || refuse "a lookup's interface is not an interface name"
    line="$line iif $iif"
  fi
  lookups=$((lookups + 1))
  [ "$lookups" -le "$MAX_LOOKUPS" ] || refuse "more than $MAX_LOOKUPS lookups"
  printf '%s\n' "$line" >>"$dir/batch"
  printf '%s\n' "$1" >>"$dir/lookups"
}

add_flows() { # add_flows PREFIX
  is_prefix "$1" || refuse "flows are listed of an IPv4 prefix"
  flows=$((flows + 1))
  [ "$flows" -le "$MAX_FLOWS" ] || refuse "flows of more than $MAX_FLOWS prefixes"
  printf '%s\n' "$1" >>"$dir/flows"
  printf 'flows/%s\n' "$1" >>"$dir/lookups"
}
add_wish() {
  case $1 in flows/*) add_flows "${1#flows/}" ;; *) add_lookup "$1" ;; esac
}

# record NAME RC TEXT: a part that was not run. RC "denied" or "missing" stands for an exit code.
record() {
  : >"$dir/$1.o"
  printf '%s\n' "$3" >"$dir/$1.e"
  printf '%s\n' "$2" >"$dir/$1.r"
}
# run NAME SECONDS COMMAND...: one part, what it prints through the function called in filter, if any. Callers put slow
# ones in the background.
run() {
  part=$1 seconds=$2
  shift 2
  if ! command -v "$1" >/dev/null 2>&1; then
    record "$part" missing "$1: not found"
    return
  fi
  if [ -n "$filter" ]; then ended "$@" | "$filter" >"$dir/$part.o"; else ended "$@" >"$dir/$part.o"; fi
}
# ended COMMAND...: keeps what the command of run says and how it ends.
ended() {
  code=0
  timeout -k 1 "$seconds" "$@" 2>"$dir/$part.e" </dev/null || code=$?
  printf '%s\n' "$code" >"$dir/$part.r"
}
# run_root NAME SECONDS COMMAND...: the same for what only root may do.
run_root() {
  if [ "$euid" = 0 ]; then
    run "$@"
  elif ! command -v "$3" >/dev/null 2>&1; then
    record "$1" missing "$3: not found"
  elif [ "$can_sudo" = 1 ]; then
    part=$1 seconds=$2 tool=$(command -v "$3")
    shift 3
    run "$part" "$seconds" sudo -n "$tool" "$@"
  else
    record "$1" denied "$sudo_said"
  fi
}
# read_file NAME FILE: as whoever may.
read_file() {
  if [ -r "$2" ]; then
    run "$1" 3 cat "$2"
  elif [ -x "${2%/*}" ] && [ ! -e "$2" ]; then
    record "$1" missing "$2: No such file or directory"
  else
    run_root "$1" 3 cat "$2"
  fi
}

# Temporary files must not depend on one file system: a full disk is among the faults to be read.
make_dir() {
  for place in /tmp /dev/shm /run; do
    dir=$(mktemp -d "$place/deevnet-exit-node.XXXXXXXX" 2>/dev/null) && break
  done
  [ -n "$dir" ] || { say "no temporary directory could be made in /tmp, /dev/shm or /run"; exit 1; }
  # Twice: a part that is being ended may leave a last file.
  trap 'rm -rf "$dir" 2>/dev/null || rm -rf "$dir"' EXIT
  trap 'exit 1' HUP INT TERM PIPE
  sweep >/dev/null 2>&1 </dev/null &
}
# What a run that was killed left behind: directories of ours by exact form of name, owned by who runs this, old. No link
# is followed, and in these places nobody else can put another directory under the name of ours.
sweep() {
  for place in /tmp /dev/shm /run; do
    if [ ! -d "$place" ] || [ -L "$place" ]; then continue; fi
    timeout -k 1 3 find "$place" -xdev -mindepth 1 -maxdepth 1 -type d -user "$(id -u)" -mmin "+$STALE" \
      -name 'deevnet-exit-node.????????' -exec rm -rf -- {} +
  done
}

# elevate FILE SUBCOMMAND...: runs the installed helper as root with FILE on stdin; its frame becomes ours. One attempt,
# since sudo logs each refusal.
elevate() {
  [ -x "$INSTALLED" ] || return 1
  command -v sudo >/dev/null 2>&1 || return 1
  stdin=$1
  shift
  # shellcheck disable=SC2024 # the files are ours, not root's
  timeout -k 1 25 sudo -n "$INSTALLED" "$@" - <"$stdin" >"$dir/frame" 2>"$dir/sudo"
  magic=
  while read -r magic form version rest && [ "$magic" != %deevnet-exit-node ]; do :; done <"$dir/frame"
  if [ "$magic" = %deevnet-exit-node ] && [ "$form" = 1 ] && [ "$version" = "$VERSION" ]; then
    cat "$dir/frame"
    return 0
  fi
  sudo_said="$INSTALLED is another version than $VERSION: install the current one"
  # An older one may refuse what this one asks, and then writes no frame.
  if [ "$magic" != %deevnet-exit-node ] && ! grep -q '^deevnet-exit-node: refused' "$dir/sudo"; then
    IFS= read -r sudo_said <"$dir/sudo"
  fi
  return 1
}
# Whether sudo allows anything at all; asked once.
ask_sudo() {
  can_sudo=0
  if ! command -v sudo >/dev/null 2>&1; then
    sudo_said="needs root: sudo is not installed"
  elif [ -z "$sudo_said" ]; then
    if timeout -k 1 5 sudo -n -l >/dev/null 2>"$dir/sudo" </dev/null; then can_sudo=1; else IFS= read -r sudo_said <"$dir/sudo"; fi
  fi
  [ -n "$sudo_said" ] || sudo_said="needs root, and sudo refused"
}

read_firewall() {
  if command -v iptables-nft-save >/dev/null 2>&1; then run_root nft 5 iptables-nft-save -c; else run_root nft 5 iptables-save -c; fi
  # Per-guest firewall chains can be megabytes: nat whole, of filter the FORWARD chain alone.
  sed -n -E '/^#/p; /^\*nat/,/^COMMIT/p; /^\*filter/,/^COMMIT/{/^(\*|COMMIT|:FORWARD )/p; /^(\[[0-9:]*\] )?-A FORWARD /p;}' \
    "$dir/nft.o" >"$dir/nft.s" && mv "$dir/nft.s" "$dir/nft.o"
}
read_legacy() { # asked only when its module is loaded: the tool would load it
  names=/proc/net/ip_tables_names
  if [ ! -e "$names" ] || { [ -r "$names" ] && ! read -r _ <"$names"; }; then
    record legacy 0 ""
  else
    run_root legacy 5 iptables-legacy-save -c
  fi
}
read_vtysh() { # its configuration can be read by the group that may use it
  if [ "$euid" != 0 ] && [ -r /etc/frr/vtysh.conf ]; then
    run vtysh 8 vtysh -c 'show version'
  else
    run_root vtysh 8 vtysh -c 'show version'
  fi
}
read_proc() {
  run proc 5 grep -sH '' /proc/sys/net/ipv4/conf/*/forwarding /proc/sys/net/ipv4/conf/*/rp_filter \
    /proc/sys/net/netfilter/nf_conntrack_count /proc/sys/net/netfilter/nf_conntrack_max \
    /proc/sys/net/netfilter/nf_conntrack_acct /proc/net/snmp /proc/net/netstat /proc/net/stat/nf_conntrack \
    /proc/sys/kernel/hostname /proc/sys/kernel/osrelease
}
read_sdn() { # the first line alone
  file=/etc/network/interfaces.d/sdn
  line=
  if [ ! -e "$file" ]; then
    record sdn missing "$file: No such file or directory"
  elif [ ! -r "$file" ]; then
    record sdn denied "$file: Permission denied"
  else
    IFS= read -r line <"$file"
    record sdn 0 ""
    printf '%s\n' "$line" >"$dir/sdn.o"
  fi
}

# The frame: a header that says how long each part is, then the parts.
#   %deevnet-exit-node 1 VERSION / NAME CODE OUT-BYTES ERR-BYTES ... / empty line / bytes / %end
emit() { # emit PARTS
  parts=$1
  files=
  for part in $parts; do
    [ -e "$dir/$part.r" ] || record "$part" 1 "it left no result"
    files="$files $dir/$part.o $dir/$part.e"
  done
  # shellcheck disable=SC2086 # a list of file names without blanks
  sizes=$(wc -c $files | while read -r size _; do printf '%s ' "$size"; done)
  # shellcheck disable=SC2086
  set -- $sizes
  printf '\n%%deevnet-exit-node 1 %s\n' "$VERSION"
  for part in $parts; do
    read -r code <"$dir/$part.r"
    printf '%s %s %s %s\n' "$part" "$code" "$1" "$2"
    shift 2
  done
  printf '\n'
  # shellcheck disable=SC2086
  cat $files && printf '%%end\n'
}

# Busy tenants have a million connections, and a temporary directory may be memory: they are counted as they come.
count_flows() { # how many of all, then some
  awk 'NR <= 200 { line[NR] = $0 }
    /UNREPLIED/ { unreplied++ }
    END { print "total " NR; print "unreplied " unreplied + 0; for (n = 1; n in line; n++) print line[n] }'
}
newest_flows() { awk 'NR <= 4000'; }
read_flows() { # read_flows PART PREFIX
  filter=count_flows
  run_root "$1" 5 conntrack -L -s "$2"
}

read_node() {
  began=$(date +%s.%N)
  read_vtysh &
  read_firewall &
  read_legacy &
  run unit 5 systemctl is-active frr &
  read_file frr-conf /etc/frr/frr.conf &
  read_file frr-local /etc/frr/frr.conf.local &
  run tables 3 grep -sh '^[0-9]' /etc/iproute2/rt_tables /etc/iproute2/rt_tables.d/*.conf /usr/share/iproute2/rt_tables &
  run ip 10 ip -j -d -s -force -batch "$dir/batch" &
  parts="meta ip tables proc unit vtysh frr-conf frr-local nft legacy sdn" number=0
  while read -r prefix; do
    read_flows "flows$number" "$prefix" &
    parts="$parts flows$number"
    number=$((number + 1))
  done <"$dir/flows"
  read_proc
  read_sdn
  wait
  record meta 0 ""
  printf 'began %s\nuser %s\neuid %s\nlookups %s\nsudo %s\n' "$began" "$user" "$euid" "$lookups" "$can_sudo" >"$dir/meta.o"
  emit "$parts"
}

read_command() {
  dir='' lookups=0 flows=0 can_sudo=0 sudo_said=''
  make_dir
  : >"$dir/lookups"
  : >"$dir/flows"
  printf '%s\n' 'addr show' 'rule show' 'route show table all root 0.0.0.0/0' 'neigh show' >"$dir/batch"
  for arg in "$@"; do
    if [ "$arg" = - ]; then
      while IFS= read -r arg; do add_wish "$arg"; done
    else
      add_wish "$arg"
    fi
  done
  euid=$(id -u)
  user=${SUDO_USER:-$(id -un)}
  if [ "$euid" != 0 ]; then
    elevate "$dir/lookups" read && return 0
    ask_sudo
  fi
  read_node
}

add_question() { # add_question VRF SERVER NAME TYPE
  [ "$#" = 4 ] || refuse "a question needs four words: VRF SERVER NAME TYPE"
  is_interface "$1" || refuse "a question's VRF is not an interface name"
  is_ipv4 "$2" || refuse "a question's server is not an IPv4 address"
  is_dns_name "$3" || refuse "a question's name may hold A-Z a-z 0-9 . _ / - only, at most 253"
  is_dns_type "$4" || refuse "a question's type is not a record type"
  questions=$((questions + 1))
  [ "$questions" -le "$MAX_QUESTIONS" ] || refuse "more than $MAX_QUESTIONS questions"
  printf '%s %s %s %s\n' "$1" "$2" "$3" "$4" >>"$dir/questions"
}
# ask_dns PART VRF SERVER NAME TYPE: two tries of 2 s. A chain of commands, one right: to enter the VRF.
ask_dns() {
  if ! command -v dig >/dev/null 2>&1; then
    record "$1" missing "dig: not found"
  elif [ ! -e "/proc/sys/net/ipv4/conf/$2" ]; then
    record "$1" missing "$2: no such VRF on this node"
  else
    run_root "$1" 8 ip vrf exec "$2" dig -r +tries=2 +time=2 +nocookie +bufsize=1232 "@$3" -q "$4." -t "$5" -c IN
  fi
}
probe_dns() {
  dir='' questions=0 can_sudo=0 sudo_said=''
  make_dir
  : >"$dir/questions"
  if [ "$#" = 1 ] && [ "$1" = - ]; then
    # A fifth word and what follows it end up in rest, and refuse the question.
    while read -r vrf server name type rest; do add_question "$vrf" "$server" "$name" "$type" ${rest:+"$rest"}; done
  else
    add_question "$@"
  fi
  euid=$(id -u)
  if [ "$euid" != 0 ]; then
    elevate "$dir/questions" probe dns && return 0
    ask_sudo
  fi
  began=$(date +%s.%N)
  parts=meta question=0
  while read -r vrf server name type; do
    ask_dns "q$question" "$vrf" "$server" "${name%.}" "$type" &
    parts="$parts q$question"
    question=$((question + 1))
  done <"$dir/questions"
  wait
  record meta 0 ""
  printf 'began %s\neuid %s\nquestions %s\n' "$began" "$euid" "$questions" >"$dir/meta.o"
  emit "$parts"
}

add_path() { # add_path KIND VRF SOURCE DESTINATION ARGUMENT
  [ "$#" = 5 ] || refuse "a path needs five words: KIND VRF SOURCE DESTINATION ARGUMENT"
  [ "$2" = - ] || is_interface "$2" || refuse "a path's VRF is not an interface name"
  [ "$3" = - ] || is_ipv4 "$3" || refuse "a path's source is not an IPv4 address"
  case $1 in
    flows) is_prefix "$4" || refuse "flows are listed of an IPv4 prefix" ;;
    *) is_ipv4 "$4" || refuse "a path's destination is not an IPv4 address" ;;
  esac
  case $1 in
    ping | flows) [ "$5" = - ] || refuse "$1 takes no argument" ;;
    arp) is_interface "$5" || refuse "arp takes an interface name" ;;
    mtu) is_number "$5" 28 65000 || refuse "mtu takes 28 to 65000 bytes" ;;
    tcp | http) is_number "$5" 1 65535 || refuse "$1 takes a port" ;;
    *) refuse "a path's kind is none of ping, mtu, tcp, http, flows, arp" ;;
  esac
  questions=$((questions + 1))
  [ "$questions" -le "$MAX_QUESTIONS" ] || refuse "more than $MAX_QUESTIONS questions"
  printf '%s %s %s %s %s\n' "$1" "$2" "$3" "$4" "$5" >>"$dir/questions"
}
# in_vrf PART PROGRAM VRF COMMAND...: from inside the VRF, or from the main table.
in_vrf() {
  part=$1 program=$2 vrf=$3
  shift 3
  if ! command -v "$program" >/dev/null 2>&1; then
    record "$part" missing "$program: not found"
  elif [ "$vrf" = - ]; then
    run "$part" 8 "$@"
  elif [ ! -e "/proc/sys/net/ipv4/conf/$vrf" ]; then
    record "$part" missing "$vrf: no such VRF on this node"
  else
    run_root "$part" 8 ip vrf exec "$vrf" "$@"
  fi
}
# try_path PART KIND VRF SOURCE DESTINATION ARGUMENT. Three pings of a third of a second, each awaited for one; curl
# tells how far it came by the times it prints.
try_path() {
  part=$1 kind=$2 vrf=$3 source=$4 destination=$5 argument=$6
  set --
  case $kind in
    ping | mtu)
      [ "$source" = - ] || set -- -I "$source"
      [ "$kind" = ping ] || set -- "$@" -M 'do' -s "$argument"
      in_vrf "$part" ping "$vrf" ping -n -c 3 -i 0.3 -W 1 "$@" "$destination"
      ;;
    tcp | http)
      [ "$source" = - ] || set -- --interface "$source"
      case $kind in tcp) url=telnet://$destination:$argument ;; *) url=http://$destination:$argument/ ;; esac
      in_vrf "$part" curl "$vrf" curl -q -sS --noproxy '*' -o /dev/null --connect-timeout 3 -m 3.5 "$@" \
        -w 'connect %{time_connect}\ncode %{http_code}\nlocal %{local_ip}\n' "$url"
      ;;
    flows)
      # The newest say as much as all.
      filter=newest_flows
      run_root "$part" 5 conntrack -L -s "$destination"
      ;;
    arp) run_root "$part" 5 arping -c 2 -w 2 -I "$argument" "$destination" ;;
  esac
}
probe_path() {
  dir='' questions=0 can_sudo=0 sudo_said=''
  make_dir
  : >"$dir/questions"
  if [ "$#" = 1 ] && [ "$1" = - ]; then
    # A sixth word and what follows it end up in rest, and refuse the question.
    while read -r kind vrf source destination argument rest; do
      add_path "$kind" "$vrf" "$source" "$destination" "$argument" ${rest:+"$rest"}
    done
  else
    add_path "$@"
  fi
  euid=$(id -u)
  if [ "$euid" != 0 ]; then
    elevate "$dir/questions" probe path && return 0
    ask_sudo
  fi
  began=$(date +%s.%N)
  parts=meta question=0
  while read -r kind vrf source destination argument; do
    try_path "q$question" "$kind" "$vrf" "$source" "$destination" "$argument" &
    parts="$parts q$question"
    question=$((question + 1))
  done <"$dir/questions"
  wait
  record meta 0 ""
  printf 'began %s\neuid %s\nquestions %s\n' "$began" "$euid" "$questions" >"$dir/meta.o"
  emit "$parts"
}

add_show() { # add_show WHAT
  [ "$#" = 1 ] || refuse "show takes one word"
  case $1 in vnis | running | saved) ;; *) refuse "what can be shown is vnis, running, saved" ;; esac
  questions=$((questions + 1))
  [ "$questions" -le "$MAX_QUESTIONS" ] || refuse "more than $MAX_QUESTIONS questions"
  printf '%s\n' "$1" >>"$dir/questions"
}
# ask_vtysh PART COMMAND: as in read_vtysh, the group may do it. Longer: vtysh asks one daemon after the other for its part
# of a configuration, which takes its time where packets are sent beside it.
ask_vtysh() {
  if [ "$euid" != 0 ] && [ -r /etc/frr/vtysh.conf ]; then run "$1" 12 vtysh -c "$2"; else run_root "$1" 12 vtysh -c "$2"; fi
}
probe_show() {
  dir='' questions=0 can_sudo=0 sudo_said=''
  make_dir
  : >"$dir/questions"
  if [ "$#" = 1 ] && [ "$1" = - ]; then
    while read -r what rest; do add_show "$what" ${rest:+"$rest"}; done
  else
    add_show "$@"
  fi
  euid=$(id -u)
  if [ "$euid" != 0 ]; then
    elevate "$dir/questions" probe show && return 0
    ask_sudo
  fi
  began=$(date +%s.%N)
  parts=meta question=0
  while read -r what; do
    case $what in
      vnis) ask_vtysh "q$question" 'show evpn vni json' & ;;
      running) ask_vtysh "q$question" 'show running-config' & ;;
      saved) read_file "q$question" /etc/frr/frr.conf.sav & ;;
    esac
    parts="$parts q$question"
    question=$((question + 1))
  done <"$dir/questions"
  wait
  record meta 0 ""
  printf 'began %s\neuid %s\nquestions %s\n' "$began" "$euid" "$questions" >"$dir/meta.o"
  emit "$parts"
}

main() {
  # An installed copy runs as root: it trusts none of the caller's environment.
  if [ "$0" = "$INSTALLED" ]; then PATH=/usr/sbin:/usr/bin:/sbin:/bin; else PATH=$PATH:/usr/sbin:/usr/bin:/sbin:/bin; fi
  LC_ALL=C
  export PATH LC_ALL
  unset IFS ENV BASH_ENV CDPATH GREP_OPTIONS VTYSH_PAGER
  filter=
  umask 077
  [ "$#" -ge 1 ] || refuse "a subcommand is needed: version, read, probe"
  subcommand=$1
  shift
  case $subcommand in
    version) printf '%s\n' "$VERSION" ;;
    read) read_command "$@" ;;
    probe)
      kind=${1-}
      [ "$#" = 0 ] || shift
      case $kind in
        dns) probe_dns "$@" ;;
        path) probe_path "$@" ;;
        show) probe_show "$@" ;;
        *) refuse "unknown probe; known are dns, path, show" ;;
      esac
      ;;
    *) refuse "unknown subcommand; known are version, read, probe" ;;
  esac
}

main "$@"
