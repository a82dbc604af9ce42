import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../src/local/paths.ts'
import { hasImage } from './support/docker.ts'
import { busyboxImage, pythonClient, pythonWorkerImage, sshPodImage } from './support/worker-image.ts'

// Images and clients of the end-to-end tests, from nothing but Debian's packages and the Python index; a second run finds them there.

test('the images of workers and pods are there', async () => {
  const images = [
    await busyboxImage(),
    await pythonWorkerImage(),
    await pythonWorkerImage(join(PROJECT_ROOT, 'examples/openai-worker')),
    await sshPodImage(),
  ]
  for (const image of images) expect(await hasImage(image), image).toBe(true)
  expect(await pythonClient()).toMatch(/\/bin\/python$/)
})
