import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentOptions, hostsNamed, startAgent, waitOnline } from '../support/agent.ts'
import { type Lab, type Program, within } from '../support/lab.ts'
import { Load, wrongOf } from '../support/load.ts'
import { createProbe, freePort, must, type Plane, startPlane } from '../support/plane.ts'
import { faultsOf, type Row, seconds } from '../support/report.ts'

const NAME = 'twin'
const ONLINE_LIMIT_MS = 40_000
const REFUSAL_LIMIT_MS = 15_000
const FINISH_LIMIT_MS = 90_000
const TOGETHER_MS = 30_000
const JOB_MS = 300
/** Command prefixes of the second agent: none, and a new pid namespace, as in containers that share a volume. */
const PLACES = {
  'second agent on one state dir': [],
  'second agent on one state dir, from another pid namespace': ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'],
}

/** Uses the identity of a host twice: from a copy of its state directory, and from the directory itself. */
export async function measureTwoAgents(lab: Lab): Promise<Row[]> {
  const plane = await startPlane(lab, { dataDir: lab.path('plane'), port: await freePort(), args: ['--no-agent'] })
  const { token } = await must(plane.url, plane.operatorKey, 'POST', '/admin/v1/join-tokens', { name: NAME })
  const options = { name: NAME, stateDir: lab.path('agent'), token: String(token) }
  const agent = startAgent(lab, plane.url, options)
  if ((await waitOnline(plane, NAME, Date.now(), ONLINE_LIMIT_MS)) === undefined) throw new Error(agent.output().slice(-600))
  const endpointId = await createProbe(plane)
  const rows: Row[] = []
  for (const [what, before] of Object.entries(PLACES)) rows.push(await startSecond(lab, plane, endpointId, { what, before, options }))
  rows.push(await startTwin(lab, plane, endpointId, options))
  return rows
}

/** A second agent on the same directory must be refused, and the first one goes on. */
async function startSecond(
  lab: Lab,
  plane: Plane,
  endpointId: string,
  { what, before, options }: { what: string; before: readonly string[]; options: AgentOptions },
): Promise<Row> {
  const load = new Load(lab, plane, endpointId, { clients: 1, pauseMs: 100, sleepMs: JOB_MS }).start()
  const startedAt = performance.now()
  const second = startAgent(lab, plane.url, { ...options, within: before })
  const hasEnded = await within(REFUSAL_LIMIT_MS, () => !second.isRunning())
  const tookMs = performance.now() - startedAt
  const text = second.output()
  await end(lab, second)
  await load.stop()
  const outcome = await load.waitForEnds(FINISH_LIMIT_MS)
  return {
    what,
    tried: `1, ${outcome.acknowledged} jobs`,
    lost: outcome.lost,
    duplicated: outcome.duplicated,
    wrong: faultsOf(wrongOf(outcome), {
      'it runs too': !hasEnded,
      'no clear text': !!hasEnded && !text.includes('is in use by another agent'),
    }),
    recovered: hasEnded ? `refused after ${seconds(tookMs)}` : '–',
  }
}

/**
 * The plane cannot distinguish a twin on a copy of the directory: both take the link from each other. No job may be affected, and the
 * operator must be informed.
 */
async function startTwin(lab: Lab, plane: Plane, endpointId: string, options: AgentOptions): Promise<Row> {
  const copy = lab.path('agent.copy')
  cpSync(options.stateDir, copy, { recursive: true, filter: (path) => !/\.sock$|fifo/.test(path) })
  rmSync(join(copy, 'agent.lock'), { force: true })
  const load = new Load(lab, plane, endpointId, { clients: 2, pauseMs: 400, sleepMs: JOB_MS }).start()
  const twin = startAgent(lab, plane.url, { ...options, stateDir: copy })
  await sleep(lab.count(TOGETHER_MS, TOGETHER_MS / 2))
  await load.stop()
  const [host] = await hostsNamed(plane, NAME)
  const changes = host?.linkReplacements?.count ?? 0
  await end(lab, twin)
  const outcome = await load.waitForEnds(FINISH_LIMIT_MS)
  return {
    what: 'same agent identity twice',
    tried: `${outcome.acknowledged} jobs in ${seconds(lab.count(TOGETHER_MS, TOGETHER_MS / 2))}`,
    lost: outcome.lost,
    duplicated: outcome.duplicated,
    wrong: faultsOf(wrongOf(outcome), { 'the host does not say it': changes === 0 }, `${changes} link changes, said in the host`),
    recovered: `drained in ${seconds(outcome.drainMs)}`,
  }
}

/** Ends an agent, also one that runs within another program. */
async function end(lab: Lab, program: Program): Promise<void> {
  program.signal('SIGKILL')
  await program.ended
  lab.say(program.output().trim().split('\n').at(-1)?.slice(0, 200) ?? '')
}
