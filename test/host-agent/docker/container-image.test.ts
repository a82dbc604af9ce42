import { mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ContainerImages, type ImagePolicy } from '../../../src/host-agent/docker/container/container-image.ts'
import { isNamed, repositoryOf, shortImageName } from '../../../src/host-agent/docker/engine/image-names.ts'
import { createLog } from '../../../src/host-agent/log.ts'
import { parseAllowedRegistries } from '../../../src/host-agent/pulls/allowed-registries.ts'
import { LEAST_SPEED } from '../../../src/host-agent/pulls/pull-pace.ts'
import { AGENT_VERSION } from '../../../src/host-agent/version.ts'
import { isSharedByTenants } from '../../../src/host-agent/workloads/tenancy.ts'
import { waitUntil } from '../../support/time.ts'
import { FakeRegistry, imageOf, layerOf, rawLayer, sha256 } from '../support/fake-registry.ts'
import { ImageStore } from '../support/image-store.ts'
import { archiveOf, paxOf } from '../support/tar.ts'
import { tempDir } from '../support/temp-dir.ts'
import { makeWorkload } from '../support/workload.ts'

const ADA = { username: 'ada', password: 's3cret-word' }
const NOT_FOUND = 'the image does not exist, or needs a credential'
const DAY_MS = 86_400_000

test('names of images are compared in the short form of the engine', () => {
  expect(shortImageName('nginx')).toBe('nginx:latest')
  expect(shortImageName('docker.io/library/nginx:1.27')).toBe('nginx:1.27')
  expect(shortImageName('localhost:5000/a/b')).toBe('localhost:5000/a/b:latest')
  expect(repositoryOf('localhost:5000/a/b:c@sha256:12')).toBe('localhost:5000/a/b')
  expect(repositoryOf('index.docker.io/library/podplane-disk:x')).toBe('podplane-disk')
})

test('[HOST-59] an image is found by its full name only, never by the beginning of its id', () => {
  const names = ['nginx:1.27', 'nginx@sha256:12']
  for (const image of ['nginx:1.27', 'docker.io/nginx:1.27', 'nginx@sha256:12', 'nginx:1.27@sha256:12']) {
    expect(isNamed(image, names), image).toBe(true)
  }
  for (const image of ['nginx', '12', 'sha256:12', 'other/nginx:1.27', 'nginx:1.2']) expect(isNamed(image, names), image).toBe(false)
})

async function registry(): Promise<FakeRegistry> {
  const fake = await new FakeRegistry().listen()
  onTestFinished(() => fake.close())
  return fake
}

/** The images of a host whose operator allows some registries. */
function host(registries: readonly FakeRegistry[], policy: Partial<ImagePolicy> = {}, stateDir = tempDir('images')) {
  const store = new ImageStore()
  let log = ''
  const clock = { nowMs: 1_000 * DAY_MS }
  const open = () => {
    const allowed = parseAllowedRegistries(registries.map((fake) => `http://${fake.host}`))
    return new ContainerImages({
      engine: store.engine,
      hostId: 'h1',
      images: { allowed, localImages: false, maxBytes: 1e9, leastSpeed: LEAST_SPEED, isShared: () => false, ...policy },
      log: createLog('debug', (line) => {
        log += line
      }),
      stateDir,
      now: () => clock.nowMs,
    })
  }
  let images = open()
  onTestFinished(() => images.close())
  const states: string[] = []
  return {
    store,
    stateDir,
    clock,
    states,
    log: () => log,
    restart: () => {
      images.close()
      images = open()
    },
    /** The id of the image, or why there is none. */
    provide: (
      image: string,
      login?: { username: string; password: string; host?: string },
      signal = new AbortController().signal,
      account = 'acc',
      payer?: string,
    ) =>
      images
        .provide(makeWorkload({ id: 'a', account, ...(payer !== undefined && { payer }), image, ...(login && { registryAuth: login }) }), {
          onState: (state) => states.push(state),
          signal,
        })
        .catch((error: Error) => error.message.replace(`image pull failed: ${image}: `, '')),
  }
}

const idOf = (image: ReturnType<typeof imageOf>) => sha256([...image.blobs.values()][0] ?? '')

