import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { ContainerImages } from '../../../src/host-agent/docker/container-image.ts'
import type { DockerEngine, RegistryAuth } from '../../../src/host-agent/docker/engine.ts'
import { isNamed, repositoryOf, shortImageName } from '../../../src/host-agent/docker/image-names.ts'
import { silentLog } from '../../../src/host-agent/log.ts'
import { tempDir } from '../support/temp-dir.ts'
import { makeWorkload } from '../support/workload.ts'

test('names of images are compared in the short form of the engine', ({ expect }) => {
  expect(shortImageName('nginx')).toBe('nginx:latest')
  expect(shortImageName('docker.io/library/nginx:1.27')).toBe('nginx:1.27')
  expect(shortImageName('localhost:5000/a/b')).toBe('localhost:5000/a/b:latest')
  expect(repositoryOf('localhost:5000/a/b:c@sha256:12')).toBe('localhost:5000/a/b')
  expect(repositoryOf('index.docker.io/library/podplane-disk:x')).toBe('podplane-disk')
})

test('[HOST-59] an image is found by its full name only, never by the beginning of its id', ({ expect }) => {
  const names = ['nginx:1.27', 'nginx@sha256:12']
  for (const image of ['nginx:1.27', 'docker.io/nginx:1.27', 'nginx@sha256:12', 'nginx:1.27@sha256:12']) {
    expect(isNamed(image, names), image).toBe(true)
  }
  for (const image of ['nginx', '12', 'sha256:12', 'other/nginx:1.27', 'nginx:1.2']) expect(isNamed(image, names), image).toBe(false)
})

describe('providing an image', () => {
  const auth = { username: 'u', password: 'p' }
  /** `names`: what the engine calls an image that it finds. */
  function open(stateDir: string, names = (image: string) => [shortImageName(image)]) {
    const pulls: (RegistryAuth | undefined)[] = []
    const engine = {
      imageNames: async (image: string) => names(image),
      pull: async (_image: string, _signal: AbortSignal, credential?: RegistryAuth) => void pulls.push(credential),
    } as unknown as DockerEngine
    const images = new ContainerImages({ engine, log: silentLog(), stateDir })
    const hooks = { onState: () => {}, signal: new AbortController().signal }
    const provide = (image: string, registryAuth?: RegistryAuth) =>
      images.provide(makeWorkload({ id: 'a', image, ...(registryAuth && { registryAuth }) }), hooks)
    return { pulls, provide }
  }

  test('one that is there is not pulled', async ({ expect }) => {
    const { pulls, provide } = open(tempDir('images'))
    await provide('a/b:1')
    expect(pulls).toEqual([])
  })

  test('[HOST-59] one that the engine found under the beginning of an id is not taken, and the disks of pods are no images', async ({
    expect,
  }) => {
    const { pulls, provide } = open(tempDir('images'), () => ['podplane-disk:other-1'])
    await provide('3d9f2889d678')
    expect(pulls).toHaveLength(1)
    await expect(provide('podplane-disk:other-1')).rejects.toThrow("the name 'podplane-disk' is reserved")
  })

  test('[HOST-58] one that was got with a credential is asked for by everybody, also after a restart', async ({ expect }) => {
    const stateDir = tempDir('images')
    const first = open(stateDir)
    await first.provide('a/b:1', auth)
    await first.provide('a/b:2')
    expect(first.pulls).toEqual([auth, undefined])
    const second = open(stateDir)
    await second.provide('docker.io/a/b:1')
    await second.provide('a/c:1')
    expect(second.pulls).toEqual([undefined])
  })

  test('[HOST-58] none is got with a credential before it is on disk that it is private', async ({ expect }) => {
    const stateDir = tempDir('images')
    // In the way of the file, as a full disk is.
    mkdirSync(join(stateDir, 'private-images.json.draft'))
    const { pulls, provide } = open(stateDir)
    for (let attempt = 0; attempt < 2; attempt += 1) await expect(provide('a/b:1', auth)).rejects.toThrow('image pull failed')
    expect(pulls).toEqual([])
  })
})
