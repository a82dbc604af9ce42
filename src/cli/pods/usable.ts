import { connect } from 'node:net'
import { formatDuration } from '../core/durations.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError } from '../core/failure.ts'
import type { Answer } from '../session/pages.ts'
import type { Session } from '../session/session.ts'
import { untilDone } from '../session/wait.ts'
import { explainPodWait, sentenceOf } from './explain.ts'

type Pod = Answer<'getPod'>

const PROBE_MS = 3_000
/** Statuses of the plane's proxy while the pod does not answer. */
const NOT_YET = new Set([502, 503, 504])

/** Waits until a pod runs and its ports answer, and prints it (CMD-4). */
export async function waitUsable(session: Session, id: string): Promise<number> {
  const pod = await untilDone(session, `pod ${id}`, async () => {
    const now = await session.api.getPod({ path: { id } })
    if (now.status === 'ERROR' || now.status === 'EXITED' || now.status === 'TERMINATED') {
      throw new CliError(EXIT.BAD_OUTCOME, 'pod_not_running', `pod ${id} is ${sentenceOf(now)}`, { resource: `pod ${id}` })
    }
    if (now.status !== 'RUNNING') return { why: await explainPodWait(session, now) }
    const silent = await findSilentPort(session, now)
    return silent === undefined ? { done: now } : { why: `RUNNING, and ${silent} does not answer yet` }
  })
  session.out.done(pod, id, `pod ${id} is usable after ${formatDuration(session.io.nowMs() - session.startedAtMs)}`)
  return EXIT.OK
}

/** First port of a running pod that does not answer. Ports that cannot be reached from here are skipped. */
async function findSilentPort(session: Session, pod: Pod): Promise<string | undefined> {
  for (const port of pod.ports) {
    const [number = '', kind] = port.split('/')
    const answers = kind === 'http' ? await answersHttp(session, pod.id, number) : await answersTcp(pod, Number(number))
    if (!answers) return port
  }
  return undefined
}

async function answersHttp(session: Session, id: string, port: string): Promise<boolean> {
  try {
    const asked = { redirect: 'manual', signal: AbortSignal.timeout(PROBE_MS) } as const
    const below = `${session.target.url}/proxy/${id}/${port}/`
    const first = await fetch(below, asked)
    await first.body?.cancel()
    const address = new URL(first.headers.get('location') ?? below, below)
    // The plane redirects to the host name of the port, so that redirect is followed; any other redirect comes from the pod and counts as
    // an answer (EDG-10).
    const isSentOn = first.status === 307 && address.hostname.startsWith(`${id}-${port}.`)
    const last = isSentOn ? await fetch(address, asked) : first
    await last.body?.cancel()
    return !NOT_YET.has(last.status)
  } catch {
    return false
  }
}

async function answersTcp(pod: Pod, port: number): Promise<boolean> {
  const published = pod.runtime?.ports?.find((one) => one.private === port && one.type === 'tcp')
  if (published === undefined) return false
  const { ip, public: outer } = published
  // The host has no public address, so the port cannot be probed from here.
  if (ip === null || outer === null) return true
  return await new Promise<boolean>((resolve) => {
    const socket = connect({ host: ip, port: outer, timeout: PROBE_MS })
    const end = (answers: boolean) => {
      socket.destroy()
      resolve(answers)
    }
    // An SSH server sends its banner first; other servers may wait for the client.
    if (port === 22) socket.once('data', (bytes) => end(bytes.toString('latin1').startsWith('SSH-')))
    else socket.once('connect', () => end(true))
    socket
      .once('timeout', () => end(false))
      .once('error', () => end(false))
      .once('close', () => resolve(false))
  })
}
