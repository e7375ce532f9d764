#!/bin/sh
# deevnet-exit-egress: puts frr.conf.local in place on an exit node, where the site file allows deevnet-console to. POSIX sh.
#
#   deevnet-exit-egress put EXPECTED VRF GATEWAY <FILE
#
# EXPECTED is the SHA-256 of the file as the console read it, or "absent": where somebody changed it since, nothing is done.
# The file is checked by vtysh, then replaced in one step with its owner and mode. FRR is given the default route of VRF by
# GATEWAY at once, where the VRF is there and has none ("-": it is not). Nothing is taken from FRR: without its default a VRF's
# packets would leave by the main table. What was taken from the file goes at the next SDN apply.
#
# Exit: 0 the file is in place, 2 refused, 1 it could not be.

INSTALLED=/usr/local/sbin/deevnet-exit-egress
FILE=/etc/frr/frr.conf.local

refuse() { printf 'deevnet-exit-egress: refused: %s\n' "$1" >&2; exit 2; }
fail() { printf 'deevnet-exit-egress: %s\n' "$1" >&2; exit 1; }

is_interface() {
  case $1 in '' | *[!A-Za-z0-9._-]* | [.-]*) return 1 ;; esac
  [ "${#1}" -le 15 ]
}
is_ipv4() {
  case $1 in '' | *[!0-9.]* | .* | *. | *..* | *.*.*.*.*) return 1 ;; *.*.*.*) ;; *) return 1 ;; esac
  [ "${#1}" -le 15 ]
}
is_digest() {
  case $1 in absent) return 0 ;; *[!0-9a-f]*) return 1 ;; esac
  [ "${#1}" = 64 ]
}
# Line ends as the console reads them.
digest() { awk '{ sub(/\r$/, ""); print }' "$1" | sha256sum | cut -d' ' -f1; }

put() { # put EXPECTED VRF GATEWAY
  dir=${FILE%/*}
  [ -d "$dir" ] || refuse "there is no $dir on this node"
  [ ! -L "$FILE" ] || refuse "$FILE is a symbolic link"
  new=$(mktemp "$dir/.frr.conf.local.XXXXXXXX") || fail "no file can be made in $dir"
  trap 'rm -f "$new"' EXIT
  trap 'exit 1' HUP INT TERM
  cat >"$new" || fail "$new cannot be written"
  now=absent
  [ ! -e "$FILE" ] || now=$(digest "$FILE")
  [ "$now" = "$1" ] || refuse "$FILE is not as it was read: somebody changed it meanwhile"
  if command -v vtysh >/dev/null 2>&1; then
    said=$(vtysh -C -f "$new" 2>&1 </dev/null) || refuse "FRR does not take it: $(printf '%s' "$said" | head -n 1)"
  fi
  if [ -e "$FILE" ]; then
    chown --reference="$FILE" "$new" && chmod --reference="$FILE" "$new" || fail "owner and mode of $FILE cannot be kept"
  else
    chgrp frr "$new" 2>/dev/null
    chmod 0640 "$new"
  fi
  sync "$new" 2>/dev/null
  mv -f "$new" "$FILE" || fail "$FILE cannot be replaced"
  trap - EXIT
  [ "$2" = - ] || live "$2" "$3"
  printf 'put\n'
}
live() { # live VRF GATEWAY
  ip link show dev "$1" >/dev/null 2>&1 || return 0
  [ -z "$(ip -4 route show vrf "$1" default 2>/dev/null | grep -v '^unreachable')" ] || return 0
  vtysh -c 'configure terminal' -c "vrf $1" -c "ip route 0.0.0.0/0 $2 nexthop-vrf default" -c exit-vrf </dev/null ||
    fail "the file is in place, and FRR did not take the default route of $1"
}

main() {
  PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
  export PATH LC_ALL
  unset IFS ENV BASH_ENV CDPATH GREP_OPTIONS VTYSH_PAGER
  umask 077
  [ "$#" = 4 ] && [ "$1" = put ] || refuse "put EXPECTED VRF GATEWAY is all it does"
  is_digest "$2" || refuse "what is expected is no SHA-256"
  [ "$3" = - ] || is_interface "$3" || refuse "the VRF is no interface name"
  [ "$4" = - ] || is_ipv4 "$4" || refuse "the gateway is no IPv4 address"
  if [ "$(id -u)" != 0 ]; then
    [ -x "$INSTALLED" ] || refuse "needs root: log in as root, or install it as $INSTALLED with a line in sudoers"
    exec sudo -n "$INSTALLED" "$@"
  fi
  shift
  put "$@"
}

main "$@"
