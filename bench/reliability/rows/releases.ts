import { type AgentOptions, startAgent, waitOnline } from '../support/agent.ts'
import { type Lab, within } from '../support/lab.ts'
import { Load, wrongOf } from '../support/load.ts'
import { call, createProbe, freePort, must, startPlane } from '../support/plane.ts'
import { previousRelease } from '../support/release.ts'
import { faultsOf, type Row, seconds } from '../support/report.ts'

const JOBS = 10
const JOB_MS = 200
const ONLINE_LIMIT_MS = 60_000
const FINISH_LIMIT_MS = 60_000

/** Runs agents of the previous release with this plane, and agents of this release with a plane of the previous one. */
export async function measureReleases(lab: Lab): Promise<Row[]> {
  const cwd = previousRelease(lab)
  return [
    await measurePair(lab, 'old agent, new plane', {}, { cwd, flags: ['--runtime', 'process'] }),
    await measurePair(lab, 'new agent, old plane', { cwd }, {}),
  ]
}

async function measurePair(lab: Lab, what: string, planeOptions: { cwd?: string }, agentOptions: Partial<AgentOptions>): Promise<Row> {
  const name = what.replaceAll(/\W+/g, '-')
  const options = { ...planeOptions, dataDir: lab.path(`plane-${name}`), port: await freePort(), args: ['--no-agent'] }
  const plane = await startPlane(lab, options)
  const { token } = await must(plane.url, plane.operatorKey, 'POST', '/admin/v1/join-tokens', { name })
  const startedAt = performance.now()
  const agent = startAgent(lab, plane.url, { ...agentOptions, name, stateDir: lab.path(`agent-${name}`), token: String(token) })
  const isOnline = await waitOnline(plane, name, Date.now(), ONLINE_LIMIT_MS, agent)
  if (isOnline === undefined) {
    const text = agent.output().trim().split('\n').at(-1)?.slice(0, 200) ?? ''
    await lab.killAll()
    return { what, tried: '1 agent', wrong: { count: 1, note: `it does not come online: ${text}` }, recovered: 'never' }
  }
  const onlineMs = performance.now() - startedAt
  const load = new Load(lab, plane, await createProbe(plane), { clients: 1, sleepMs: JOB_MS })
  for (let number = 0; number < JOBS; number += 1) await load.submit(number)
  const pod = await must(plane.url, plane.apiKey, 'POST', '/v2/pods', { name: 'box', image: 'builtin/idle', gpu: { id: 'NVIDIA L4' } })
  const path = `/v2/pods/${String(pod.id)}`
  const reaches = async (status: string) =>
    (await within(FINISH_LIMIT_MS, async () => (await call(plane.url, plane.apiKey, 'GET', path)).body.status === status)) === true
  const outcome = await load.waitForEnds(FINISH_LIMIT_MS)
  const hasRun = await reaches('RUNNING')
  await call(plane.url, plane.apiKey, 'POST', `${path}/action`, { action: 'stop' })
  const hasStopped = await reaches('EXITED')
  await lab.killAll()
  return {
    what,
    tried: `${outcome.acknowledged} jobs, 1 pod`,
    lost: outcome.lost,
    duplicated: outcome.duplicated,
    wrong: faultsOf(wrongOf(outcome), { 'the pod does not run': !hasRun, 'the pod does not stop': !hasStopped }),
    recovered: `online after ${seconds(onlineMs)}`,
  }
}
