import { availableParallelism } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { judgeIdle } from '../../../src/domain/history/idle.ts'
import { readCpuWaitNanos } from '../../../src/host-agent/machine/cpu-waiting.ts'
import { statsOf } from '../../../src/host-agent/workloads/stats.ts'
import { realTime } from '../../support/time.ts'
import { busyboxImage } from '../support/agent/worker-image.ts'
import { docker } from '../support/machines/docker.ts'

// Containers on one CPU: one that takes nearly all of it, one that is ready to run and gets next to nothing, and one that sleeps.

const CPU = String(availableParallelism() - 1)
const WORK = 'while :; do :; done'
const SPAN_MS = 5_000
const containers: string[] = []

async function run(shares: string, script: string): Promise<number> {
  const image = await busyboxImage()
  const flags = ['--detach', '--network', 'none', '--cpuset-cpus', CPU, '--cpu-shares', shares, '--entrypoint', '/bin/busybox']
  const id = await docker('run', ...flags, image, 'sh', '-c', script)
  containers.push(id)
  return Number(await docker('inspect', '--format', '{{.State.Pid}}', id))
}

let starved: number
let idle: number
beforeAll(async () => {
  starved = await run('64', WORK)
  idle = await run('64', 'busybox sleep 1000')
  // Started last: beside it no other container could start.
  await run('2048', WORK)
})
afterAll(async () => {
  for (const id of containers.toReversed()) await docker('rm', '--force', id)
})

test('[HIS-11] a program that waits for CPU on a busy machine is not idle; one that sleeps is', async () => {
  const read = (pid: number) => ({
    usage: { cpuNanos: 0, cpuWaitNanos: readCpuWaitNanos(pid), memoryBytes: 0, memoryLimitBytes: 0, gpuIds: [] },
    atMs: performance.now(),
  })
  const before = [starved, idle].map(read)
  await realTime(SPAN_MS, 'what is measured is a share of it')
  const [waits, sleeps] = [starved, idle].map(read).map((reading, index) => statsOf('p', 1, before[index], reading, new Map()))
  // The waiting time as if neither had got any CPU at all.
  expect(waits?.cpuWaiting).toBeGreaterThan(50)
  expect(sleeps?.cpuWaiting).toBeLessThan(10)
  expect([waits, sleeps].map((stats) => stats && judgeIdle(stats))).toEqual([false, true])
})
