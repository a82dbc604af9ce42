import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import type { Answer } from '../session/pages.ts'
import type { Session } from '../session/session.ts'
import { PodConnection } from './connection.ts'
import { exitCodeOf } from './exec.ts'

type Pod = Answer<'getPod'>

/**
 * Runs a command in all running members of a cluster at once and prefixes each line with the member's name; returns the exit code of the
 * first member that failed (CMD-26).
 */
export async function execInMembers(session: Session, clusterId: string, command: readonly string[]): Promise<number> {
  if (command.length === 0) throw usage('a command is required', 'podplane clusters exec <cluster> -- nvidia-smi -L')
  const { pods } = await session.api.listClusterPods({ path: { id: clusterId } })
  const running = pods.filter(({ status }) => status === 'RUNNING')
  for (const pod of pods) if (!running.includes(pod)) session.out.talk(`${pod.name} is ${pod.status}: skipped`)
  if (running.length === 0)
    throw new CliError(EXIT.REFUSED, 'no_member_runs', 'no member of the cluster runs', { hint: `podplane clusters wait ${clusterId}` })
  const codes = await Promise.all(running.map(async (pod) => await execInMember(session, pod, command)))
  const failed = codes.findIndex((code) => code !== 0)
  if (failed >= 0) session.out.talk(`${running[failed]?.name} ended with ${codes[failed]}`)
  return codes[failed] ?? (running.length === pods.length ? EXIT.OK : EXIT.BAD_OUTCOME)
}

async function execInMember(session: Session, pod: Pod, command: readonly string[]): Promise<number> {
  const connection = await PodConnection.open(session, pod.id, { command })
  const stop = () => connection.close()
  session.signal.addEventListener('abort', stop, { once: true })
  const lines = { stdout: linesTo(session.io.stdout, pod.name), stderr: linesTo(session.io.stderr, pod.name) }
  try {
    connection.endInput()
    for (let heard = await connection.read(); heard !== undefined; heard = await connection.read()) {
      lines[heard.channel].take(heard.bytes)
      connection.taken(heard.bytes.length)
    }
    return exitCodeOf(connection)
  } finally {
    lines.stdout.end()
    lines.stderr.end()
    session.signal.removeEventListener('abort', stop)
    connection.close()
  }
}

/** Writes whole lines with a label, so that the lines of several members do not mix. */
export function linesTo(sink: { write(text: string): boolean }, label: string): { take(bytes: Uint8Array): void; end(): void } {
  const decoder = new TextDecoder()
  let begun = ''
  const say = (text: string) => sink.write(`${label}\t${text}\n`)
  return {
    take(bytes) {
      const lines = (begun + decoder.decode(bytes, { stream: true })).split('\n')
      begun = lines.pop() ?? ''
      for (const line of lines) say(line)
    },
    end() {
      if (begun !== '') say(begun)
      begun = ''
    },
  }
}
