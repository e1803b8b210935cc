#!/bin/bash
# Records one session of a real coding client against the scripted server, on loopback.
#
# Usage: record.sh CLIENT SCENARIO
#   CLIENT    claude-code codex gemini-cli qwen-code opencode mini-swe-agent openhands
#   SCENARIO  name of a file in scenarios/, without .json
# Writes ../sessions/CLIENT/SCENARIO.{jsonl,json,traj.json}.
#
# Environment: RECORD_TOOLS  folder that keeps the installed clients between calls (default: a temporary one)
#              RECORD_PYTHON Python 3.12 or newer for mini-swe-agent and openhands (default: python3)
#              RECORD_LOG    folder for the client's output and the server's log (default: dropped)
#
# The client is installed first, with the network. It then runs with a HOME of its own, and where Linux allows it in
# namespaces of its own: no network but loopback, home at /home/dev, user and host named dev, no process left behind.
set -euo pipefail

record=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$record/clients.sh"
RUN_SECONDS=180

die() {
  echo "record.sh: $*" >&2
  exit 2
}

# Runs in the namespaces (or beside the user's own, see `outside`): server, client, transcript.
inside() {
  local client=$1 scenario=$2 root=$HOME/toy
  prompt=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["prompt"])' \
    "$record/scenarios/$scenario.json")
  sh "$record/toy.sh" "$root"
  cd "$root"
  PYTHONDONTWRITEBYTECODE=1 python3 "$record/server.py" --client "$client" --root "$root" \
    --scenario "$record/scenarios/$scenario.json" --port-file "$out/port" --log "$out/requests.jsonl" \
    2> "$out/server.err" &
  server=$!
  trap 'kill "$server" 2> /dev/null; wait "$server" 2> /dev/null || true' EXIT
  for _ in $(seq 100); do [ -s "$out/port" ] && break || sleep 0.1; done
  url=http://127.0.0.1:$(cat "$out/port")
  local status=0
  run_client "$client" > "$out/client.out" 2> "$out/client.err" < /dev/null || status=$?
  echo "client ended with status $status"
  keep_transcript "$client"
}

# Private mounts, so that the transcript shows /home/dev and not this machine. Runs as the first process inside.
enter() {
  local room=$1
  ip link set lo up
  hostname dev 2> /dev/null || true
  mount -t tmpfs none /opt
  mkdir /opt/tools /opt/record /opt/out
  mount --bind "$tools" /opt/tools
  mount --bind "$record" /opt/record
  mount --bind "$room/out" /opt/out
  echo "dev:x:$(id -u):$(id -g)::/home/dev:/bin/bash" > "$room/passwd"
  mount --bind "$room/passwd" /etc/passwd
  mount -t tmpfs none /home
  mkdir /home/dev
  # Last: the room itself is below the old /tmp.
  mount -t tmpfs none /tmp
  tools=/opt/tools out=/opt/out HOME=/home/dev
  record=/opt/record
}

clean_env() {
  exec env -i HOME="$HOME" USER=dev LOGNAME=dev SHELL=/bin/bash TERM=dumb LANG=C.UTF-8 TZ=UTC \
    PATH="$tools/node_modules/.bin:/usr/local/bin:/usr/bin:/bin" CI=1 DO_NOT_TRACK=1 \
    GIT_CONFIG_NOSYSTEM=1 no_proxy=127.0.0.1 tools="$tools" out="$out" \
    timeout --kill-after=5 "$RUN_SECONDS" bash "$record/record.sh" --inside "$1" "$2"
}

outside() {
  local client=$1 scenario=$2 keep=${RECORD_TOOLS:-}
  room=$(mktemp -d)
  trap 'rm -rf "$room"' EXIT
  mkdir -p "$room/home/dev" "$room/out"
  tools=${keep:-$room/tools}/$client
  if [ ! -e "$tools/.installed-$(version_of "$client")" ]; then
    mkdir -p "$tools"
    install_client "$client" >&2
    touch "$tools/.installed-$(version_of "$client")"
  fi
  local own=(--net --mount --uts --pid --fork --kill-child --mount-proc)
  [ "$(id -u)" -eq 0 ] || own+=(--user --map-root-user)
  if unshare "${own[@]}" true 2> /dev/null; then
    tools=$tools unshare "${own[@]}" \
      bash "$record/record.sh" --enter "$room" "$client" "$scenario" || true
  else
    echo 'record.sh: no namespaces here: relying on the switches of the client to stay on loopback' >&2
    (HOME=$room/home/dev out=$room/out && clean_env "$client" "$scenario") || true
  fi
  save "$client" "$scenario" "$room"
}

save() {
  local client=$1 scenario=$2 room=$3 target
  if [ -n "${RECORD_LOG:-}" ]; then
    mkdir -p "$RECORD_LOG/$client/$scenario"
    cp -r "$room/out/." "$RECORD_LOG/$client/$scenario/"
  fi
  cat "$room/out/server.err" >&2
  [ -s "$room/out/transcript" ] || die "$client wrote no transcript for $scenario"
  target=$record/../sessions/$client/$scenario.$(ending_of "$client")
  mkdir -p "$(dirname "$target")"
  PYTHONDONTWRITEBYTECODE=1 python3 "$record/normalise.py" --client "$client" --home "$room/home/dev" \
    "$room/out/transcript" "$target"
  echo "$client $scenario: $(wc -c < "$target") bytes"
}

case ${1:-} in
  --inside) inside "$2" "$3" ;;
  --enter)
    enter "$2"
    clean_env "$3" "$4"
    ;;
  *)
    [ $# -eq 2 ] || die 'usage: record.sh CLIENT SCENARIO'
    [[ " $CLIENTS " == *" $1 "* ]] || die "unknown client $1; one of: $CLIENTS"
    [ -e "$record/scenarios/$2.json" ] || die "unknown scenario $2"
    outside "$1" "$2"
    ;;
esac
