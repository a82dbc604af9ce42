// Scripts for SFTP in a pod, which run in any image: they use the shell, stat, find, cat and a few more common programs.

/** Output format of `stat`: type and mode in hex, size, owner, group, access and modification times. */
const FORMAT = '%f %s %u %g %X %Y'

export const SCRIPTS = {
  home: 'pwd',
  stat: `stat -L -c '${FORMAT}' -- "$1"`,
  lstat: `stat -c '${FORMAT}' -- "$1"`,
  list: `cd -- "$1" && find . -maxdepth 1 -exec stat -c '${FORMAT} %n' {} +`,
  mkdir: 'mkdir -- "$1"',
  rmdir: 'rmdir -- "$1"',
  remove: 'if [ -d "$1" ] && [ ! -L "$1" ]; then echo "Is a directory" >&2; exit 1; fi; rm -- "$1"',
  rename: 'if [ -e "$2" ]; then echo "File exists" >&2; exit 1; fi; mv -- "$1" "$2"',
  readlink: 'readlink -- "$1"',
  symlink: 'ln -s -- "$1" "$2"',
  chmod: 'chmod -- "$2" "$1"',
  chown: 'chown -- "$2" "$1"',
  touch: 'touch -a -d "@$2" -- "$1" && touch -m -d "@$3" -- "$1"',
  truncate: 'dd if=/dev/null of="$1" bs=1 seek="$2" count=0 2>/dev/null',
  /** Prints `ok` once the file is open, then its bytes from an offset on. */
  read: `if [ -d "$1" ]; then echo 'Is a directory' >&2; exit 1; fi
exec 3<"$1"; echo ok; if [ "$2" -gt 0 ]; then exec tail -c "+$(($2+1))" <&3; else exec cat <&3; fi`,
  /** Prints `ok` once the file is open, then writes its input; `$2`: how it is opened. */
  write: `case "$2" in
excl) set -C; exec 3>"$1";;
trunc) exec 3>"$1";;
append) exec 3>>"$1";;
at) dd if=/dev/null of="$1" bs=1 seek="$3" count=0 2>/dev/null; exec 3>>"$1";;
esac; echo ok; exec cat >&3`,
} as const
export type ScriptName = keyof typeof SCRIPTS

/** The command that runs a script of `SCRIPTS` with these arguments. */
export function commandOf(name: ScriptName, args: readonly string[]): string[] {
  return ['/bin/sh', '-c', SCRIPTS[name], 'sh', ...args]
}