describe('an image', () => {
  test('[HOST-95] is fetched by the agent, loaded into the engine under a name of the agent, and not requested again', async () => {
    const fake = await registry()
    const image = imageOf([layerOf('one'), layerOf('two')])
    const name = fake.push('a/b:1', image)
    const { provide, store, states, restart, stateDir } = host([fake])
    const callers = new Set<string | undefined>()
    fake.override = (request) => {
      callers.add(request.headers['user-agent'])
      return false
    }
    expect(await provide(name)).toBe(idOf(image))
    expect([...callers]).toEqual([`podplane-agent/${AGENT_VERSION}`])
    expect([...store.images]).toEqual([
      [expect.stringMatching(/^podplane-pulled:/), { id: idOf(image), names: expect.anything(), layers: image.diffIds }],
    ])
    const asked = fake.requests.length
    expect(await provide(name)).toBe(idOf(image))
    restart()
    expect(await provide(name)).toBe(idOf(image))
    expect(fake.requests).toHaveLength(asked)
    expect(states).toEqual(['pulling'])
    expect(readdirSync(join(stateDir, 'pulls'))).toEqual([])
  })

  test('[HOST-95] is the one for this machine where a registry has several, and none of another machine', async () => {
    const fake = await registry()
    const image = imageOf([layerOf('one')])
    fake.push('a/b:real', image)
    const { provide } = host([fake])
    expect(await provide(fake.pushIndex('a/b:list', image))).toBe(idOf(image))
    const foreign = fake.push('a/c:1', imageOf([layerOf('one')], { config: { architecture: 's390x' } }))
    expect(await provide(foreign)).toBe('this host cannot run the image')
  })

  test('[HOST-95] is fetched once for many starts at a time, and again when the engine has lost it', async () => {
    const fake = await registry()
    const image = imageOf([layerOf('one')])
    const name = fake.push('a/b:1', image)
    const { provide, store } = host([fake])
    const ids = await Promise.all(Array.from({ length: 5 }, () => provide(name)))
    expect(new Set(ids)).toEqual(new Set([idOf(image)]))
    expect(fake.paths(`GET /v2/a/b/blobs/${image.layerDigests[0]}`)).toHaveLength(1)
    store.images.clear()
    expect(await provide(name)).toBe(idOf(image))
    expect(store.loads).toHaveLength(2)
  })

  test('[HOST-95] shares present layers: only new ones are fetched and loaded', async () => {
    const fake = await registry()
    const [base, old, fresh] = [layerOf('base'), layerOf('old'), layerOf('fresh')]
    const { provide, store } = host([fake])
    await provide(fake.push('a/b:1', imageOf([base, old])))
    const second = imageOf([base, fresh])
    expect(await provide(fake.push('a/b:2', second))).toBe(idOf(second))
    expect(fake.paths(`GET /v2/a/b/blobs/${sha256(base.packed)}`)).toHaveLength(1)
    expect(store.loads.at(-1)?.layers).toEqual([null, expect.objectContaining({ diffId: fresh.diffId })])
    // An engine that requires all layers gets all.
    store.sharesLayers = false
    const third = imageOf([base, layerOf('third')])
    expect(await provide(fake.push('a/b:3', third))).toBe(idOf(third))
  })

  test('[HOST-95] resumes an interrupted download', async () => {
    const fake = await registry()
    const layer = layerOf('x'.repeat(100_000), (bytes) => bytes)
    const name = fake.push('a/b:1', imageOf([layer]))
    const digest = sha256(layer.packed)
    const ranges: (string | undefined)[] = []
    fake.override = (request, response) => {
      if (!request.url?.endsWith(digest)) return false
      ranges.push(request.headers.range)
      if (ranges.length > 1) return false
      response.writeHead(200, { 'content-length': layer.packed.length }).write(layer.packed.subarray(0, 40_000), () => response.destroy())
      return true
    }
    expect(await host([fake]).provide(name)).toMatch(/^sha256:/)
    expect(ranges).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/)])
  })

  test('[HOST-95] of a cancelled start is not fetched further, and leaves nothing', async () => {
    const fake = await registry()
    const name = fake.push('a/b:1', imageOf([layerOf('one')]))
    const { provide, store, stateDir } = host([fake])
    const stopped = new AbortController()
    fake.override = (request, response) => {
      if (!request.url?.includes('/blobs/')) return false
      response.writeHead(200).write('x')
      stopped.abort()
      return true
    }
    await provide(name, undefined, stopped.signal)
    expect([store.loads, readdirSync(join(stateDir, 'pulls'))]).toEqual([[], []])
  })

  test.each([
    ['bzip2', (bytes: Buffer) => bytes, 'BZh91AY&SY'],
    ['xz', (bytes: Buffer) => bytes, '\xfd7zXZ'],
    ['bzip2 inside of gzip', gzipSync, 'BZh91AY&SY'],
    ['gzip inside of gzip', gzipSync, '\x1f\x8b\x08'],
    ['zstd inside of gzip', gzipSync, '\x28\xb5\x2f\xfd'],
    ['a frame to be skipped inside of gzip', gzipSync, '\x5e\x2a\x4d\x18'],
  ])('[H8][HOST-99] that is packed with %s is refused: its unpacked size could not be measured', async (_, pack, name) => {
    const fake = await registry()
    const { provide, store } = host([fake])
    // The layer is also a valid archive.
    const content = archiveOf({ name })
    expect(await provide(fake.push('a/b:1', imageOf([rawLayer(content, pack)])))).toBe('this host cannot run the image')
    expect(store.loads).toEqual([])
  })

  test('[HOST-95] that does not match its digests is refused', async () => {
    const fake = await registry()
    const layer = layerOf('one')
    const unusable = 'this host cannot run the image'
    const { provide, store } = host([fake])
    expect(await provide(fake.push('a/diff:1', imageOf([layer], { diffIds: [sha256('two')] })))).toBe(unusable)
    expect(await provide(fake.push('a/size:1', imageOf([layer], { size: 5 })))).toBe(unusable)
    expect(await provide(fake.push('a/more:1', imageOf([layer], { diffIds: [] })))).toBe(unusable)
    const urls = [{ digest: sha256(layer.packed), size: layer.packed.length, urls: ['http://127.0.0.1:1/x'] }]
    expect(await provide(fake.push('a/urls:1', imageOf([layer], { layers: urls })))).toBe(unusable)
    const other = fake.push('a/blob:1', imageOf([layer]))
    fake.override = (request, response) => {
      if (!request.url?.endsWith(sha256(layer.packed))) return false
      response.end(Buffer.alloc(layer.packed.length))
      return true
    }
    expect(await provide(other)).toBe(unusable)
    const manifest = fake.push('a/manifest:1', imageOf([layer])).replace(/:1$/, `@${imageOf([layer]).digest}`)
    fake.override = (_request, response) => {
      response.end(imageOf([layerOf('another')]).manifest)
      return true
    }
    expect(await provide(manifest)).toBe(unusable)
    expect(store.loads).toEqual([])
  })
})

