import { setTimeout as sleep } from 'node:timers/promises'
import { type Lab, within } from '../support/lab.ts'
import { Load } from '../support/load.ts'
import { createQueue, freePort, launchPlane, type Plane, startPlane } from '../support/plane.ts'
import { faultsOf, type Row, seconds } from '../support/report.ts'

const REFUSAL_LIMIT_MS = 30_000
const BESIDE_MS = 5_000
const CLIENTS = 2
/** Command prefixes of the second plane: none, and a new pid namespace, as in a container that shares the volume. */
const PLACES = {
  'second plane on one data dir': [],
  'second plane on one data dir, from another pid namespace': ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'],
}

/** Starts a second plane on the data directory of a running one. */
export async function measureTwoPlanes(lab: Lab): Promise<Row[]> {
  const first = await startPlane(lab, { dataDir: lab.path('data'), port: await freePort(), args: ['--no-agent'] })
  const endpointId = await createQueue(first)
  const rows: Row[] = []
  for (const [what, before] of Object.entries(PLACES)) rows.push(await startSecond(lab, first, endpointId, { what, before }))
  return rows
}

async function startSecond(
  lab: Lab,
  first: Plane,
  endpointId: string,
  { what, before }: { what: string; before: readonly string[] },
): Promise<Row> {
  const load = new Load(lab, first, endpointId, { clients: CLIENTS, pauseMs: 20 }).start()
  const startedAt = performance.now()
  const second = launchPlane(lab, { ...first.options, port: await freePort(), within: before })
  const hasEnded = await within(REFUSAL_LIMIT_MS, () => !second.isRunning())
  const tookMs = performance.now() - startedAt
  const runtimes = lab.runtimes().length
  await sleep(BESIDE_MS)
  await load.stop()
  const text = second.output()
  lab.say(`${what}: ${text.trim().split('\n').at(-1)?.slice(0, 200) ?? ''}`)
  second.signal('SIGKILL')
  const { lost, errors } = await load.lookUp(first)
  return {
    what,
    tried: `1, ${load.acknowledged.size} submits to the first`,
    lost,
    wrong: faultsOf(
      { count: 0 },
      {
        'it runs too': !hasEnded || runtimes > 1,
        'no clear text': !!hasEnded && !text.includes('is in use by another podplane'),
        [`submits answered ${load.answersText()}`]: [...load.answers.keys()].some((status) => status !== 200),
        [`status answered ${[...errors.keys()].join(', ')}`]: errors.size > 0,
        'the first has ended': !first.program.isRunning(),
      },
    ),
    recovered: hasEnded ? `refused after ${seconds(tookMs)}` : '–',
  }
}
