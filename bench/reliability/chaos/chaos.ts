import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitOnline } from '../support/agent.ts'
import { type Lab, within } from '../support/lab.ts'
import { Load, wrongOf } from '../support/load.ts'
import { call, createProbe, must } from '../support/plane.ts'
import { Receiver } from '../support/receiver.ts'
import { faultsOf, type Row, seconds, span } from '../support/report.ts'
import type { Blow } from './draw.ts'
import { Site } from './site.ts'

const CLIENTS = 3
const BETWEEN_MS = [3_000, 6_000] as const
/** Longest time from the end of a fault to the next acknowledged job. */
const RECOVERY_LIMIT_MS = 120_000
/** A job that has not ended this long after the last fault is late. */
const LATE_MS = 60_000
const DRAIN_LIMIT_MS = 240_000
const ONLINE_LIMIT_MS = 60_000

/** Strikes one plane and its host with faults while jobs are submitted, taken and done, and counts what they cost. */
export class Chaos {
  private readonly lab: Lab

  constructor(lab: Lab) {
    this.lab = lab
  }

  async run(blows: readonly Blow[]): Promise<Row[]> {
    const { lab } = this
    const receiver = await Receiver.open(lab)
    const site = await Site.start(lab)
    if ((await waitOnline(site.plane, site.hostName, Date.now(), ONLINE_LIMIT_MS)) === undefined) throw new Error('the host is not online')
    const endpointId = await createProbe(site.plane)
    const podId = await createPod(site)
    const options = { clients: CLIENTS, pauseMs: 60, sleepMs: 40, webhook: receiver.url, keyed: true, timeoutMs: 5_000 }
    const load = new Load(lab, site.plane, endpointId, options).start()
    const recoveries: number[] = []
    let stuck = 0
    for (const [index, blow] of blows.entries()) {
      await sleep(randomInt(...BETWEEN_MS))
      await site.strike(blow)
      const endedAt = performance.now()
      const isReady = await site.restartPlane()
      const before = load.acknowledged.size
      const isBack = isReady && (await within(RECOVERY_LIMIT_MS, () => load.acknowledged.size > before))
      if (isBack) recoveries.push(performance.now() - endedAt)
      else stuck += 1
      lab.say(`${index + 1} of ${blows.length}: ${blow}; ${load.acknowledged.size} acknowledged${isBack ? '' : '; DOES NOT RECOVER'}`)
    }
    await sleep(BETWEEN_MS[1])
    await load.stop()
    const early = await load.waitForEnds(LATE_MS)
    const outcome = early.stuck > 0 ? await load.waitForEnds(DRAIN_LIMIT_MS) : early
    const webhookRow = await receiver.waitAndCount([...load.acknowledged.keys()])
    const podRuns = await runsAgain(site, podId)
    const drainMs = early.stuck > 0 ? LATE_MS + outcome.drainMs : outcome.drainMs
    return [
      {
        what: `chaos: ${blows.length} faults under submit, take and done`,
        tried: `${outcome.acknowledged} acknowledged`,
        lost: outcome.lost,
        duplicated: outcome.duplicated + receiver.doubledInputs(),
        wrong: faultsOf(
          wrongOf(outcome),
          { [`${stuck} faults without a recovery`]: stuck > 0, 'the pod does not run again': !podRuns },
          `${early.stuck} late`,
        ),
        recovered: `${span(recoveries)} after a fault; drained in ${seconds(drainMs)}`,
      },
      webhookRow,
    ]
  }
}

async function createPod({ plane }: Site): Promise<string> {
  const pod = await must(plane.url, plane.apiKey, 'POST', '/v2/pods', { name: 'box', image: 'builtin/idle', gpu: { id: 'NVIDIA L4' } })
  return String(pod.id)
}

/** Whether the pod runs, or runs after a start: a fault that kills its program ends it (`EXITED`). */
async function runsAgain({ plane }: Site, id: string): Promise<boolean> {
  const status = async () => (await call(plane.url, plane.apiKey, 'GET', `/v2/pods/${id}`)).body.status
  const settled = await within(ONLINE_LIMIT_MS, async () => {
    const seen = await status()
    return (seen === 'RUNNING' || seen === 'EXITED') && { seen }
  })
  if (settled?.seen === 'EXITED') await must(plane.url, plane.apiKey, 'POST', `/v2/pods/${id}/action`, { action: 'start' })
  return settled !== undefined && (await within(ONLINE_LIMIT_MS, async () => (await status()) === 'RUNNING')) === true
}