describe('[HOST-108] the configuration of an image', () => {
  const layer = layerOf('one')
  const loaded = ({ store }: ReturnType<typeof host>) => JSON.parse(Buffer.from(store.loads[0]?.config ?? '', 'base64').toString())

  test('is passed to the engine only as far as the program needs it, in any spelling', async () => {
    const fake = await registry()
    const program = { Env: ['A=1'], Cmd: ['/a'], Entrypoint: ['/b'], WorkingDir: '/w', User: '1', StopSignal: 'SIGINT' }
    const more = {
      Labels: { a: 'x'.repeat(2 ** 20) },
      labels: { a: 'b' },
      Volumes: { '/a': {} },
      ExposedPorts: { '1/tcp': {} },
      Healthcheck: { Test: ['CMD', '/a'], Interval: 1_000_000 },
      OnBuild: ['RUN a'],
    }
    const image = imageOf([layer], { config: { config: { ...program, ...more }, CONFIG: more, RootFS: { diff_ids: [sha256('of Ada')] } } })
    const machine = host([fake])
    expect(await machine.provide(fake.push('a/b:1', image))).toMatch(/^sha256:/)
    expect(loaded(machine)).toEqual({
      architecture: expect.anything(),
      os: 'linux',
      config: program,
      rootfs: { type: 'layers', diff_ids: image.diffIds },
      history: [],
    })
  })

  test('is refused where that part is too long', async () => {
    const fake = await registry()
    const machine = host([fake])
    const long = imageOf([layer], { config: { config: { Cmd: Array.from({ length: 70 }, () => 'x'.repeat(1_024)) } } })
    expect(await machine.provide(fake.push('a/b:1', long))).toBe(
      'this host cannot run the image: its environment and command take more than 64 KiB',
    )
    expect(await machine.provide(fake.push('a/b:2', imageOf([layer], { config: { config: 7 } })))).toBe('this host cannot run the image')
    expect(machine.store.loads).toEqual([])
  })
})

