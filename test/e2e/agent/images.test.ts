import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { busyboxImage, pythonClient, pythonClientGenerator, pythonWorkerImage, sshPodImage } from '../support/agent/worker-image.ts'
import { hasImage } from '../support/machines/docker.ts'

// Builds images and clients of the end-to-end tests from Debian's packages and the Python index alone; a second run finds them in the
// cache.

const PYTHON = /\/bin\/python$/
const EXAMPLE = join(PROJECT_ROOT, 'examples/openai-worker')

test.concurrent('the client and the images that run it exist', async () => {
  const client = pythonClient()
  // One after the other: all but the first share one base, which is unpacked while the client is installed.
  const images = [await busyboxImage(), await pythonWorkerImage(), await pythonWorkerImage(EXAMPLE), await sshPodImage()]
  expect(await client).toMatch(PYTHON)
  for (const image of images) expect(await hasImage(image), image).toBe(true)
})

test.concurrent('the generator of clients exists', async () => {
  expect(await pythonClientGenerator()).toMatch(PYTHON)
})
