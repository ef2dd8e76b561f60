#!/bin/sh
# Installs the Signalbox agent __VERSION__ as a systemd service on this machine and connects it to its control plane.
#
#   curl -fsSO <control plane>/agent/install.sh
#   sudo sh install.sh --token TOKEN
#
# Options: sh install.sh --help. Without --router it asks for the first router, if it can. The first run checks the router and says what it
# finds. A second run replaces the program and keeps the configuration.
# With DESTDIR it writes below that folder, makes no user and starts nothing.
set -eu

SERVER=__SERVER__
SHA256=__SHA256__
ROOT=${DESTDIR:-}
PROGRAM=/opt/signalbox/signalbox-agent.cjs
CONFIG=/etc/signalbox
STATE=/var/lib/signalbox-agent
ACCOUNT=signalbox-agent
COMMAND=/usr/local/bin/signalbox-agent
OTHER_WAYS='take "Compose" or "By hand" on the page of the new agent, or see docs/agent.md.'
UNTOUCHED='Nothing was changed, and the token was not used'

die() {
  echo "install.sh: $*" >&2
  exit 1
}

usage() {
  cat <<'END'
Installs the Signalbox agent as a systemd service. As root:

  sh install.sh --token TOKEN [options]

  --token TOKEN         one-use enrolment token; not needed when the agent is enrolled
  --name NAME           name of the agent; default: that of this machine
  --router ADDRESS      first router: 192.168.88.1, 192.168.88.1:2222, [2001:db8::1]:2222 or a name; asked for if not given
  --router-name NAME    its name in agent.yaml; default: its address
  --ssh-port PORT       its SSH port; default: that of ADDRESS, or 22
  --user USER           user of the agent on the router
  --password-file FILE  file with the password of that user
  --skip-router-test    do not end when the router cannot be reached from here
  --server-ca FILE      certificate of the CA that has signed the control plane's
END
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

# The agent as a command, on the Node of the service. Root's `check` runs as the service's user, so that it leaves no file of root's and tells
# what that user may read. A command of another installation (npm's) stays.
write_command() {
  if [ -e "$ROOT$COMMAND" ] && ! grep -q "$PROGRAM" "$ROOT$COMMAND"; then
    echo "$ROOT$COMMAND is of another installation, and is kept; this agent is: $node $PROGRAM" >&2
    return
  fi
  install -d -m 755 "$ROOT${COMMAND%/*}"
  cat >"$ROOT$COMMAND" <<END
#!/bin/sh
# Written by install.sh of the Signalbox agent.
if [ "\${1-}" = check ] && [ "\$(id -u)" = 0 ]; then
  exec runuser -u $ACCOUNT -- '$node' $PROGRAM "\$@"
fi
exec '$node' $PROGRAM "\$@"
END
  chmod 755 "$ROOT$COMMAND"
}

ask_for_router() {
  # Below a pipe (`curl … | sh`), the standard input is this script.
  if ! (exec </dev/tty) 2>/dev/null; then
    die 'name the first router: --router ADDRESS --user USER --password-file FILE'
  fi
  printf 'Address of the first router (192.168.88.1, or 192.168.88.1:2222 for another SSH port): ' >/dev/tty && read -r router </dev/tty
  printf 'User of the agent on it: ' >/dev/tty && read -r user </dev/tty
  printf 'Password of that user: ' >/dev/tty
  trap 'stty echo </dev/tty' EXIT
  stty -echo </dev/tty && read -r password </dev/tty && stty echo </dev/tty
  trap - EXIT
  echo >/dev/tty
}

# `192.168.88.1:2222` and `[2001:db8::1]:2222` name the port, too.
split_router() {
  port=''
  case $router in
    \[*\]:*) port=${router##*]:} ;;
    \[*\] | *:*:*) ;;
    *:*) port=${router##*:} ;;
  esac
  case $router in
    \[*) router=${router#[} router=${router%%]*} ;;
    *:*:*) ;;
    *) router=${router%%:*} ;;
  esac
  [ -n "$router" ] || die 'the address of the router is empty'
  [ -z "$ssh_port" ] || [ -z "$port" ] || [ "$port" = "$ssh_port" ] || die "two SSH ports: $port and $ssh_port"
  ssh_port=${ssh_port:-${port:-22}}
  case $ssh_port in
    *[!0-9]* | ??????*) die "$ssh_port is not a port" ;;
  esac
  [ "$ssh_port" -ge 1 ] && [ "$ssh_port" -le 65535 ] || die "$ssh_port is not a port"
}