describe('a private image', () => {
  async function scene() {
    const fake = await registry()
    fake.login = ADA
    const image = imageOf([layerOf('of Ada'), layerOf('another of Ada')])
    const name = fake.push('priv/x:1', image, { isPrivate: true })
    const other = await registry()
    const machine = host([fake, other])
    expect(await machine.provide(name, { ...ADA, host: fake.host })).toBe(idOf(image))
    return { fake, other, image, name, machine, atDigest: `${fake.host}/priv/x@${image.digest}` }
  }

  test('[H4] [HOST-58] on the machine is not usable without its credential, by tag, by digest and by both, also after a restart', async () => {
    const { name, machine, atDigest, image, fake } = await scene()
    for (let attempt = 0; attempt < 2; attempt += 1) {
      for (const reference of [name, atDigest, `${name}@${image.digest}`])
        expect(await machine.provide(reference), reference).toBe(NOT_FOUND)
      machine.restart()
    }
    const wrong = { username: 'eve', password: 'x', host: fake.host }
    expect(await machine.provide(atDigest, wrong)).toBe('the registry refused the credential')
    expect(await machine.provide(atDigest, { ...ADA, host: fake.host })).toBe(idOf(image))
  })

  test('[H4] [HOST-97] is not available through a registry of the tenant that names its layers without having them', async () => {
    const { other, image, machine } = await scene()
    const copy = other.push('evil/x:1', image, { without: image.layerDigests })
    expect(await machine.provide(copy)).toBe(NOT_FOUND)
    // Nor through one that claims to have them, or sends other bytes.
    other.override = (request, response) => {
      if (request.method !== 'HEAD') return false
      response.writeHead(200).end()
      return true
    }
    expect(await machine.provide(copy)).toBe(NOT_FOUND)
    const decoy = layerOf('a decoy')
    const diffIds = [image.diffIds[0] ?? '', decoy.diffId]
    const disguised = other.push('evil/y:1', imageOf([layerOf('mine'), decoy], { diffIds }))
    expect(await machine.provide(disguised)).toBe('this host cannot run the image')
    expect(machine.store.loads).toHaveLength(1)
  })

  test('[H4] [HOST-97] is not available through another repository of its registry either, unless that one has its layers', async () => {
    const { fake, image, machine } = await scene()
    const copy = fake.push('eve/x:1', image, { without: image.layerDigests })
    expect(await machine.provide(copy)).toBe(NOT_FOUND)
    expect(await machine.provide(fake.push('eve/y:1', image))).toBe(idOf(image))
    expect(machine.store.loads).toHaveLength(1)
  })

  test('[H3] [HOST-94] is requested only with a credential of its registry', async () => {
    const { other, machine, fake } = await scene()
    const name = other.push('evil/x:1', imageOf([layerOf('evil')]), { isPrivate: true })
    const foreign = 'the credential belongs to another registry than the image'
    expect(await machine.provide(name, { ...ADA, host: fake.host })).toBe(foreign)
    expect(await machine.provide(name, ADA)).toBe(foreign)
    expect(other.requests).toEqual([])
    expect(machine.log()).not.toContain(ADA.password)
  })

  test('[H3] [HOST-94] causes no login to be sent elsewhere, on a challenge or a redirect of its registry', async () => {
    const { fake, other, machine } = await scene()
    const otherTenant = await registry()
    const login = { ...ADA, host: fake.host }
    fake.override = (_request, response) => {
      response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${otherTenant.host}/token",service="x"` }).end()
      return true
    }
    expect(await machine.provide(`${fake.host}/priv/x:2`, login)).toContain('the registry is not allowed')
    expect([otherTenant.requests, other.requests]).toEqual([[], []])
    fake.override = (request, response) => {
      if (request.headers.authorization === undefined) response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
      else response.writeHead(307, { location: `http://${other.host}/v2/evil` }).end()
      return true
    }
    await machine.provide(`${fake.host}/priv/x:2`, login)
    expect(other.requests).toEqual([{ method: 'GET', path: '/v2/evil', authorization: undefined }])
  })
})

describe('a token service', () => {
  test('[HOST-95] gives a token for one repository, which the registry gets', async () => {
    const fake = await registry()
    const image = imageOf([layerOf('one')])
    const name = fake.push('a/b:1', image)
    fake.override = (request, response) => {
      if (request.url?.startsWith('/token')) response.end('{"token":"T0"}')
      else if (request.headers.authorization === 'Bearer T0') return false
      else response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${fake.host}/token",service="s"` }).end()
      return true
    }
    const { provide } = host([fake])
    expect(await provide(name, { ...ADA, host: fake.host })).toBe(idOf(image))
    const basic = `Basic ${Buffer.from(`${ADA.username}:${ADA.password}`).toString('base64')}`
    expect(fake.requests[1]).toEqual({ method: 'GET', path: '/token?service=s&scope=repository%3Aa%2Fb%3Apull', authorization: basic })
    expect(fake.requests.slice(2).every(({ authorization }) => authorization === 'Bearer T0')).toBe(true)
  })
})

