import { join } from 'node:path'
import { test } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import { ReportQueue, type SendResult } from '../../../src/host-agent/plane/report-queue.ts'
import type { WorkloadReport } from '../../../src/host-protocol/messages.ts'
import { waitUntil } from '../../support/time.ts'
import { tempDir } from '../support/temp-dir.ts'

function report(workloadId: string, sequence: number): WorkloadReport {
  return { workloadId, state: 'running', exitCode: null, reason: null, at: 1, sequence }
}

function queueWith(path: string, send: (reports: WorkloadReport[]) => SendResult): ReportQueue {
  return new ReportQueue({ path, send: async (reports) => send(reports), log: silentLog(), retryBaseMs: 1 })
}

function freshPath(): string {
  return join(tempDir('report-queue'), 'reports.json')
}

test('a report is repeated until it is accepted, in order', async ({ expect }) => {
  const seen: number[] = []
  let refusals = 3
  const queue = queueWith(freshPath(), (reports) => {
    if (refusals-- > 0) return 'later'
    seen.push(...reports.map(({ sequence }) => sequence))
    return 'taken'
  })
  for (const sequence of [1, 2, 3]) queue.push(report('a', sequence))
  queue.start()
  await waitUntil('delivery', () => seen.length === 3)
  expect(seen).toEqual([1, 2, 3])
  await queue.close(100)
})

test('reports that were not accepted survive a restart', async ({ expect }) => {
  const path = freshPath()
  const first = queueWith(path, () => 'later')
  first.start()
  first.push(report('a', 1))
  first.push(report('b', 1))
  await first.close(20)

  const seen: string[] = []
  const second = queueWith(path, (reports) => {
    seen.push(...reports.map(({ workloadId }) => workloadId))
    return 'taken'
  })
  expect(second.holdsReportOf('b')).toBe(true)
  second.start()
  await second.close(1_000)
  expect(seen).toEqual(['a', 'b'])
  expect(queueWith(path, () => 'taken').holdsReportOf('a')).toBe(false)
})

test('one refused report does not fail the others of its batch', async ({ expect }) => {
  const seen: string[] = []
  const queue = queueWith(freshPath(), (reports) => {
    if (reports.some(({ workloadId }) => workloadId === 'bad')) return 'refused'
    seen.push(...reports.map(({ workloadId }) => workloadId))
    return 'taken'
  })
  for (const id of ['a', 'bad', 'b']) queue.push(report(id, 1))
  queue.start()
  await queue.close(1_000)
  expect(seen).toEqual(['a', 'b'])
})
