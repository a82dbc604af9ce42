import type { LookupAddress } from 'node:dns'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isPublicAddress } from '../../../src/host-agent/pulls/addresses.ts'
import { parseAllowedRegistries } from '../../../src/host-agent/pulls/allowed-registries.ts'
import { isItsTokenService, parseChallenge } from '../../../src/host-agent/pulls/challenge.ts'
import { Egress } from '../../../src/host-agent/pulls/egress.ts'
import { parseReference } from '../../../src/host-agent/pulls/reference.ts'

test('[H2] [HOST-96] the address decides whether a destination is public', () => {
  for (const address of ['1.1.1.1', '8.8.8.8', '172.32.0.1', '2606:4700::1111']) expect(isPublicAddress(address), address).toBe(true)
  const hidden =
    '0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255 192.168.0.1 224.0.0.1 255.255.255.255'
  const hidden6 = ':: ::1 ::ffff:8.8.8.8 fd00:ec2::254 fe80::1 64:ff9b::7f00:1 2002:7f00:1:: 2001::1 2001:db8::1 ff02::1'
  for (const address of `${hidden} ${hidden6} localhost`.split(' ')) expect(isPublicAddress(address), address).toBe(false)
})

describe('names', () => {
  function egress(answers: LookupAddress[][]) {
    const asked: string[] = []
    const made = new Egress(parseAllowedRegistries(['inside.example:5000']), async (host) => {
      asked.push(host)
      return answers.shift() ?? []
    })
    onTestFinished(() => made.close())
    const signal = AbortSignal.timeout(500)
    return {
      asked,
      call: (url: string, registry = 'rebind.example') =>
        made.call(new URL(url), { registry, signal }).catch((error: Error) => error.message),
    }
  }

  test('[H2] [HOST-96] that lead to an address that is not public, among others too, are refused', async () => {
    for (const addresses of [['127.0.0.1'], ['169.254.169.254'], ['8.8.8.8', '10.0.0.1']]) {
      const { call } = egress([addresses.map((address) => ({ address, family: 4 }))])
      expect(await call('https://rebind.example/v2/')).toMatch(/^the registry is not allowed on this host/)
    }
    const { call } = egress([[{ address: '::1', family: 6 }]])
    expect(await call('https://rebind.example/v2/')).toMatch(/^the registry is not allowed on this host/)
  })

  test('[H2] [HOST-96] are looked up once: a name that changes is not connected to', async () => {
    // Addresses like TEST-NET are refused, so a public one is used; the outcome is ignored, as long as it was not 127.0.0.1.
    const { call, asked } = egress([[{ address: '127.0.0.1', family: 4 }], [{ address: '8.8.8.8', family: 4 }]])
    await call('https://rebind.example/v2/')
    expect(asked).toEqual(['rebind.example'])
  })

  test('[HOST-96] a registry is allowed with its port, and no other port of it', async () => {
    const { call } = egress([[{ address: '10.0.0.1', family: 4 }]])
    const registry = 'inside.example:5000'
    expect(await call('https://inside.example:22/v2/', registry)).toMatch(/^the registry is not allowed on this host/)
    expect(await call('http://inside.example:5000/v2/', registry)).toMatch(/^the registry is not allowed on this host/)
  })
})

test('[HOST-96] --registry-allow accepts hosts and nothing else', () => {
  expect([...parseAllowedRegistries(['A.example,http://10.0.0.5:5000', 'docker.io', ''])]).toEqual([
    ['a.example', { plainHttp: false }],
    ['10.0.0.5:5000', { plainHttp: true }],
    ['docker.io', { plainHttp: false }],
  ])
  for (const bad of ['https://a.example', 'a.example/x', 'a b']) expect(() => parseAllowedRegistries([bad])).toThrow('--registry-allow')
})

test('[H3] [HOST-94] a login goes to the token service of its registry, never to one whose name only ends alike', () => {
  const cases: [string, string, boolean][] = [
    ['https://registry-1.docker.io', 'https://auth.docker.io/token', true],
    ['https://ghcr.io', 'https://ghcr.io/token', true],
    ['https://registry.gitlab.com', 'https://gitlab.com/jwt/auth', true],
    ['https://registry.digitalocean.com', 'https://api.digitalocean.com/v2/registry/auth', true],
    ['https://a.example', 'https://auth.a.example/token', true],
    ['https://a.example:5050', 'https://a.example/jwt/auth', true],
    ['https://a.example', 'https://evil.test/token', false],
    ['https://a.co.uk', 'https://b.co.uk/token', false],
    ['https://ada.github.io', 'https://eve.github.io/token', false],
    ['https://registry.a.example', 'https://a.example/token', false],
    ['https://a.example', 'https://eva.example/token', false],
    ['https://registry-1.docker.io', 'https://hub.docker.io/token', false],
    ['https://registry-1.docker.io', 'http://auth.docker.io/token', false],
    ['https://registry-1.docker.io', 'https://auth.docker.io:8443/token', false],
    ['https://a.example', 'http://a.example/token', false],
    ['http://127.0.0.1:5000', 'http://127.0.0.1:5000/token', true],
    ['http://127.0.0.1:5000', 'http://127.0.0.1:5001/token', false],
    ['https://127.0.0.1:5000', 'https://127.0.0.1:5001/token', false],
    ['https://[fd00::1]:5000', 'https://[fd00::1]:5001/token', false],
    ['https://10.0.0.1', 'https://11.0.0.1/token', false],
    ['https://localhost', 'https://evil.localhost/token', false],
  ]
  for (const [registry, service, isOne] of cases)
    expect(isItsTokenService(new URL(registry), new URL(service), false), `${registry} ${service}`).toBe(isOne)
  expect(isItsTokenService(new URL('https://registry.a.example'), new URL('https://a.example/token'), true)).toBe(true)
})

test('a challenge is parsed by its scheme', () => {
  expect(parseChallenge('Basic realm="x"')).toEqual({ scheme: 'basic' })
  expect(parseChallenge('bearer REALM="https://a/t",service="s",scope="x"')).toEqual({
    scheme: 'bearer',
    realm: 'https://a/t',
    service: 's',
  })
  for (const none of [undefined, '', 'Digest realm="x"', 'Bearer', 'Bearer service="x"']) expect(parseChallenge(none)).toBeUndefined()
})

test('[REG-20] a reference is parsed as by the engines', () => {
  const digest = `sha256:${'a'.repeat(64)}`
  expect(parseReference('nginx')).toEqual({
    host: 'docker.io',
    repository: 'library/nginx',
    wanted: 'latest',
    digest: undefined,
    text: 'docker.io/library/nginx:latest',
  })
  expect(parseReference('index.docker.io/octo/app:1').text).toBe('docker.io/octo/app:1')
  expect(parseReference(`Localhost:5000/a/b:1@${digest}`)).toMatchObject({ host: 'localhost:5000', repository: 'a/b', wanted: digest })
  expect(parseReference(`a/b@${digest}`).text).toBe(`docker.io/a/b@${digest}`)
})