describe('the space for images', () => {
  const KB = 1_000
  const noise = (seed: string, bytes: number) => Buffer.alloc(bytes, sha256(seed))

  test('[H8] [HOST-99] an image that is too large, packed or unpacked, is refused before it reaches the engine, with both numbers', async () => {
    const fake = await registry()
    const { provide, store, stateDir } = host([fake], { maxBytes: 1e6 })
    const plain = layerOf(Buffer.alloc(1_200 * KB), (bytes) => bytes)
    const packed = fake.push('a/packed:1', imageOf([plain]))
    expect(await provide(packed)).toBe('the image is too large: packed it has 1.2 MB, and this host has 1.0 MB for it')
    expect(fake.paths('/blobs/')).toEqual([])
    // 64 MB of zeros, in 64 kB.
    const bomb = layerOf(Buffer.alloc(64_000 * KB))
    expect(bomb.packed.length).toBeLessThan(100 * KB)
    const bombed = fake.push('a/bomb:1', imageOf([bomb]))
    expect(await provide(bombed)).toBe('the image is too large: it unpacks to more than 1.0 MB, and this host has 1.0 MB for it')
    const spread = imageOf([0, 1, 2].map((seed) => layerOf(noise(`${seed}`, 400 * KB))))
    expect(await provide(fake.push('a/spread:1', spread))).toContain('it unpacks to more than 1.0 MB')
    expect([store.loads, readdirSync(join(stateDir, 'pulls'))]).toEqual([[], []])
  })

  test('[H8] [HOST-100] an image of sparse files, or of very many small ones, is refused before it reaches the engine', async () => {
    const fake = await registry()
    const { provide, store } = host([fake], { maxBytes: 1e6 })
    const sparse = paxOf({ 'GNU.sparse.major': '1', 'GNU.sparse.minor': '0', 'GNU.sparse.realsize': '8796093022208' })
    for (const [index, entry] of [{ type: 'S' }, sparse].entries()) {
      const name = fake.push(`a/sparse${index}:1`, imageOf([rawLayer(archiveOf(entry, { content: 'x' }))]))
      expect(await provide(name)).toBe('this host cannot run the image')
    }
    const small = Array.from({ length: 100 }, (_, index) => ({ name: `${index}` }))
    const many = fake.push('a/many:1', imageOf([rawLayer(archiveOf(...small))]))
    expect(await provide(many)).toBe('the image is too large: it unpacks to more than 1.0 MB, and this host has 1.0 MB for it')
    expect(store.loads).toEqual([])
  })

  test('[H8] [HOST-100] later frames of a layer are measured too', async () => {
    const fake = await registry()
    const { provide, store } = host([fake], { maxBytes: 1e6 })
    const bytes = archiveOf({ content: Buffer.alloc(1_200 * KB) })
    const halves = [bytes.subarray(0, 512), bytes.subarray(512)]
    for (const pack of [gzipSync, zstdCompressSync]) {
      const layer = { packed: Buffer.concat(halves.map((half) => pack(half))), diffId: sha256(bytes) }
      expect(await provide(fake.push('a/b:1', imageOf([layer])))).toContain('it unpacks to more than 1.0 MB')
    }
    expect(store.loads).toEqual([])
  })

  test('[H8] [HOST-99] the images unused for longest are evicted, never one in use or just fetched', async () => {
    const fake = await registry()
    const machine = host([fake], { maxBytes: 1e6 })
    const { provide, store, clock } = machine
    const push = (name: string) => fake.push(`a/${name}:1`, imageOf([layerOf(noise(name, 300 * KB))]))
    const ids: string[] = []
    for (const name of ['first', 'second', 'third']) {
      ids.push(await provide(push(name)))
      clock.nowMs += DAY_MS
    }
    await provide(push('first'))
    clock.nowMs += DAY_MS
    const nameOf = (id: string | undefined) => [...store.images].find(([, facts]) => facts.id === id)?.[0] ?? ''
    store.inUse.add(nameOf(ids[1]))
    const fourth = await provide(push('fourth'))
    // The second is in use, the first was used after the third.
    expect([...store.images.values()].map(({ id }) => id)).toEqual([ids[0], ids[1], fourth])
    for (const name of [...store.images.keys()]) store.inUse.add(name)
    expect(await provide(push('fifth'))).toMatch(/^the image is too large: it takes 0\.3 MB, and this host has 0\.[01] MB for it$/)
    machine.restart()
    store.inUse.clear()
    expect(await provide(push('fifth'))).toMatch(/^sha256:/)
  })

  describe('[H8] [HOST-101] an account', () => {
    /** A host whose space of 1 MB is shared by the accounts of the test, and one account that runs next to nothing. */
    async function shared() {
      const machine = await alone()
      return { ...machine, small: await machine.run('bob', 'small', 1 * KB) }
    }

    async function alone(maxBytes = 1e6) {
      const fake = await registry()
      const machine = host([fake], { maxBytes, isShared: () => true })
      const push = (name: string, bytes = 300 * KB) => fake.push(`a/${name}:1`, imageOf([layerOf(noise(name, bytes))]))
      const provide = (account: string, image: string, payer?: string) => machine.provide(image, undefined, undefined, account, payer)
      const run = async (account: string, name: string, bytes?: number) => {
        const image = await provide(account, push(name, bytes))
        machine.store.uses.push({ image, labels: { 'podplane.account': account } })
        return image
      }
      return { ...machine, fake, push, provide, run }
    }
    const REFUSED = 'this account has reached its share of image space on this host: with it they take 0.6 MB or more of 0.5 MB'

    test('has half of the space for the images that it uses, and the others have the rest', async () => {
      const { store, clock, provide, push, run, small } = await shared()
      const first = await run('eve', 'first')
      clock.nowMs += DAY_MS
      expect(await provide('eve', push('second'))).toBe(REFUSED)
      const ofAda = await run('ada', 'of-ada')
      expect([...store.images.values()].map(({ id }) => id)).toEqual([small, first, ofAda])
      // An image that the account has stopped using does not block others.
      store.uses.splice(1, 1)
      clock.nowMs += DAY_MS
      const second = await provide('eve', push('second'))
      expect([...store.images.values()].map(({ id }) => id)).toEqual([small, first, ofAda, second])
    })

    test('[SHR-40] has one share together with all workloads that the same account pays for', async () => {
      const { store, clock, provide, push } = await shared()
      const first = await provide('team-1', push('first'), 'maker')
      store.uses.push({ image: first, labels: { 'podplane.account': 'team-1', 'podplane.payer': 'maker' } })
      clock.nowMs += DAY_MS
      expect(await provide('team-2', push('second'), 'maker')).toBe(REFUSED)
      expect(await provide('team-2', push('third'))).toMatch(/^sha256:/)
    })

    test('[HOST-147] has three quarters while it is alone, and can restart its present images when others have come', async () => {
      const { clock, provide, push, run } = await alone()
      await run('eve', 'first')
      await run('eve', 'second')
      clock.nowMs += DAY_MS
      expect(await provide('eve', push('third'))).toBe(
        'this account has reached its share of image space on this host: with it they take 0.9 MB or more of 0.8 MB',
      )
      await run('ada', 'of-ada')
      clock.nowMs += DAY_MS
      expect(await provide('eve', push('second'))).toMatch(/^sha256:/)
      expect(await provide('eve', push('of-ada'))).toMatch(/^this account has reached its share of image space/)
    })

    test('does not exceed it with images that are present already', async () => {
      const { clock, provide, push, run } = await shared()
      await run('ada', 'of-ada')
      await run('eve', 'first')
      clock.nowMs += DAY_MS
      expect(await provide('eve', push('of-ada'))).toBe(REFUSED)
      expect(await provide('ada', push('of-ada'))).toMatch(/^sha256:/)
    })

    test('does not exceed it with starts that are not containers yet', async () => {
      const { clock, provide, push } = await shared()
      await provide('eve', push('first'))
      expect(await provide('eve', push('second'))).toBe(REFUSED)
      clock.nowMs += DAY_MS
      expect(await provide('eve', push('second'))).toMatch(/^sha256:/)
    })

    test('does not exceed it with disks that were made images', async () => {
      const { store, clock, provide, push, run } = await shared()
      const first = await run('eve', 'first')
      const [base = ''] = [...store.images.values()].find(({ id }) => id === first)?.layers ?? []
      store.images.set('podplane-disk:1', { id: 'sha256:disk', names: [], layers: [base, 'sha256:written'] })
      store.uses.splice(1, 1, { image: 'sha256:disk', labels: { 'podplane.account': 'eve' } })
      clock.nowMs += DAY_MS
      expect(await provide('eve', push('second'))).toBe(REFUSED)
    })

    test('does not exceed it with images that are being fetched', async () => {
      const { fake, clock, provide, run } = await shared()
      await run('eve', 'first')
      clock.nowMs += DAY_MS
      const plain = imageOf([layerOf(noise('plain', 300 * KB), (bytes) => bytes)])
      const [digest = ''] = plain.layerDigests
      fake.override = (request, response) => {
        if (!request.url?.endsWith(digest)) return false
        // The last byte does not arrive.
        response.writeHead(200, { 'content-length': 301_568 }).write(plain.blobs.get(digest)?.subarray(0, -1))
        return true
      }
      expect(await provide('eve', fake.push('a/plain:1', plain))).toMatch(/^this account has reached its share of image space/)
    })

    test('[HOST-147] has less the more others have, and the next one still has room', async () => {
      const { clock, provide, push, run } = await shared()
      await run('eve', 'first')
      clock.nowMs += DAY_MS
      await run('mallory', 'second')
      clock.nowMs += DAY_MS
      // 0.4 MB are left, and half of that is ada's.
      expect(await provide('ada', push('large', 220 * KB))).toMatch(
        /^this account has reached .* with it they take 0\.2 MB or more of 0\.2 MB$/,
      )
      expect(await provide('ada', push('small', 150 * KB))).toMatch(/^sha256:/)
    })

    test('[HOST-101] is checked by the manifest before any layer is fetched', async () => {
      const { fake, clock, provide, run } = await shared()
      await run('eve', 'first')
      clock.nowMs += DAY_MS
      const image = fake.push('a/plain:1', imageOf([layerOf(noise('plain', 300 * KB), (bytes) => bytes)]))
      const before = fake.paths('/blobs/').length
      expect(await provide('eve', image)).toBe(REFUSED)
      expect(fake.paths('/blobs/')).toHaveLength(before)
    })

    test('[HOST-149] that pulls one image after another evicts its own, not those that another account used before', async () => {
      const { store, clock, provide, push } = await alone()
      const ofAda = await provide('ada', push('of-ada'))
      clock.nowMs += DAY_MS
      let last = ''
      for (const name of ['one', 'two', 'three', 'four']) {
        last = await provide('eve', push(name))
        clock.nowMs += DAY_MS
      }
      const kept = [...store.images.values()].map(({ id }) => id)
      expect([kept[0], kept.at(-1)]).toEqual([ofAda, last])
    })

    test('[S19] [SHR-34, SHR-35] with as many tiny images as it may have neither blocks pulls of others nor evicts their images', async () => {
      const { store, fake, clock, provide, run, ...machine } = await alone(1e9)
      const tiny = (name: string) => fake.push(`t/${name}:1`, imageOf([layerOf(name)]))
      const ofAda = await provide('ada', tiny('of-ada'))
      clock.nowMs += DAY_MS
      const fill = async (account: string, count: number) => {
        let refusal = ''
        for (let number = 0; number < count && refusal === ''; number += 1) {
          const image = await provide(account, tiny(`${account}-${number}`))
          if (!image.startsWith('sha256:')) refusal = image
          else store.uses.push({ image, labels: { 'podplane.account': account } })
          // A day later the image does not count as an expected start.
          if (number % 100 === 99) clock.nowMs += DAY_MS
        }
        return refusal
      }
      const words = 'this account has reached its share of image space on this host: with it they are'
      expect(await fill('eve', 500)).toBe(`${words} 338 of at most 337`)
      expect(store.uses).toHaveLength(337)
      clock.nowMs += DAY_MS
      // None of her workloads runs, and her image is still present.
      expect([...store.images.values()].map(({ id }) => id)).toContain(ofAda)
      expect(await fill('bob', 500)).toBe(`${words} 57 of at most 56`)
      expect(await run('cleo', 'first', 1)).toMatch(/^sha256:/)
      // The account may start from its present images, but not fetch another.
      expect(await provide('eve', tiny('eve-0'))).toMatch(/^sha256:/)
      expect(await provide('eve', tiny('more'))).toMatch(/^this account has reached its share of image space/)
      expect(machine.log()).not.toContain('an image was removed')
    }, 120_000)

    test('[HOST-149] evicts nothing by sizes that a registry announces without sending the bytes', async () => {
      const { fake, store, clock, provide, push } = await alone()
      const kept: string[] = []
      for (const name of ['one', 'two', 'three']) {
        kept.push(await provide('ada', push(name)))
        clock.nowMs += DAY_MS
      }
      const image = push('announced', 400 * KB)
      fake.override = (request, response) => {
        if (!/blobs/.test(request.url ?? '')) return false
        response.writeHead(404).end()
        return true
      }
      expect(await provide('eve', image)).toBe('the image does not exist, or needs a credential')
      expect([...store.images.values()].map(({ id }) => id)).toEqual(kept)
    })

    test('is not checked while all images together take less than a share', async () => {
      const { store, provide, push } = await shared()
      await provide('eve', push('first'))
      const asked = store.listings
      for (let start = 0; start < 5; start += 1) expect(await provide('eve', push('first'))).toMatch(/^sha256:/)
      expect(store.listings).toBe(asked)
    })

    test('has all of a host that is for one account at a time, or for accounts that trust one another', () => {
      expect(isSharedByTenants({ network: true, trustedTenants: false })).toBe(true)
      expect(isSharedByTenants({ network: true, trustedTenants: true })).toBe(false)
      expect(isSharedByTenants({ network: false, trustedTenants: false })).toBe(false)
    })
  })

  test('[H8] [HOST-102] an image of a cancelled load, or of an agent that lost its records, is counted and evicted like others', async () => {
    const fake = await registry()
    const machine = host([fake], { maxBytes: 1e6 })
    const { provide, store, clock, stateDir } = machine
    const push = (name: string) => fake.push(`a/${name}:1`, imageOf([layerOf(noise('base', 100 * KB)), layerOf(noise(name, 300 * KB))]))
    const stopped = new AbortController()
    store.onLoaded = async () => {
      stopped.abort()
      throw new Error('nobody listens any more')
    }
    await provide(push('given-up'), undefined, stopped.signal)
    store.onLoaded = async () => {}
    clock.nowMs += DAY_MS
    const second = await provide(push('second'))
    expect(store.images.size).toBe(2)
    // 700 KB are taken, so the image of the cancelled load is evicted.
    clock.nowMs += DAY_MS
    const third = await provide(push('third'))
    expect([...store.images.values()].map(({ id }) => id)).toEqual([second, third])

    rmSync(join(stateDir, 'images.json'))
    machine.restart()
    clock.nowMs += DAY_MS
    const fourth = await provide(push('fourth'))
    expect([...store.images.values()].map(({ id }) => id)).toEqual([third, fourth])
    for (const name of store.images.keys()) store.inUse.add(name)
    rmSync(join(stateDir, 'images.json'))
    machine.restart()
    expect(await provide(push('fifth'))).toMatch(/^the image is too large: it takes 0\.3 MB, and this host has 0\.2 MB for it$/)
  })

  test('[H8] [HOST-102] an image of one account is not forgotten because another account’s load of it fails', async () => {
    const [fake, other] = [await registry(), await registry()]
    const image = imageOf([layerOf('one')])
    const { provide, store } = host([fake, other])
    const name = fake.push('a/b:1', image)
    expect(await provide(name)).toBe(idOf(image))
    const asked = fake.requests.length
    store.onLoad = async () => {
      throw new Error('the disk is full')
    }
    expect(await provide(other.push('evil/x:1', image))).toBe('the container engine of this host could not load the image')
    expect(await provide(name)).toBe(idOf(image))
    expect(fake.requests).toHaveLength(asked)
  })

  test('[HOST-102] an image that the engine has lost does not count, and one that is being loaded is not lost', async () => {
    const fake = await registry()
    const { provide, store } = host([fake], { maxBytes: 1e6 })
    const push = (name: string) => fake.push(`a/${name}:1`, imageOf([layerOf(noise(name, 600 * KB))]))
    expect(await provide(push('lost'))).toMatch(/^sha256:/)
    store.images.clear()
    let release = () => {}
    store.onLoad = () =>
      new Promise((resolve) => {
        release = resolve
      })
    const slow = provide(push('slow'))
    await waitUntil('it is being loaded', () => store.loads.length === 2)
    store.onLoad = async () => {}
    expect(await provide(fake.push('a/small:1', imageOf([layerOf('small')])))).toMatch(/^sha256:/)
    release()
    expect(await slow).toMatch(/^sha256:/)
  })

  test('[H8] [HOST-99] a registry that announces much and sends nothing takes nothing from others', async () => {
    const [fake, silent] = [await registry(), await registry()]
    const { provide, stateDir } = host([fake, silent], { maxBytes: 1e6 })
    const stopped = new AbortController()
    let asked = false
    const announced = layerOf(noise('announced', 900 * KB), (bytes) => bytes)
    const name = silent.push('evil/x:1', imageOf([announced]))
    silent.override = (request, response) => {
      if (!request.url?.endsWith(sha256(announced.packed))) return false
      asked = true
      response.writeHead(200, { 'content-length': announced.packed.length }).flushHeaders()
      return true
    }
    const hanging = provide(name, undefined, stopped.signal)
    await waitUntil('it is asked for', () => asked)
    expect(await provide(fake.push('a/b:1', imageOf([layerOf(noise('of another', 600 * KB))])))).toMatch(/^sha256:/)
    stopped.abort()
    await hanging
    expect(readdirSync(join(stateDir, 'pulls'))).toEqual([])
  })

  test('[HOST-98] an image that cannot be recorded is not loaded', async () => {
    const fake = await registry()
    const { provide, stateDir, store } = host([fake])
    const name = fake.push('a/b:1', imageOf([layerOf('one')]))
    // Blocks the file, like a full disk.
    mkdirSync(join(stateDir, 'images.json.draft'))
    expect(await provide(name)).toBe('the container engine of this host could not load the image')
    expect(store.loads).toEqual([])
    rmdirSync(join(stateDir, 'images.json.draft'))
    expect(await provide(name)).toMatch(/^sha256:/)
  })
})

