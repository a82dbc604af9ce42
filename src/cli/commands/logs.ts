import type { Command } from 'commander'
import type { LogFlags } from '../logs/logs.ts'
import { act, examples, wholeNumber } from '../session/act.ts'

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
    .option('-f, --follow', 'and every line as it comes')
    .option('--since <time>', 'from then on: 1h, or a time of RFC 3339')
    .option('--until <time>', 'before then')
    .option('--tail <n>', 'the newest lines', wholeNumber, TAIL)
    .option('-g, --grep <text>', 'lines with this text, in any case')
    .option('--source <source>', 'container or system')
  if (of === 'cluster') {
    act(logs, async (session, flags: LogFlags, id: string) => await (await import('../logs/logs.ts')).printMemberLogs(session, id, flags))
    examples(logs, `${prefix}logs <cluster> -f`, `${prefix}logs <cluster> --since 1h -g loss`)
    return
  }
  logs.option('--worker <id>', 'one worker of an endpoint, also one that has ended')
  act(logs, async (session, flags: LogFlags, id: string) => await (await import('../logs/logs.ts')).printLogs(session, id, flags))
  examples(logs, `${prefix}logs <pod> -f`, `${prefix}logs <endpoint> --since 1h -g error`, `${prefix}logs <pod> --source system --json`)
}
