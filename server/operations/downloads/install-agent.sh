#!/bin/sh
# Installs the Signalbox agent __VERSION__ as a systemd service on this machine and connects it to its control plane.
#
#   curl -fsSO <control plane>/agent/install.sh
#   sudo sh install.sh --token TOKEN [--name NAME] [--router ADDRESS --user USER --password-file FILE] [--server-ca FILE]
#
# Without --router it asks for the first router, if it can. The first run checks the router and says what it finds. A second run replaces
# the program and keeps the configuration.
# With DESTDIR it writes below that folder, makes no user and starts nothing.
set -eu

SERVER=__SERVER__
SHA256=__SHA256__
ROOT=${DESTDIR:-}
PROGRAM=/opt/signalbox/signalbox-agent.cjs
CONFIG=/etc/signalbox
STATE=/var/lib/signalbox-agent
ACCOUNT=signalbox-agent

die() {
  echo "install.sh: $*" >&2
  exit 1
}

# A text between single quotes for YAML.
quoted() {
  printf "'%s'" "$(printf %s "$1" | sed "s/'/''/g")"
}

find_node() {
  for node in node /usr/local/bin/node /usr/bin/node /opt/node/bin/node; do
    file=$(command -v "$node" 2>/dev/null) || continue
    # The service sees no home folders.
    if [ -z "$ROOT" ]; then case $(readlink -f "$file") in /home/* | /root/*) continue ;; esac fi
    if "$file" -e 'process.exit(parseInt(process.versions.node, 10) >= 24 ? 0 : 1)'; then
      echo "$file"
      return
    fi
  done
  return 1
}

download() {
  if command -v curl >/dev/null; then
    curl -fsS ${server_ca:+--cacert "$server_ca"} -o "$2" "$1"
  elif command -v wget >/dev/null; then
    wget -q ${server_ca:+--ca-certificate="$server_ca"} -O "$2" "$1"
  else
    die 'curl or wget is needed'
  fi
}

install_program() {
  install -d -m 755 "$ROOT${PROGRAM%/*}"
  part=$ROOT$PROGRAM.part
  download "$SERVER/agent/signalbox-agent.cjs" "$part" || die "$SERVER cannot be reached from this machine"
  if ! echo "$SHA256  $part" | sha256sum --check --status; then
    rm -f "$part"
    die 'the downloaded file has another SHA-256 than this script says; fetch the script again'
  fi
  mv "$part" "$ROOT$PROGRAM"
}

ask_for_router() {
  # Below a pipe (`curl … | sh`), the standard input is this script.
  if ! (exec </dev/tty) 2>/dev/null; then
    die 'name the first router: --router ADDRESS --user USER --password-file FILE'
  fi
  printf 'Address of the first router: ' >/dev/tty && read -r router </dev/tty
  printf 'User of the agent on it: ' >/dev/tty && read -r user </dev/tty
  printf 'Password of that user: ' >/dev/tty
  trap 'stty echo </dev/tty' EXIT
  stty -echo </dev/tty && read -r password </dev/tty && stty echo </dev/tty
  trap - EXIT
  echo >/dev/tty
}

write_config() {
  install -d -m 755 "$ROOT$CONFIG"
  if [ -n "$password_file" ]; then password=$(cat "$password_file"); fi
  printf '%s\n' "$password" >"$ROOT$CONFIG/router-1.password"
  [ -z "$server_ca" ] || cp "$server_ca" "$ROOT$CONFIG/server-ca.pem"
  {
    echo "server: $(quoted "$SERVER")"
    [ -z "$server_ca" ] || echo 'server_ca: server-ca.pem'
    echo "credentials: $ROOT$STATE/credentials.json"
    echo "state: $ROOT$STATE"
    echo 'routers:'
    echo "  - name: $(quoted "$router")"
    echo "    host: $(quoted "$router")"
    echo "    ssh: { port: $ssh_port, username: $(quoted "$user"), password_file: router-1.password }"
  } >"$ROOT$CONFIG/agent.yaml"
}

enrol() {
  install -d -m 700 "$ROOT$STATE"
  "$node" "$ROOT$PROGRAM" enrol --server "$SERVER" --token "$token" --name "$name" \
    --credentials "$ROOT$STATE/credentials.json" ${server_ca:+--server-ca "$server_ca"}
}

write_unit() {
  install -d -m 755 "$ROOT/etc/systemd/system"
  sed "s|^ExecStart=.*|ExecStart=$node $PROGRAM run --config $CONFIG/agent.yaml|" >"$ROOT/etc/systemd/system/signalbox-agent.service" <<'END'
__UNIT__
END
}

# As the service's user. A router that does not answer yet is no reason not to start.
check() {
  echo 'What the agent finds:'
  runuser -u "$ACCOUNT" -- "$node" "$PROGRAM" check --config "$CONFIG/agent.yaml" ||
    echo "Mend what says FAIL in $CONFIG/agent.yaml or on the router; the agent tries again by itself, and reads agent.yaml when it starts."
}

main() {
  token='' name=$(uname -n) router='' user='' password='' password_file='' server_ca='' ssh_port=22
  while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || die "$1 needs a value"
    case $1 in
      --token) token=$2 ;;
      --name) name=$2 ;;
      --router) router=$2 ;;
      --user) user=$2 ;;
      --ssh-port) ssh_port=$2 ;;
      --password-file) password_file=$2 ;;
      --server-ca) server_ca=$2 ;;
      *) die "unknown option $1" ;;
    esac
    shift 2
  done
  if [ -n "$router" ] && { [ -z "$user" ] || [ -z "$password_file" ]; }; then die '--router needs --user and --password-file'; fi
  for file in "$password_file" "$server_ca"; do
    [ -z "$file" ] || [ -r "$file" ] || die "$file cannot be read"
  done
  if [ -z "$ROOT" ]; then
    [ "$(id -u)" = 0 ] || die 'must run as root'
    command -v systemctl >/dev/null || die 'this machine has no systemd; docs/agent.md has other ways'
  fi
  # Everything that can be missing, before anything is changed.
  is_first=''
  if [ ! -e "$ROOT$CONFIG/agent.yaml" ]; then
    is_first=1
  elif [ -n "$router" ]; then
    die "$ROOT$CONFIG/agent.yaml is there already, and is kept: change it and run this without --router, or remove it first"
  fi
  if [ ! -e "$ROOT$STATE/credentials.json" ] && [ -z "$token" ]; then
    die 'a first installation needs --token; an administrator of the team makes one'
  fi
  node=$(find_node) || die 'Node 24 or later is needed outside of home folders, and there is none; https://nodejs.org/en/download has it'
  umask 077
  [ -z "$is_first" ] || [ -n "$router" ] || ask_for_router
  if [ -z "$ROOT" ]; then
    id "$ACCOUNT" >/dev/null 2>&1 || useradd --system --home "$STATE" --shell /usr/sbin/nologin "$ACCOUNT"
  fi
  install_program
  [ -e "$ROOT$STATE/credentials.json" ] || enrol
  [ -z "$is_first" ] || write_config
  write_unit
  if [ -z "$ROOT" ]; then
    chmod 644 "$PROGRAM" /etc/systemd/system/signalbox-agent.service
    # The settings of a control plane may be in the same folder.
    for file in agent.yaml router-1.password server-ca.pem; do
      [ ! -e "$CONFIG/$file" ] || chown "$ACCOUNT" "$CONFIG/$file"
    done
    chown -R "$ACCOUNT" "$STATE"
    [ -z "$is_first" ] || check
    systemctl daemon-reload
    systemctl enable signalbox-agent
    systemctl restart signalbox-agent
    echo "The agent runs. Its log: journalctl -u signalbox-agent. More routers: $CONFIG/agent.yaml, then systemctl restart signalbox-agent"
  else
    echo "Installed below $ROOT"
  fi
}

main "$@"
