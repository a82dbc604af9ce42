/** Environment variable that marks the processes of a command, so that scripts find them inside the container. */
export const EXEC_MARK = 'PODPLANE_EXEC'

/** A login shell: bash where the container has it. */
export const LOGIN_SHELL = ['/bin/sh', '-c', 'command -v bash >/dev/null 2>&1 && exec bash -l; exec /bin/sh -l'] as const

/**
 * Finds the first process of a command, `$leader`: it has the mark and no parent in its container. It leads its own session, which the
 * engine created.
 */
const FIND_LEADER = `
mark=$1 sig=$2 leader=
look() { read -r line 2>/dev/null < "$1/stat" || return 1; set -- \${line##*) }; parent=$2 session=$4; }
for d in /proc/[0-9]*; do
  look "$d" && [ "$parent" = 0 ] || continue
  case "$(tr '\\0' '\\n' 2>/dev/null < "$d/environ" || cat "$d/environ" 2>/dev/null)" in *"${EXEC_MARK}=$mark"*) leader="$leader \${d#/proc/}";; esac
done
[ -n "$leader" ] || exit 0
`

/** Sends a signal to the process group of a command: `sh -c <script> sh <mark> <signal>`. */
export const SIGNAL_SCRIPT = `${FIND_LEADER}
for p in $leader; do kill -s "$sig" -- "-$p" 2>/dev/null || kill -s "$sig" "$p" 2>/dev/null; done
exit 0
`

/**
 * Ends a command as the end of a connection does: SIGHUP to its whole session, then SIGKILL after two seconds for processes that did not
 * react. Processes that ignore SIGHUP (nohup) or have left the session (setsid, tmux) are meant to continue, and do.
 */
export const HANGUP_SCRIPT = `${FIND_LEADER}
ignores() { while read -r name value; do [ "$name" = SigIgn: ] && { case "$value" in *[13579bdf]) return 0;; esac; return 1; }; done < "$1/status"; return 1; }
members() { for d in /proc/[0-9]*; do look "$d" || continue; for l in $leader; do [ "$session" = "$l" ] && echo "\${d#/proc/}"; done; done; }
for p in $(members); do kill -s HUP "$p"; kill -s CONT "$p"; done 2>/dev/null
n=0
while [ $n -lt 2 ]; do
  left=
  for p in $(members); do ignores "/proc/$p" || left="$left $p"; done 2>/dev/null
  [ -n "$left" ] || exit 0
  sleep 1
  n=$((n+1))
done
for p in $left; do kill -s KILL "$p"; done 2>/dev/null
exit 0
`
