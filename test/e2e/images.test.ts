import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../src/local/paths.ts'
import { hasImage } from './support/docker.ts'
import { busyboxImage, pythonClient, pythonClientGenerator, pythonWorkerImage, sshPodImage } from './support/worker-image.ts'

// Images and clients of the end-to-end tests, from nothing but Debian's packages and the Python index; a second run finds them there.

const PYTHON = /\/bin\/python$/
const EXAMPLE = join(PROJECT_ROOT, 'examples/openai-worker')

test.concurrent('the client and the images that run it are there', async () => {
  expect(await pythonClient()).toMatch(PYTHON)
  // One after the other: all but the first stand on one base.
  const images = [await busyboxImage(), await pythonWorkerImage(), await pythonWorkerImage(EXAMPLE), await sshPodImage()]
  for (const image of images) expect(await hasImage(image), image).toBe(true)
})

test.concurrent('the generator of clients is there', async () => {
  expect(await pythonClientGenerator()).toMatch(PYTHON)
})
