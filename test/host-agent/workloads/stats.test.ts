import { describe, test } from 'vitest'
import { parseGpuUse } from '../../../src/host-agent/gpus/nvidia/use.ts'
import { silentLog } from '../../../src/host-agent/log.ts'
import type { Usage } from '../../../src/host-agent/runtime.ts'
import { StatsCollector, type StatsDeps } from '../../../src/host-agent/workloads/stats.ts'

const usage = (change: Partial<Usage> = {}): Usage => ({ cpuNanos: 0, memoryBytes: 25, memoryLimitBytes: 100, gpuIds: [], ...change })

function open(read: (id: string) => Promise<Usage | undefined>, change: Partial<StatsDeps> = {}, ids = ['a']) {
  const clock = { nowMs: 0 }
  const running = () => ids.map((id) => ({ id, vcpus: 2, read: () => read(id) }))
  const collector = new StatsCollector({ running, readGpus: async () => new Map(), log: silentLog(), now: () => clock.nowMs, ...change })
  return { clock, collector }
}

describe('stats of pods', () => {
  test('[HOST-63] CPU is the use between two readings relative to the allocation; memory is relative to the limit', async ({ expect }) => {
    const readings = [usage({ cpuNanos: 1e9 }), usage({ cpuNanos: 6e9, memoryBytes: 50 }), usage({ cpuNanos: 60e9, memoryBytes: 200 })]
    const { clock, collector } = open(async () => readings.shift())
    await collector.collect()
    const sizes = { memoryBytes: 25, memoryLimitBytes: 100 }
    expect(collector.latest()).toEqual([{ id: 'a', memory: 25, ...sizes }])
    clock.nowMs = 5_000
    await collector.collect()
    expect(collector.latest()).toEqual([{ id: 'a', cpu: 50, memory: 50, ...sizes, memoryBytes: 50 }])
    clock.nowMs = 10_000
    await collector.collect()
    expect(collector.latest()).toEqual([{ id: 'a', cpu: 100, memory: 100, ...sizes, memoryBytes: 200 }])
  })

  test('[HIS-11] waiting for a CPU is reported as a share of the time; a falling or unknown total is not reported', async ({ expect }) => {
    const totals = [1e9, 2e9, 0.5e9, undefined, 9e9, 99e9]
    const { clock, collector } = open(async () => usage({ cpuWaitNanos: totals.shift() }))
    const reported: (number | undefined)[] = []
    for (let round = 0; round < 6; round += 1) {
      await collector.collect()
      reported.push(collector.latest()[0]?.cpuWaiting)
      clock.nowMs += 5_000
    }
    expect(reported).toEqual([undefined, 20, undefined, undefined, undefined, 100])
  })

  test('GPUs are read only where a workload has real ones', async ({ expect }) => {
    let asked = 0
    const readGpus = async () => {
      asked += 1
      return parseGpuUse('GPU-1, 40, 7\nGPU-2, [N/A], 3\n')
    }
    const none = open(async () => usage(), { readGpus })
    await none.collector.collect()
    expect(asked).toBe(0)
    const some = open(async () => usage({ gpuIds: ['GPU-1', 'GPU-2'] }), { readGpus })
    await some.collector.collect()
    const gpus = [{ util: 40, memoryUtil: 7 }]
    expect(some.collector.latest()).toEqual([{ id: 'a', memory: 25, memoryBytes: 25, memoryLimitBytes: 100, gpus, gpuCount: 2 }])
  })

  test('[HOST-63] a reading that never ends is abandoned, and the others continue', async ({ expect }) => {
    const reads = new Map<string, () => Promise<Usage>>([['a', () => new Promise(() => {})]])
    const { collector } = open((id) => reads.get(id)?.() ?? Promise.resolve(usage()), { readWithinMs: 5 }, ['a', 'b'])
    await collector.collect()
    expect(collector.latest()).toMatchObject([{ id: 'b', memory: 25 }])
    reads.clear()
    await collector.collect()
    expect(collector.latest().map(({ id }) => id)).toEqual(['a', 'b'])
  })

  test('[HOST-63] a slow engine gets four requests at a time, and never the same one twice at once', async ({ expect }) => {
    const waiting: (() => void)[] = []
    const read = () => new Promise<Usage>((resolve) => waiting.push(() => resolve(usage())))
    const { collector } = open(read, {}, ['a', 'b', 'c', 'd', 'e', 'f'])
    const collecting = collector.collect()
    await collector.collect()
    expect(waiting).toHaveLength(4)
    expect(collector.latest()).toEqual([])
    while (waiting.length > 0) {
      waiting.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    await collecting
    expect(collector.latest()).toHaveLength(6)
  })

  test('[HIS-10] traffic of networks and disks is reported as rates; a counter that begins anew has none', async ({ expect }) => {
    const traffic = (received: number, written: number) => usage({ traffic: { received, written, sent: undefined } })
    const readings = [traffic(1_000, 50), traffic(6_000, 10), traffic(6_000, 1_010)]
    const { clock, collector } = open(async () => readings.shift())
    const rates: unknown[] = []
    for (const nowMs of [0, 5_000, 15_000]) {
      clock.nowMs = nowMs
      await collector.collect()
      const [{ receivedPerSecond, sentPerSecond, writtenPerSecond } = {}] = collector.latest()
      rates.push({ receivedPerSecond, sentPerSecond, writtenPerSecond })
    }
    expect(rates).toEqual([{}, { receivedPerSecond: 1_000 }, { receivedPerSecond: 0, writtenPerSecond: 100 }])
  })

  test('[HIS-10] the machine reports itself and all its GPUs; a failing driver affects nothing else', async ({ expect }) => {
    const lines = 'GPU-1, 40, 7, 3, 1024, 24576, 61, 210.5\nGPU-2, 0, 0, 4, [N/A], 24576, [N/A], [Not Supported]\n'
    const answers = [async () => parseGpuUse(lines), async () => Promise.reject(new Error('driver'))]
    const readGpus = () => answers.shift()?.() ?? Promise.reject(new Error('no more'))
    const { collector } = open(async () => usage(), { readGpus, readMachine: () => ({ cpu: 9 }), machineHasGpus: true })
    await collector.collect()
    const limit = 24_576 * 2 ** 20
    expect(collector.forBeat().machine).toEqual({
      cpu: 9,
      gpus: [
        { index: 3, util: 40, memoryUtil: 7, memoryBytes: 2 ** 30, memoryLimitBytes: limit, temperatureCelsius: 61, powerWatts: 210.5 },
        { index: 4, util: 0, memoryUtil: 0, memoryLimitBytes: limit },
      ],
    })
    await collector.collect()
    expect(collector.forBeat()).toMatchObject({ machine: { cpu: 9, gpus: [] }, stats: [{ id: 'a', memory: 25 }] })
  })

  test('old readings are not reported, and a failed one leaves out only its pod', async ({ expect }) => {
    const read = async (id: string) => (id === 'b' ? Promise.reject(new Error('no such container')) : usage())
    const { clock, collector } = open(read, {}, ['a', 'b'])
    await collector.collect()
    clock.nowMs = 20_000
    expect(collector.latest()).toMatchObject([{ id: 'a' }])
    clock.nowMs = 20_001
    expect(collector.latest()).toEqual([])
  })
})
