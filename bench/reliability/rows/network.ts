import { setTimeout as sleep } from 'node:timers/promises'
import { startAgent, waitOnline } from '../support/agent.ts'
import { type Lab, within } from '../support/lab.ts'
import { Load, wrongOf } from '../support/load.ts'
import { call, createProbe, freePort, must, startPlane } from '../support/plane.ts'
import { HostileProxy, type Trouble } from '../support/proxy.ts'
import { Receiver } from '../support/receiver.ts'
import { faultsOf, type Row, seconds } from '../support/report.ts'

const NAME = 'far'
const ONLINE_LIMIT_MS = 40_000
const FINISH_LIMIT_MS = 240_000
const WEBHOOK_LIMIT_MS = 60_000
const TROUBLES: readonly Trouble[] = ['delay', 'fragments', 'cut', 'half-close', 'duplicate']
const CALM_MS = 3_000
const BLACK_HOLE_MS = 25_000
const CHECK_MS = 500

/** Agent, workers and half of the clients reach the plane through a network that delays, fragments, cuts, repeats and drops. */
export async function measureNetwork(lab: Lab): Promise<Row[]> {
  const receiver = await Receiver.open(lab)
  const plane = await startPlane(lab, { dataDir: lab.path('plane'), port: await freePort(), args: ['--no-agent'] })
  const proxy = await HostileProxy.open(lab, plane.options.port)
  const far = { ...plane, url: proxy.url }
  const { token } = await must(plane.url, plane.operatorKey, 'POST', '/admin/v1/join-tokens', { name: NAME })
  const agent = startAgent(lab, proxy.url, { name: NAME, stateDir: lab.path('agent'), token: String(token) })
  if ((await waitOnline(plane, NAME, Date.now(), ONLINE_LIMIT_MS)) === undefined) throw new Error(agent.output().slice(-600))
  const endpointId = await createProbe(plane)
  const pod = await must(plane.url, plane.apiKey, 'POST', '/v2/pods', { name: 'box', image: 'builtin/idle', gpu: { id: 'NVIDIA L4' } })
  const podStatus = async () =>
    String((await call(plane.url, plane.apiKey, 'GET', `/v2/pods/${String(pod.id)}`, undefined, { timeoutMs: 3_000 })).body.status)
  if (!(await within(ONLINE_LIMIT_MS, async () => (await podStatus()) === 'RUNNING'))) throw new Error('the pod does not run')
  const common = { pauseMs: 80, sleepMs: 20, webhook: receiver.url, timeoutMs: 8_000 }
  const near = new Load(lab, plane, endpointId, { ...common, clients: 2 }).start()
  // A network may send a POST twice; only an Idempotency-Key makes one job of it.
  const keyed = new Load(lab, far, endpointId, { ...common, clients: 2, firstNumber: 1_000_000, keyed: true, keyedEvery: 1 }).start()

  const statuses = new Map<string, number>()
  const watch = async (ms: number) => {
    for (const until = performance.now() + ms; performance.now() < until; await sleep(CHECK_MS)) {
      const status = await podStatus()
      if (status !== 'RUNNING') statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  for (const trouble of TROUBLES) {
    proxy.set(trouble)
    await watch(lab.count(25_000, 6_000))
    lab.say(`${trouble}: ${near.acknowledged.size} and ${keyed.acknowledged.size} acknowledged`)
    proxy.set('none')
    await watch(CALM_MS)
  }
  proxy.set('black hole')
  await watch(BLACK_HOLE_MS)
  proxy.set('none')
  await watch(CALM_MS)
  await Promise.all([near.stop(), keyed.stop()])
  const outcomes = [await near.waitForEnds(FINISH_LIMIT_MS), await keyed.waitForEnds(FINISH_LIMIT_MS)] as const
  const ids = [...near.acknowledged.keys(), ...keyed.acknowledged.keys()]
  await within(WEBHOOK_LIMIT_MS, () => receiver.judge(ids).missing === 0)
  const hooks = receiver.judge(ids)
  const { cuts, halfCloses, duplicates } = proxy.counts
  const notes = outcomes.map((outcome) => wrongOf(outcome))
  const podNote = [...statuses].map(([status, count]) => `${count} looks at the pod: ${status}`).join(', ')
  return [
    {
      what: `network agent ↔ plane: 500 ms delay, 7-byte fragments, ${cuts} cuts, ${halfCloses} half-closes, ${duplicates} duplicated POSTs, 25 s black hole`,
      tried: `${ids.length} jobs, ${ids.length} webhooks, 1 pod`,
      lost: outcomes[0].lost + outcomes[1].lost + hooks.missing,
      duplicated: outcomes[0].duplicated + outcomes[1].duplicated + receiver.doubledInputs() + hooks.doubled,
      wrong: faultsOf(
        {
          count: notes.reduce((sum, { count }) => sum + count, 0),
          note: notes
            .map(({ note }) => note)
            .filter(Boolean)
            .join(', '),
        },
        { [podNote]: statuses.size > 0 },
        `the pod stayed RUNNING; ${hooks.repeats} webhooks again with the same id`,
      ),
      recovered: `drained in ${seconds(outcomes[0].drainMs + outcomes[1].drainMs)}`,
    },
  ]
}
