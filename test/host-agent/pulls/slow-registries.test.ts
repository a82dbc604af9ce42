import { describe, expect, onTestFinished, test } from 'vitest'
import { ContainerImages } from '../../../src/host-agent/docker/container/container-image.ts'
import { silentLog } from '../../../src/host-agent/log.ts'
import { parseAllowedRegistries } from '../../../src/host-agent/pulls/allowed-registries.ts'
import { Stalls } from '../../../src/host-agent/pulls/stalls.ts'
import { FakeRegistry, imageOf, layerOf } from '../support/fake-registry.ts'
import { ImageStore } from '../support/image-store.ts'
import { tempDir } from '../support/temp-dir.ts'
import { makeWorkload } from '../support/workload.ts'

const MINUTE_MS = 60_000
const DRIP = { bytes: 1, everyMs: 50 }
/** 2,000 bytes in two seconds. */
const SPEED = { bytesPerMinute: 60_000, windowMs: 2_000 }

async function registry(): Promise<FakeRegistry> {
  const fake = await new FakeRegistry().listen()
  onTestFinished(() => fake.close())
  return fake
}

function host(...registries: FakeRegistry[]) {
  return hostWith({}, ...registries)
}

function hostWith(deps: { pullMaxMs?: number }, ...registries: FakeRegistry[]) {
  const clock = { nowMs: 1e12 }
  const images = new ContainerImages({
    engine: new ImageStore().engine,
    hostId: 'h1',
    images: {
      allowed: parseAllowedRegistries(registries.map((fake) => `http://${fake.host}`)),
      localImages: false,
      maxBytes: 1e9,
      leastSpeed: SPEED,
      isShared: () => true,
    },
    log: silentLog(),
    stateDir: tempDir('slow'),
    now: () => clock.nowMs,
    ...deps,
  })
  onTestFinished(() => images.close())
  const provide = (image: string, account: string) =>
    images
      .provide(makeWorkload({ id: 'a', account, image }), { onState: () => undefined, signal: new AbortController().signal })
      .catch((error: Error) => error.message.replace(`image pull failed: ${image}: `, ''))
  return { clock, provide }
}

/** From now on what is asked for at the end of `path` comes in pieces, one every so many milliseconds. */
function drip(fake: FakeRegistry, path: string, body: Buffer, { bytes, everyMs }: typeof DRIP): void {
  const before = fake.override
  fake.override = (request, response) => {
    if (!request.url?.endsWith(path)) return before(request, response)
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': body.length })
    let sent = 0
    const timer = setInterval(() => {
      response.write(body.subarray(sent, sent + bytes))
      sent += bytes
      if (sent >= body.length) response.end()
    }, everyMs)
    response.on('close', () => clearInterval(timer))
    return true
  }
}

/** An image of one layer, and how that comes. */
function slowImage(fake: FakeRegistry, name: string, pace: typeof DRIP): string {
  const image = imageOf([layerOf(name.repeat(6_000), (bytes) => bytes)])
  const [digest = ''] = image.layerDigests
  drip(fake, digest, image.blobs.get(digest) ?? Buffer.alloc(0), pace)
  return fake.push(`a/${name}:1`, image)
}