describe('images that no account pulled', () => {
  const id = sha256('local')
  const local = (store: ImageStore, name: string) => store.images.set(name, { id, names: [shortImageName(name)], layers: [sha256('x')] })

  test('[M11] [HOST-98] are not used: the registry is asked, and its image is the one that runs', async () => {
    const fake = await registry()
    const image = imageOf([layerOf('of the registry')])
    const name = fake.push('a/b:1', image)
    const { provide, store } = host([fake])
    local(store, name)
    local(store, `${fake.host}/only/here:1`)
    expect(await provide(name)).toBe(idOf(image))
    expect(await provide(`${fake.host}/only/here:1`)).toBe(NOT_FOUND)
  })

  test('[HOST-98] [HOST-59] are usable by their full name where the operator allows it, except with a credential', async () => {
    const fake = await registry()
    fake.login = ADA
    const image = imageOf([layerOf('of the registry')])
    const name = fake.push('a/b:1', image, { isPrivate: true })
    const { provide, store } = host([fake], { localImages: true })
    local(store, name)
    expect(await provide(name)).toBe(id)
    expect(fake.requests).toEqual([])
    expect(await provide(name, { ...ADA, host: fake.host })).toBe(idOf(image))
    // An image that the engine finds by the beginning of an id.
    store.images.set(`${fake.host}/c/d`, { id, names: ['other:1'], layers: [] })
    expect(await provide(`${fake.host}/c/d`)).toBe(NOT_FOUND)
    for (const reserved of ['podplane-disk:other-1', 'docker.io/library/podplane-pulled:0']) {
      local(store, reserved)
      expect(await provide(reserved)).toBe('the name is reserved')
    }
  })
})

