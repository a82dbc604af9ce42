import { test } from 'vitest'
import { compareVersions } from '../../../src/host-agent/docker/client.ts'

test('versions compare by number', ({ expect }) => {
  expect(compareVersions('1.9', '1.41')).toBeLessThan(0)
  expect(compareVersions('1.44', '1.44')).toBe(0)
})
