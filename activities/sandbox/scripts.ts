/** What every POSIX system has. */
export const shell = '/bin/sh';

/**
 * Joins the control groups given first, then becomes the rest. Should memory run out without groups, the kernel picks the
 * command and not the worker (500).
 */
export const joinScript = `n=$1; shift
while [ "$n" -gt 0 ]; do echo $$ > "$1/cgroup.procs" || exit 125; shift; n=$((n - 1)); done
{ echo 500 > /proc/self/oom_score_adj; } 2>/dev/null
exec "$@"`;

/**
 * First process around the command. Given are seconds of processor time, kilobytes of data and the number of processes,
 * each empty for no limit, a file with the command's environment, and the command. It gives the command its environment (so
 * late that nothing in it reaches what sets limits), says that all is set up at the last moment, and waits. As in every
 * shell, 127 says "not found" and 128 + n "signal n"; its own remarks about signals are no output of the command. No core
 * files: they would lie in the workspace or, by the host's setting, outside. One shell's -p is another's -u.
 */
export const beginScript = `set -e
ulimit -c 0
[ -z "$1" ] || { ulimit -S -t "$1"; ulimit -H -t "$(($1 + 1))"; }
[ -z "$2" ] || ulimit -d "$2"
[ -z "$3" ] || ulimit -p "$3" 2>/dev/null || ulimit -u "$3"
set +e
environment=$4; shift 4
exec 8>&2 2>/dev/null
(
  exec 2>&8 8>&-
  . "$environment"
  echo begun >&3
  exec 3>&-
  case $1 in -*) echo "$1: not found" >&2; exit 127 ;; esac
  exec "$@"
)
exit $?`;

const quoted = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

/** What `beginScript` reads. The names are checked by the contract. */
export const environmentFile = (env: Record<string, string>): string =>
  Object.entries(env)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('');
