import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Lab, type SeenProcess, signalPid, within } from '../support/lab.ts'
import { Load, wrongOf } from '../support/load.ts'
import { createProbe, freePort, GPU_ARGS, launchPlane, readyPlane, startPlane } from '../support/plane.ts'
import { Receiver } from '../support/receiver.ts'
import { type Row, seconds, span } from '../support/report.ts'

const CLIENTS = 3
const BETWEEN_MS = [3_000, 6_000] as const
const STOPPED_MS = [3_000, 15_000] as const
const DRAIN_LIMIT_MS = 240_000
const PING_MS = '2000'

type Blow = 'plane' | 'runtime' | 'agent' | 'worker' | 'all' | 'stop'
const FULL: Readonly<Record<Blow, number>> = { plane: 8, runtime: 4, agent: 4, worker: 7, all: 4, stop: 8 }
const SHORT: Readonly<Record<Blow, number>> = { plane: 1, runtime: 1, agent: 1, worker: 1, all: 1, stop: 1 }

/** Kills and freezes each process in turn while jobs are submitted, taken and done. */
export async function measureCrashes(lab: Lab): Promise<Row[]> {
  const receiver = await Receiver.open(lab)
  const options = { dataDir: lab.path('data'), port: await freePort(), args: GPU_ARGS, env: { WORKER_PING_INTERVAL_MS: PING_MS } }
  let plane = await startPlane(lab, options)
  const endpointId = await createProbe(plane)
  const load = new Load(lab, plane, endpointId, {
    clients: CLIENTS,
    pauseMs: 60,
    sleepMs: 40,
    webhook: receiver.url,
    keyed: true,
    timeoutMs: 5_000,
  }).start()
  const took: number[] = []
  let hung = 0
  const blows = shuffled(Object.entries(lab.isShort ? SHORT : FULL).flatMap(([blow, times]) => Array<Blow>(times).fill(blow as Blow)))
  for (const [index, blow] of blows.entries()) {
    await sleep(randomInt(...BETWEEN_MS))
    await strike(lab, blow, plane.program.pid)
    if (await within(2_000, () => !plane.program.isRunning())) {
      const next = await readyPlane(launchPlane(lab, options), options)
      if (next === undefined) {
        hung += 1
        lab.say('a start hangs; it is killed')
        await lab.killAll()
        plane = await startPlane(lab, options)
      } else {
        took.push(next.readyMs)
        plane = next
      }
    }
    lab.say(`${index + 1} of ${blows.length}: ${blow}; ${load.acknowledged.size} acknowledged`)
  }
  await sleep(BETWEEN_MS[1])
  await load.stop()
  const outcome = await load.waitForEnds(DRAIN_LIMIT_MS)
  const webhookRow = await receiver.waitAndCount([...load.acknowledged.keys()])
  const wrong = wrongOf(outcome)
  return [
    {
      what: 'crash run (SIGKILL of plane, workerd, agent, worker, all at once; SIGSTOP 3–15 s) under submit, take, done',
      tried: `${blows.length} blows, ${outcome.acknowledged} acknowledged`,
      lost: outcome.lost,
      duplicated: outcome.duplicated + receiver.doubledInputs(),
      wrong: { count: wrong.count + hung, note: [wrong.note, hung > 0 ? `${hung} starts hang` : ''].filter(Boolean).join(', ') },
      recovered: `drained in ${seconds(outcome.drainMs)}; starts ${span(took)}`,
    },
    webhookRow,
  ]
}

async function strike(lab: Lab, blow: Blow, launcher: number): Promise<void> {
  const kill = (found: readonly SeenProcess[]) => {
    for (const { pid } of pick(found)) signalPid(pid, 'SIGKILL')
  }
  if (blow === 'plane') signalPid(launcher, 'SIGKILL')
  if (blow === 'runtime') kill(lab.runtimes())
  if (blow === 'agent') kill(lab.agents())
  if (blow === 'worker') kill(lab.workers())
  if (blow === 'all') await lab.killAll()
  if (blow !== 'stop') return
  const [one] = pick([...lab.runtimes(), ...lab.agents(), ...lab.workers()])
  if (one === undefined) return
  signalPid(one.pid, 'SIGSTOP')
  await sleep(randomInt(...STOPPED_MS))
  signalPid(one.pid, 'SIGCONT')
}

function pick<T>(found: readonly T[]): T[] {
  return found.length === 0 ? [] : found.slice(randomInt(found.length)).slice(0, 1)
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