test('[HOST-95] an account pulls four images at a time, without delaying other accounts', async () => {
  const fake = await registry()
  const names = ['p', 'q', 'r', 's', 't'].map((name) => fake.push(`a/${name}:1`, imageOf([layerOf(name)])))
  const others = fake.push('b/x:1', imageOf([layerOf('of another')]))
  const held: (() => void)[] = []
  fake.override = (request, response) => {
    if (!request.url?.startsWith('/v2/a/')) return false
    // Answered when the test says so.
    held.push(() => response.writeHead(404).end())
    return true
  }
  const { provide } = host([fake])
  const stopped = new AbortController()
  const [first, second, third, fourth, fifth] = names.map((name, index) =>
    provide(name, undefined, index === 4 ? stopped.signal : undefined, 'A'),
  )
  await waitUntil('four are asked for', () => held.length === 4)
  expect(await provide(others, undefined, undefined, 'B')).toMatch(/^sha256:/)
  expect(held).toHaveLength(4)
  // A waiting pull can be cancelled.
  stopped.abort()
  await fifth
  const sixth = provide(`${fake.host}/a/u:1`, undefined, undefined, 'A')
  held.shift()?.()
  await waitUntil('the next one is asked for', () => held.length === 4)
  for (const answer of held) answer()
  expect(await Promise.all([first, second, third, fourth, sixth])).toEqual(Array.from({ length: 5 }, () => NOT_FOUND))
})
