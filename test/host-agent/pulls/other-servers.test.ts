import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ContainerImages } from '../../../src/host-agent/docker/container/container-image.ts'
import { createLog } from '../../../src/host-agent/log.ts'
import { parseAllowedRegistries } from '../../../src/host-agent/pulls/allowed-registries.ts'
import { type Answer, type Call, Egress } from '../../../src/host-agent/pulls/egress.ts'
import { PULL_REASONS } from '../../../src/host-agent/pulls/pull-error.ts'
import { LEAST_SPEED } from '../../../src/host-agent/pulls/pull-pace.ts'
import { FakeRegistry, imageOf, layerOf, type Override } from '../support/fake-registry.ts'
import { ImageStore } from '../support/image-store.ts'
import { tempDir } from '../support/temp-dir.ts'
import { makeWorkload } from '../support/workload.ts'

// A tenant's registry, which the operator allows here because a test has no public one, directs the agent to a server of another party.

const SECRET = 'INTERNAL-SECRET-42'

async function scene() {
  const registry = await new FakeRegistry().listen()
  const hits: string[] = []
  const inside = createServer((request, response) => {
    hits.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`)
    response.end(JSON.stringify({ Token: SECRET, token: SECRET }))
  })
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
  let log = ''
  const images = new ContainerImages({
    engine: new ImageStore().engine,
    hostId: 'h1',
    images: {
      allowed: parseAllowedRegistries([`http://${registry.host}`]),
      localImages: false,
      maxBytes: 1e9,
      leastSpeed: LEAST_SPEED,
      isShared: () => true,
    },
    log: createLog('debug', (line) => {
      log += line
    }),
    stateDir: tempDir('strangers'),
  })
  onTestFinished(() => {
    images.close()
    registry.close()
    inside.closeAllConnections()
    inside.close()
  })
  const { port } = inside.address() as AddressInfo
  const reasonOf = async (image: string) => {
    const hooks = { onState: () => {}, signal: new AbortController().signal }
    const text = await images.provide(makeWorkload({ id: 'a', image }), hooks).then(
      () => 'it runs',
      (error: Error) => error.message,
    )
    expect(text.startsWith(`image pull failed: ${image}: `)).toBe(true)
    return text.slice(`image pull failed: ${image}: `.length)
  }
  return { registry, port, hits, reasonOf, log: () => log }
}

const challenge =
  (realm: string): Override =>
  (_request, response) => {
    response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}",service="s"` }).end()
    return true
  }
const redirect =
  (location: string): Override =>
  (_request, response) => {
    response.writeHead(307, { location }).end()
    return true
  }

/** Ways to write the address of a server on this machine or in its network. */
const spellings = (port: number): string[] => [
  `http://127.0.0.1:${port}/latest/meta-data/iam?a=b`,
  `https://127.0.0.1:${port}/x`,
  `https://localhost:${port}/x`,
  `https://[::1]:${port}/x`,
  `https://[::ffff:127.0.0.1]:${port}/x`,
  `https://2130706433:${port}/x`,
  `https://0x7f.1:${port}/x`,
  `https://0.0.0.0:${port}/x`,
  'http://169.254.169.254/latest/meta-data',
  'https://169.254.169.254/latest/meta-data',
  'https://[fd00:ec2::254]/latest',
  'https://10.0.0.1/x',
  'https://user:pass@127.0.0.1/x',
  'file:///etc/passwd',
  'gopher://127.0.0.1/x',
  'no address at all',
]

describe('a registry that directs the agent to other servers', () => {
  test('[H2] [HOST-96] by its token service reaches no other server, and its tenant reads a fixed reason', async () => {
    const { registry, port, hits, reasonOf } = await scene()
    for (const realm of spellings(port)) {
      registry.override = challenge(realm)
      expect([PULL_REASONS.notAllowed, PULL_REASONS.unreachable], realm).toContain(await reasonOf(`${registry.host}/evil/x:1`))
    }
    expect(hits).toEqual([])
  })

  test('[H2] [HOST-96] by a redirect of a manifest, a blob or a token reaches no other server', async () => {
    const { registry, port, hits, reasonOf } = await scene()
    const image = registry.push('evil/x:1', imageOf([layerOf('one')]))
    for (const location of spellings(port)) {
      for (const part of ['/manifests/', '/blobs/']) {
        const lead = redirect(location)
        registry.override = (request, response) => (request.url?.includes(part) === true ? lead(request, response) : false)
        expect(Object.values(PULL_REASONS), location).toContain(await reasonOf(image))
      }
    }
    registry.override = (request, response) =>
      (request.url?.startsWith('/token') ? redirect(`http://127.0.0.1:${port}/`) : challenge(`http://${registry.host}/token`))(
        request,
        response,
      )
    expect(await reasonOf(image)).toBe(PULL_REASONS.notAllowed)
    expect(hits).toEqual([])
  })

  test('[H2] [HOST-96] in a redirect loop, or with an endless answer, is cut off', async () => {
    const { registry, reasonOf } = await scene()
    registry.override = redirect('/v2/evil/x/manifests/1')
    expect(await reasonOf(`${registry.host}/evil/x:1`)).toBe(PULL_REASONS.unreachable)
    expect(registry.requests.length).toBeLessThan(10)
    registry.override = (_request, response) => {
      const more = () => void (!response.destroyed && response.write(Buffer.alloc(2 ** 20, 'a'), more))
      more()
      return true
    }
    expect(await reasonOf(`${registry.host}/evil/x:1`)).toBe(PULL_REASONS.unusable)
  })
})

