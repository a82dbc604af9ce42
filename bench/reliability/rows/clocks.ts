import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeClock } from '../support/clock.ts'
import type { Lab } from '../support/lab.ts'
import { Load, wrongOf } from '../support/load.ts'
import { createProbe, createQueue, freePort, GPU_ARGS, type Plane, startPlane } from '../support/plane.ts'
import { type Row, seconds } from '../support/report.ts'

const CLIENTS = 4
const PAUSE_MS = 20
const BEFORE_MS = 5_000
/** A write that waits longer than this, and more than twice as long as without a step, waits because of the clock. */
const PAUSE_LIMIT_MS = 500
/** Watch time in addition to the length of a step, milliseconds; a step of -1 h is watched for `WATCH_MAX_MS` instead. */
const AFTER_MS = 8_000
const WATCH_MAX_MS = 100_000
const LOOKUP = 200
const RUNNING = 5
const RUNNING_MS = 30_000
const HOUR = 3_600

/** The wall clock of the runtime jumps while jobs are submitted, and while jobs run. */
export async function measureClocks(lab: Lab): Promise<Row[]> {
  const rows: Row[] = []
  for (const step of lab.isShort ? [-2, -10, 10] : [-2, -10, -20, -90, 10, 30]) rows.push(await stepUnderSubmits(lab, step))
  rows.push(await stepUnderSubmits(lab, -HOUR, lab.count(WATCH_MAX_MS, 20_000)))
  for (const step of lab.isShort ? [HOUR] : [HOUR, -HOUR]) rows.push(await stepUnderJobs(lab, step))
  return rows
}

async function stepUnderSubmits(lab: Lab, step: number, watchMs = Math.abs(step) * 1_000 + AFTER_MS): Promise<Row> {
  const { plane, clock } = await startWithClock(lab, `submits${step}`, ['--no-agent'])
  const load = new Load(lab, plane, await createQueue(plane), {
    clients: CLIENTS,
    pauseMs: PAUSE_MS,
    timeoutMs: watchMs + AFTER_MS,
  }).start()
  await sleep(BEFORE_MS)
  const usualMs = load.takeGap()
  clock.set(step)
  await sleep(watchMs)
  const gapMs = load.takeGap()
  const isOver = gapMs < watchMs - 1_000
  const ids = [...load.acknowledged.keys()].slice(-LOOKUP)
  const { lost } = isOver ? await load.lookUp(plane, ids) : { lost: 0 }
  await lab.killAll()
  await load.stop()
  const isLong = gapMs > Math.max(PAUSE_LIMIT_MS, 2 * usualMs)
  const note = isLong ? `no write for ${isOver ? '' : 'more than '}${seconds(gapMs)}` : `longest pause ${seconds(gapMs)}`
  lab.say(`clock ${step} s: ${note} (before ${seconds(usualMs)})`)
  return {
    what: `clock ${signed(step)} under submits`,
    tried: `${load.acknowledged.size} acknowledged`,
    lost,
    wrong: { count: isLong ? 1 : 0, note },
    recovered: isOver ? 'by itself' : `not within ${seconds(watchMs)}`,
  }
}

async function stepUnderJobs(lab: Lab, step: number): Promise<Row> {
  const { plane, clock } = await startWithClock(lab, `jobs${step}`, GPU_ARGS)
  const endpointId = await createProbe(plane, { min: RUNNING, max: RUNNING })
  const load = new Load(lab, plane, endpointId, { clients: 1, sleepMs: RUNNING_MS })
  for (let number = 0; number < RUNNING; number += 1) await load.submit(number)
  const running = await load.running(RUNNING)
  clock.set(step)
  const outcome = await load.waitForEnds(RUNNING_MS * 3)
  await lab.killAll()
  lab.say(`clock ${step} s with ${running} jobs running: ${wrongOf(outcome).note || 'all at their end'}`)
  return {
    what: `clock ${signed(step)} while jobs run`,
    tried: `${running} jobs running`,
    lost: outcome.lost,
    wrong: wrongOf(outcome),
    recovered: seconds(outcome.drainMs),
  }
}

async function startWithClock(lab: Lab, name: string, args: readonly string[]): Promise<{ plane: Plane; clock: RuntimeClock }> {
  const clock = new RuntimeClock(lab, name)
  const plane = await startPlane(lab, { dataDir: lab.path(name), port: await freePort(), args, env: clock.env })
  return { plane, clock }
}

function signed(step: number): string {
  const text = Math.abs(step) % HOUR === 0 ? `${Math.abs(step) / HOUR} h` : `${Math.abs(step)} s`
  return `${step < 0 ? '−' : '+'}${text}`
}