describe('a registry that sends slowly', () => {
  test('[S11] [SHR-36] ends the pull after the time, with its name and how much came; others pull meanwhile', async () => {
    const [slow, good] = [await registry(), await registry()]
    const { provide } = host(slow, good)
    const stalling = Promise.all(['one', 'two', 'three', 'four', 'five'].map((name) => provide(slowImage(slow, name, DRIP), 'eve')))
    const quick = imageOf([layerOf('quick')])
    expect(await provide(good.push('b/quick:1', quick), 'ada')).toMatch(/^sha256:/)
    const [first, ...others] = await stalling
    expect(first).toMatch(
      new RegExp(`^the registry sends too slowly: of ${slow.host} came 0\\.0\\d MiB a minute, and 0\\.06 are the least on this host$`),
    )
    // The fifth pull waited for its turn, and is not tried.
    expect(others.at(-1)).toBe(`the registry sends too slowly: ${slow.host} did so lately; try again in 1 min`)
    expect(slow.paths('/manifests/')).toHaveLength(4)
  })

  test('[S11] [SHR-36] ends the pull also with a slow manifest', async () => {
    const slow = await registry()
    const { provide } = host(slow)
    const image = imageOf([layerOf('one')])
    const name = slow.push('a/b:1', image)
    drip(slow, '/manifests/1', image.manifest, DRIP)
    expect(await provide(name, 'eve')).toMatch(/^the registry sends too slowly: of /)
  })

  test('[S11] [SHR-36] ends the pull also with a slow check of a layer that is present already', async () => {
    const slow = await registry()
    const { provide } = host(slow)
    const image = imageOf([layerOf('one')])
    expect(await provide(slow.push('a/b:1', image), 'ada')).toMatch(/^sha256:/)
    const again = slow.push('c/d:1', image)
    const before = slow.override
    slow.override = (request, response) => request.method === 'HEAD' || before(request, response)
    expect(await provide(again, 'eve')).toMatch(/^the registry sends too slowly: of /)
  })

  test('[S11] [HOST-97] delays a start at most for the time limit of a pull, including the wait for a turn', async () => {
    const slow = await registry()
    const { provide } = hostWith({ pullMaxMs: 1_500 }, slow)
    const startedAt = performance.now()
    const steady = { bytes: 100, everyMs: 50 }
    const pulls = await Promise.all(['1', '2', '3', '4', '5', '6', '7', '8'].map((name) => provide(slowImage(slow, name, steady), 'eve')))
    const hours = 1_500 / 3_600_000
    expect(new Set(pulls)).toEqual(
      new Set([`the image pull timed out: a start waits ${hours} h for it, turns of other pulls of this account counted`]),
    )
    expect(performance.now() - startedAt).toBeLessThan(2_800)
  })

  test('[SHR-36] is waited for without limit at the minimum rate', async () => {
    const slow = await registry()
    const { provide } = host(slow)
    const startedAt = performance.now()
    expect(await provide(slowImage(slow, 'steady', { bytes: 400, everyMs: 50 }), 'ada')).toMatch(/^sha256:/)
    expect(performance.now() - startedAt).toBeGreaterThan(1.5 * SPEED.windowMs)
  })

  test('[S11] [SHR-37] is asked again by the same account after a time that grows; another account, and another registry, are not kept waiting', async () => {
    const [slow, good] = [await registry(), await registry()]
    const { provide, clock } = host(slow, good)
    const name = slowImage(slow, 'one', DRIP)
    expect(await provide(name, 'eve')).toMatch(/: of /)
    const asked = slow.requests.length
    expect(await provide(name, 'eve')).toBe(`the registry sends too slowly: ${slow.host} did so lately; try again in 1 min`)
    expect(slow.requests).toHaveLength(asked)
    expect(await provide(good.push('b/c:1', imageOf([layerOf('one')])), 'eve')).toMatch(/^sha256:/)
    expect(await provide(slow.push('b/c:1', imageOf([layerOf('two')])), 'ada')).toMatch(/^sha256:/)
    clock.nowMs += MINUTE_MS
    expect(await provide(name, 'eve')).toMatch(/: of /)
    expect(await provide(name, 'eve')).toMatch(/; try again in 2 min$/)
  })
})

test('[SHR-37] after each stall in a row an account waits twice as long, half an hour at most; a pull that succeeds ends that', () => {
  const clock = { nowMs: 0 }
  const stalls = new Stalls(() => clock.nowMs)
  const waits: number[] = []
  for (let stall = 0; stall < 7; stall += 1) {
    stalls.note('eve', 'r.example')
    const from = clock.nowMs
    const isOpen = () => {
      try {
        stalls.check('eve', 'r.example')
        return true
      } catch {
        return false
      }
    }
    while (!isOpen()) clock.nowMs += MINUTE_MS
    waits.push((clock.nowMs - from) / MINUTE_MS)
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30])
  stalls.discard('eve', 'r.example')
  stalls.note('eve', 'r.example')
  expect(() => stalls.check('eve', 'r.example')).toThrow('try again in 1 min')
})