test('[H2] [HOST-96] an image on an address that is not public is refused without a connection to it', async () => {
  const { port, hits, reasonOf } = await scene()
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, '10.0.0.1', '169.254.169.254', '[fd00:ec2::254]:80']) {
    expect([PULL_REASONS.notAllowed], host).toContain(await reasonOf(`${host}/evil/x:4`))
  }
  expect(hits).toEqual([])
})

test('[H2] [HOST-95] the answer of a server reaches neither the tenant nor another registry', async () => {
  const { registry, reasonOf, log } = await scene()
  const words = `<h1>internal admin</h1> token=${SECRET} user=root`
  const answers: Override[] = [404, 401, 403, 500, 200, 418].map((status) => (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html', 'www-authenticate': `${SECRET} x="${SECRET}"` }).end(words)
    return true
  })
  for (const answer of answers) {
    registry.override = answer
    expect(Object.values(PULL_REASONS)).toContain(await reasonOf(`${registry.host}/evil/x:1`))
  }
  // The form of credentials of a cloud metadata service, not of a registry token.
  const sent: (string | undefined)[] = []
  registry.override = (request, response) => {
    if (request.url?.startsWith('/token')) response.end(JSON.stringify({ Code: 'Success', Token: SECRET, AccessKeyId: 'x' }))
    else {
      sent.push(request.headers.authorization)
      response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${registry.host}/token"` }).end()
    }
    return true
  }
  expect(await reasonOf(`${registry.host}/evil/x:1`)).toBe(PULL_REASONS.unreachable)
  expect(sent).toEqual([undefined])
  expect(log()).not.toContain(SECRET)
})

/** The way out of an agent, where some public hosts are played. Each says where it leads to. */
class PlayedInternet extends Egress {
  readonly asked: string[] = []
  readonly hosts = new Map<string, Pick<Answer, 'status' | 'headers'>>()

  protected override send(url: URL, call: Call, isInside: boolean): Promise<Answer> {
    const answer = this.hosts.get(url.host)
    if (answer === undefined) return super.send(url, call, isInside)
    this.asked.push(url.host)
    return Promise.resolve({ ...answer, body: Readable.from([]) as IncomingMessage })
  }
}

describe('a registry that the operator has allowed', () => {
  async function inside() {
    const registry = await new FakeRegistry().listen()
    const egress = new PlayedInternet(parseAllowedRegistries([`http://${registry.host}`]))
    const images = new ContainerImages({
      engine: new ImageStore().engine,
      hostId: 'h1',
      images: {
        allowed: parseAllowedRegistries([`http://${registry.host}`]),
        localImages: false,
        maxBytes: 1e9,
        leastSpeed: LEAST_SPEED,
        isShared: () => true,
      },
      log: createLog('error', () => {}),
      stateDir: tempDir('inside'),
      egress,
    })
    onTestFinished(() => {
      images.close()
      registry.close()
    })
    const reasonOf = async (image: string, registryAuth?: { username: string; password: string; host: string }) => {
      const hooks = { onState: () => {}, signal: new AbortController().signal }
      const workload = makeWorkload({ id: 'a', image, ...(registryAuth && { registryAuth }) })
      const text = await images.provide(workload, hooks).catch((error: Error) => error.message)
      return text.replace(`image pull failed: ${image}: `, '')
    }
    return { registry, egress, reasonOf }
  }
  const redirectTo = (location: string) => ({ status: 307, headers: { location } })
  const realmAt = (realm: string) => ({ status: 401, headers: { 'www-authenticate': `Bearer realm="${realm}",service="s"` } })

  test('[H2] [HOST-103] is not reached by an answer of a registry on the internet', async () => {
    const { registry, egress, reasonOf } = await inside()
    const secret = `http://${registry.host}/v2/private/x/manifests/1`
    for (const answer of [redirectTo(secret), redirectTo(secret.replace('http:', 'https:')), realmAt(secret)]) {
      egress.hosts.set('evil.example', answer)
      expect(await reasonOf('evil.example/x:1')).toBe(PULL_REASONS.notAllowed)
    }
    expect([egress.asked, registry.requests]).toEqual([['evil.example', 'evil.example', 'evil.example'], []])
  })

  test('[H2] [HOST-103] is not reached again through a server that it redirected to', async () => {
    const { registry, egress, reasonOf } = await inside()
    egress.hosts.set('cdn.example', redirectTo(`http://${registry.host}/v2/private/x/manifests/1`))
    registry.override = redirect('https://cdn.example/x')
    expect(await reasonOf(`${registry.host}/a/b:1`)).toBe(PULL_REASONS.notAllowed)
    expect([egress.asked, registry.paths()]).toEqual([['cdn.example'], ['GET /v2/a/b/manifests/1']])
  })

  test('[H3] [HOST-94] a login is not sent to a name that only ends like that of its registry', async () => {
    const { egress, reasonOf } = await inside()
    egress.hosts.set('a.co.uk', realmAt('https://b.co.uk/token')).set('b.co.uk', redirectTo('https://b.co.uk/'))
    expect(await reasonOf('a.co.uk/x:1', { username: 'ada', password: SECRET, host: 'a.co.uk' })).toBe(PULL_REASONS.notAllowed)
    expect(egress.asked).toEqual(['a.co.uk'])
  })
})
