import { test } from 'vitest'
import { compareVersions, ownLabels } from '../../../src/host-agent/docker/engine/client.ts'

test('versions compare by number', ({ expect }) => {
  expect(compareVersions('1.9', '1.41')).toBeLessThan(0)
  expect(compareVersions('1.44', '1.44')).toBe(0)
})

test('[C2][HOST-70] only the labels of the agent are read, whichever an image has', ({ expect }) => {
  const big = { maintainer: 'x'.repeat(10_000_000), 'podplane.host': 'h', 'podplane.workload': 'w', 'podplane.x': 'x'.repeat(1_000_000) }
  expect(ownLabels(big)).toEqual({ 'podplane.host': 'h', 'podplane.workload': 'w' })
  expect(ownLabels(undefined)).toEqual({})
})
