import type { Command } from 'commander'
import { actLater, examples, wholeNumber } from '../session/act.ts'

const TAIL = 100

const ABOUT = {
  'pod-or-endpoint': 'print the log of a pod, or of the workers of an endpoint',
  cluster: 'print the logs of all members',
}

/** Adds `podplane logs`, also under pods, endpoints and clusters. */
export function addLogs(parent: Command, prefix = '', of: keyof typeof ABOUT = 'pod-or-endpoint'): void {
  const logs = parent
    .command(`logs <${of}>`)
    .description(ABOUT[of])
    .option('-f, --follow', 'print new lines as they arrive')
    .option('--since <time>', 'only lines since this time: a duration such as 1h, or an RFC 3339 time')
    .option('--until <time>', 'only lines before this time')
    .option('--tail <n>', 'number of the newest lines to print', wholeNumber, TAIL)
    .option('-g, --grep <text>', 'only lines that contain this text, in upper or lower case')
    .option('--source <source>', 'only lines of this source: container or system')
  if (of === 'cluster') {
    actLater(logs, async () => (await import('../logs/logs.ts')).printMemberLogs)
    examples(logs, `${prefix}logs <cluster> -f`, `${prefix}logs <cluster> --since 1h -g loss`)
    return
  }
  logs.option('--worker <id>', 'only this worker of an endpoint; it may have ended')
  actLater(logs, async () => (await import('../logs/logs.ts')).printLogs)
  examples(logs, `${prefix}logs <pod> -f`, `${prefix}logs <endpoint> --since 1h -g error`, `${prefix}logs <pod> --source system --json`)
}
