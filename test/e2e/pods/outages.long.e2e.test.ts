import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { realTime } from '../../support/time.ts'
import { countScript, numbersIn, upTo } from '../support/agent/pod-scripts.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { Fleet } from '../support/plane/fleet.ts'
import { type ContainerFacts, GPU_TYPE, podBody, TestPod } from '../support/plane/pods.ts'
import { readUsage } from '../support/plane/usage.ts'

// Pods while their agent or their plane is down: nothing dies, no line and no second is lost.

const HOST = 'steady'
const OUTAGE_MS = 60_000
/** First the plane hangs, then it is down. */
const HANGING_MS = 30_000
const SECOND_MS = 1_000
const EVERY_MS = 100

describe('pods without their agent or their plane', () => {
  let fleet: Fleet
  let image: string
  beforeAll(async () => {
    image = await busyboxImage()
    fleet = await Fleet.start({ hosts: { [HOST]: { simulateGpus: `${GPU_TYPE}:8`, onExit: 'keep' } } })
  })
  afterAll(() => fleet?.stop())

  test('[HOST-61][SCALE-8] the agent is killed and restarted: the container is adopted, no line is lost or duplicated, charges continue', async () => {
    const count = 100
    const pod = await TestPod.run(fleet.plane, podBody(image, countScript({ count, everyMs: EVERY_MS })))
    const before = await pod.container()
    const log = pod.log()
    await log.waitFor((lines) => lines.includes('line 20'))
    const statuses = watchStatus(pod)
    await fleet.agent(HOST).kill('SIGKILL')
    await log.waitFor((lines) => lines.includes('line 20'))
    await fleet.startHost(HOST)
    await log.waitFor((lines) => lines.includes(`line ${count}`))
    expect(await statuses.end()).toEqual(['RUNNING'])
    expect(isSameRun(await pod.container(), before)).toBe(true)
    expect(numbersIn(log.lines())).toEqual(upTo(count))
    log.close()
    expect(readUsage(fleet.plane, pod.id)).toEqual([])
    const stoppedAtMs = Date.now()
    await pod.act('stop')
    const [row, ...others] = readUsage(fleet.plane, pod.id)
    expect(others).toEqual([])
    expect(Math.abs((row?.startedAt ?? 0) - Date.parse(before.State.StartedAt))).toBeLessThanOrEqual(SECOND_MS)
    expect(row?.endedAt).toBeGreaterThanOrEqual(stoppedAtMs)
    await pod.terminate()
    await fleet.hasFreeGpus(HOST, GPU_TYPE, 8)
  })

  test('[HOST-12][HOST-60][POD-19] the plane is down for a minute, hanging first: nothing dies, and every line and every second counts once', async () => {
    const count = 800
    const endsAt = 400
    const [first, second, ending] = await Promise.all([
      TestPod.run(fleet.plane, podBody(image, countScript({ count, everyMs: EVERY_MS }))),
      TestPod.run(fleet.plane, podBody(image, countScript({ count, everyMs: EVERY_MS }))),
      TestPod.run(fleet.plane, podBody(image, countScript({ count: endsAt, everyMs: EVERY_MS, exitCode: 0 }))),
    ])
    const before = await Promise.all([first.container(), second.container()])
    await Promise.all(
      [first, second, ending].map(async (pod) => {
        const log = pod.log()
        await log.waitFor((lines) => lines.includes('line 10'))
        log.close()
      }),
    )

    const processes = [fleet.plane.pid, ...runtimesOf(fleet.plane.pid)]
    for (const pid of processes) process.kill(pid, 'SIGSTOP')
    const awaySinceMs = Date.now()
    await realTime(HANGING_MS, 'the plane hangs')
    for (const pid of processes) process.kill(pid, 'SIGKILL')
    await fleet.plane.ended
    await realTime(OUTAGE_MS - (Date.now() - awaySinceMs), 'the plane is dead')
    fleet.plane = await fleet.plane.restart()
    const backAtMs = Date.now()

    // The pod that ended by itself meanwhile: its own end time counts, not the time of the report.
    const over = await ending.on(fleet.plane).reaches('EXITED')
    const { State } = await ending.container()
    expect(Date.parse(State.FinishedAt)).toBeGreaterThan(awaySinceMs)
    expect(Date.parse(State.FinishedAt)).toBeLessThan(backAtMs)
    expect(over.statusReason).toMatch(/exited with code 0/)
    const [row, ...others] = readUsage(fleet.plane, ending.id)
    expect(others).toEqual([])
    expect(Math.abs((row?.startedAt ?? 0) - Date.parse(State.StartedAt))).toBeLessThanOrEqual(SECOND_MS)
    expect(Math.abs((row?.endedAt ?? 0) - Date.parse(State.FinishedAt))).toBeLessThanOrEqual(SECOND_MS)

    // The other pods were not affected.
    const pods = [first, second].map((pod) => pod.on(fleet.plane))
    for (const [index, pod] of pods.entries()) {
      expect((await pod.get()).status).toBe('RUNNING')
      expect(isSameRun(await pod.container(), before[index])).toBe(true)
      expect(readUsage(fleet.plane, pod.id)).toEqual([])
    }
    for (const [index, pod] of [...pods, ending.on(fleet.plane)].entries()) {
      const last = index < pods.length ? count : endsAt
      const log = pod.log()
      await log.waitFor((lines) => lines.includes(`line ${last}`))
      expect(numbersIn(log.lines())).toEqual(upTo(last))
      log.close()
    }
    await Promise.all([...pods, ending.on(fleet.plane)].map((pod) => pod.terminate()))
    for (const [index, pod] of pods.entries()) {
      const [interval, ...more] = readUsage(fleet.plane, pod.id)
      expect(more).toEqual([])
      expect(Math.abs((interval?.startedAt ?? 0) - Date.parse(before[index]?.State.StartedAt ?? ''))).toBeLessThanOrEqual(SECOND_MS)
      expect(interval?.endedAt).toBeGreaterThan(backAtMs)
    }
    await fleet.hasFreeGpus(HOST, GPU_TYPE, 8)
  }, 240_000)
})

/** Every status that a pod shows until `end()` is called, repeats left out. */
function watchStatus(pod: TestPod): { end(): Promise<string[]> } {
  const seen: string[] = []
  let watching = true
  const watch = async () => {
    while (watching) {
      const { status } = await pod.get()
      if (seen.at(-1) !== status) seen.push(status)
      await realTime(EVERY_MS, 'the status is looked at again and again')
    }
  }
  const watched = watch()
  return {
    async end() {
      watching = false
      await watched
      return seen
    },
  }
}

/** Processes of the runtime that a launcher started. */
function runtimesOf(launcher: number): number[] {
  const children = execFileSync('ps', ['-o', 'pid=,comm=', '--ppid', String(launcher)], { encoding: 'utf8' })
  return children
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([pid, name]) => (name === 'workerd' ? [Number(pid)] : []))
}

/** Whether a container continued without a stop or a start in between. */
function isSameRun(now: ContainerFacts, before: ContainerFacts | undefined): boolean {
  return now.Id === before?.Id && now.State.StartedAt === before.State.StartedAt && now.State.Status === 'running'
}
