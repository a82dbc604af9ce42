import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Request } from 'miniflare'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { OUTBOUND_ERROR_HEADER, parseAllowList } from '../../src/domain/webhook/url.ts'
import { createOutbound } from '../../src/local/plane/outbound.ts'
import { watchOwnPorts } from '../../src/local/plane/own-ports.ts'

const REFUSED = 'not sent: the host resolves to an address that is private, loopback, link-local or reserved'

let server: Server
let port: number
let ownPort = 0
let requests: { url: string; body: string; headers: IncomingHttpHeaders }[]

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk
    })
    request.on('end', () => {
      requests.push({ url: request.url ?? '', body, headers: request.headers })
      if (request.url === '/redirect') response.writeHead(302, { location: '/elsewhere' }).end()
      else if (request.url === '/none') response.writeHead(204).end()
      else response.writeHead(200, { 'x-answer': 'yes' }).end('thanks')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())
beforeEach(() => {
  requests = []
  ownPort = 0
})

const call = (host: string, allow: string, path = '/hook', init: ConstructorParameters<typeof Request>[1] = {}) =>
  createOutbound(parseAllowList(allow), (own) => own === ownPort)(new Request(`http://${host}:${port}${path}`, init))

describe('ports of the plane itself', () => {
  test.each(['127.0.0.1', 'localhost', '[::1]', '127.1'])('[M7][HOOK-21] are not called at %s, whatever is allowed', async (host) => {
    ownPort = port
    const response = await call(host, 'localhost,127.0.0.0/8,::1/128')
    expect([response.status, response.headers.get(OUTBOUND_ERROR_HEADER)]).toEqual([502, REFUSED])
    expect(requests).toEqual([])
  })

  test('[M7][HOOK-21] are the ports of all servers of this process', async () => {
    const ports = watchOwnPorts()
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const given = (other.address() as AddressInfo).port
    other.close()
    ports.stop()
    expect([ports.has(given), ports.has(port)]).toEqual([true, false])
  })
})

describe('[HOOK-16] outbound requests of a local plane', () => {
  test.each(['127.0.0.1', '127.1', '2130706433', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', 'localhost', 'LOCALHOST'])(
    '[HOOK-7] %s is not connected to, as an address or through its name',
    async (host) => {
      const response = await call(host, '')
      expect([response.status, response.headers.get(OUTBOUND_ERROR_HEADER)]).toEqual([502, REFUSED])
      expect(requests).toEqual([])
    },
  )

  test.each([
    ['localhost', 'localhost'],
    ['localhost', '127.0.0.0/8'],
    ['127.0.0.1', '127.0.0.1'],
  ])('[HOOK-7] %s is connected to when the allow list has %s', async (host, allow) => {
    expect((await call(host, allow)).status).toBe(200)
    expect(requests).toHaveLength(1)
  })

  test('[HOOK-7] a listed name does not allow its address under another name', async () => {
    expect((await call('localhost', 'hooks.corp.internal, 10.0.0.0/8')).status).toBe(502)
    expect(requests).toEqual([])
  })

  test('pass method, headers and body on, and the answer back', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '7', 'webhook-id': 'msg_1', 'mf-inner': 'x' }
    const response = await call('127.0.0.1', '127.0.0.1', '/hook?a=1', { method: 'POST', headers, body: '{"a":1}' })
    expect([response.status, response.headers.get('x-answer'), await response.text()]).toEqual([200, 'yes', 'thanks'])
    expect(requests).toMatchObject([{ url: '/hook?a=1', body: '{"a":1}' }])
    expect(requests[0]?.headers).toEqual({
      'content-type': 'application/json',
      'content-length': '7',
      'webhook-id': 'msg_1',
      host: `127.0.0.1:${port}`,
      connection: 'close',
    })
  })

  test('[HOOK-10] a redirect is passed back, not followed', async () => {
    const response = await call('127.0.0.1', '127.0.0.1', '/redirect', { redirect: 'manual' })
    expect([response.status, response.headers.get('location')]).toEqual([302, '/elsewhere'])
    expect(requests.map(({ url }) => url)).toEqual(['/redirect'])
    expect((await call('127.0.0.1', '127.0.0.1', '/none')).status).toBe(204)
  })

  test('report why there is no answer, without naming addresses', async () => {
    const outbound = createOutbound(parseAllowList('127.0.0.1'), () => false)
    const why = async (url: string) => (await outbound(new Request(url))).headers.get(OUTBOUND_ERROR_HEADER)
    expect(await why('http://127.0.0.1:1/')).toBe('the connection was refused')
    expect(await why('http://no-such-host.invalid/')).toBe('the host name cannot be resolved')
    expect(await why(`https://127.0.0.1:${port}/`)).toMatch(/^the (TLS handshake failed|connection failed)/)
  })
})
