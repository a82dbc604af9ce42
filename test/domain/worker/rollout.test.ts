import { expect, test } from 'vitest'
import { rolloutOf } from '../../../src/domain/worker/rollout.ts'

test.each([
  [[], { inProgress: false, workersOnLatest: 0, workersTotal: 0, percentOnLatest: 0 }],
  [[1, 1, 1], { inProgress: true, workersOnLatest: 0, workersTotal: 3, percentOnLatest: 0 }],
  [[1, 2, 2], { inProgress: true, workersOnLatest: 2, workersTotal: 3, percentOnLatest: 66 }],
  [[...Array<number>(199).fill(2), 1], { inProgress: true, workersOnLatest: 199, workersTotal: 200, percentOnLatest: 99 }],
  [[2, 2], { inProgress: false, workersOnLatest: 2, workersTotal: 2, percentOnLatest: 100 }],
])('[END-14, END-30] workers on releases %j', (versions, rollout) => {
  expect(rolloutOf(versions, 2)).toEqual(rollout)
})