# Whether an SSH server greets there, before the token is used. Says why not.
reach_router() {
  "$node" -e '
const [host, port] = process.argv.slice(1);
const end = (code, text) => { if (text) console.log(text); process.exit(code); };
const socket = require("node:net").connect({ host, port: Number(port) });
setTimeout(() => end(1, "no answer within 10 seconds"), 10_000);
socket.on("error", (error) => end(1, error.code || error.message));
socket.on("end", () => end(1, "it closes the connection"));
socket.once("data", (data) => data.toString("latin1").startsWith("SSH-") ? end(0) : end(1, "what answers there is not SSH"));
' "$router" "$ssh_port"
}

test_router() {
  [ -z "$skip_router_test" ] || return 0
  reason=$(reach_router) && return
  echo "The router cannot be reached by SSH at $router, port $ssh_port, from this machine: $reason" >&2
  (exec </dev/tty) 2>/dev/null || die 'nothing was changed, and the token was not used; --skip-router-test goes on all the same'
  printf 'Go on all the same? The agent tries again by itself. [y/N] ' >/dev/tty && read -r answer </dev/tty
  case $answer in
    [yY]*) ;;
    *) die 'nothing was changed, and the token was not used' ;;
  esac
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
    echo "  - name: $(quoted "${router_name:-$router}")"
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
  runuser -u "$ACCOUNT" -- "$node" "$PROGRAM" check --config "$CONFIG/agent.yaml" || {
    echo "Mend what says FAIL in $CONFIG/agent.yaml or on the router; the agent tries again by itself, and reads agent.yaml when it starts."
    echo 'Then ask once more: sudo signalbox-agent check'
  }
}

main() {
  token='' name=$(uname -n) router='' router_name='' user='' password='' password_file='' server_ca='' ssh_port='' skip_router_test=''
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage && exit ;;
      --skip-router-test) skip_router_test=1 && shift && continue ;;
      --token | --name | --router | --router-name | --user | --ssh-port | --password-file | --server-ca) ;;
      *) die "unknown option $1; sh install.sh --help lists them" ;;
    esac
    [ $# -gt 1 ] || die "$1 needs a value"
    case $1 in
      --token) token=$2 ;;
      --name) name=$2 ;;
      --router) router=$2 ;;
      --router-name) router_name=$2 ;;
      --user) user=$2 ;;
      --ssh-port) ssh_port=$2 ;;
      --password-file) password_file=$2 ;;
      --server-ca) server_ca=$2 ;;
    esac
    shift 2
  done
  [ -z "$router" ] || split_router
  if [ -n "$router" ] && { [ -z "$user" ] || [ -z "$password_file" ]; }; then die '--router needs --user and --password-file'; fi
  for file in "$password_file" "$server_ca"; do
    [ -z "$file" ] || [ -r "$file" ] || die "$file cannot be read"
  done
  if [ -z "$ROOT" ]; then
    [ "$(id -u)" = 0 ] || die 'must run as root'
    command -v systemctl >/dev/null || die "this machine has no systemd; $OTHER_WAYS $UNTOUCHED"
    # systemctl alone is no sign: containers and WSL have it, and nothing that it could talk to (sd_booted(3)).
    [ -d /run/systemd/system ] || die "systemd is installed and does not run here, as in a container. In WSL: put systemd=true below [boot] in \
/etc/wsl.conf, then wsl --shutdown. Otherwise $OTHER_WAYS $UNTOUCHED"
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
  node=$(find_node) || die "Node 24 or later is needed outside of home folders, and there is none. npm brings \
it: sudo npm install --global --prefix /usr/local node@24. Without npm: apt-get install npm, or https://nodejs.org/en/download. $UNTOUCHED"
  umask 077
  if [ -n "$is_first" ]; then
    [ -n "$router" ] || { ask_for_router && split_router; }
    test_router
  fi
  if [ -z "$ROOT" ]; then
    id "$ACCOUNT" >/dev/null 2>&1 || useradd --system --home "$STATE" --shell /usr/sbin/nologin "$ACCOUNT"
  fi
  install_program
  [ -e "$ROOT$STATE/credentials.json" ] || enrol
  [ -z "$is_first" ] || write_config
  write_unit
  write_command
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
