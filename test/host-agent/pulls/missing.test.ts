import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { missingOfImages } from '../../../src/host-agent/pulls/missing.ts'
import { tempDir } from '../support/temp-dir.ts'

test('[HOST-98] [HOST-99] a host reports that its images are public, and disks whose use can fill another', () => {
  const stateDir = tempDir('missing')
  const volumeDir = join(stateDir, 'volumes')
  mkdirSync(volumeDir)
  const own = { localImages: false, stateDir, volumeDir }
  expect(missingOfImages({ ...own, localImages: true }, stateDir)).toEqual([
    "images: every tenant may run what lies in the container engine's store (--local-images)",
    "disks: the container engine's data and the agent's state, the container engine's data and persistent volumes, " +
      "persistent volumes and the agent's state share a file system, so one can fill the other",
  ])
  expect(missingOfImages(own, join(stateDir, 'not-seen-from-here'))).toEqual([
    "disks: persistent volumes and the agent's state share a file system, so one can fill the other",
  ])
  // A file system of the kernel's own, on every machine.
  const other = '/proc'
  expect(existsSync(other)).toBe(true)
  expect(missingOfImages({ ...own, volumeDir: other }, '/sys')).toEqual([])
})
