import { ownAddress, parsePortCall } from '../../../src/http/ingress/port-call.ts'
import worker from '../../../src/worker.ts'
import { createExecutionContext, describe, env, expect, it, send } from '../../support/harness.ts'
import { FakeTunnel, reply } from '../../support/hosts/fake-tunnel.ts'
import { podScene } from '../../support/pods/pod-scene.ts'

const DOMAIN = 'pods.example.com'
const ask = (url: string, init: RequestInit = {}) =>
  worker.fetch(
    new Request(url, { redirect: 'manual', ...init }) as Parameters<typeof worker.fetch>[0],
    { ...env, POD_PROXY_DOMAIN: DOMAIN },
    createExecutionContext(),
  )

describe('with a domain for pods, the plane’s own address', () => {
  it("[S7] [EDG-10] redirects every visit to the pod's own name and passes nothing of the pod", async () => {
    const scene = await podScene()
    const tunnel = await FakeTunnel.open(scene.host, async ({ stream }) => {
      stream.accept()
      await reply(stream, 200, 'of the pod', [['report-to', '{}']])
    })
    const { id } = await scene.create({ ports: ['8888/http'] })
    await scene.run(id)
    const below = `https://plane.example.com/proxy/${id}/8888/lab?token=t&x=1`
    for (const [method, headers] of [
      ['GET', {}],
      ['POST', { Authorization: 'Bearer secret', Cookie: 'a=b' }],
      ['DELETE', {}],
      ['GET', { Upgrade: 'websocket' }],
    ] as const) {
      const answer = await ask(below, { method, headers })
      expect([answer.status, await answer.text()]).toEqual([307, ''])
      expect(Object.fromEntries(answer.headers)).toEqual({
        ...{ location: `//${id}-8888.${DOMAIN}/lab?token=t&x=1`, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
      })
    }
    expect(tunnel.served).toEqual([])
    expect(await (await ask(`https://${id}-8888.${DOMAIN}/lab`)).text()).toBe('of the pod')
    const without = await send(`/proxy/${id}/8888/lab`)
    expect([without.status, without.headers.get('report-to'), without.headers.get('content-security-policy')]).toEqual([
      ...[200, null],
      'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads',
    ])
    expect((await ask('https://plane.example.com/proxy/NO_SUCH/8888/')).status).toBe(404)
    scene.leave()
  })

  it('[EDG-10] with names that only browsers of this machine know redirects those alone', () => {
    const own = (url: string, headers: Record<string, string>, domain: string | null = 'localhost:8787') => {
      const call = parsePortCall(new URL(url), domain)
      return call && ownAddress(call, new URL(url), new Headers(headers), domain)
    }
    const browser = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Site': 'none' }
    expect([
      own('http://127.0.0.1:8787/proxy/p1/80/a', browser),
      own('http://localhost:8787/proxy/p1/80/a', { 'Sec-Fetch-Site': 'none' }),
      own('http://127.0.0.1:8787/proxy/p1/80/a', { 'Sec-Fetch-Mode': 'cors' }),
      own('http://192.168.1.5:8787/proxy/p1/80/a', browser),
      own('http://127.0.0.1:8787/proxy/p1/80/a', browser, null),
      own('http://192.168.1.5:8787/proxy/p1/80//evil.example/a', {}, DOMAIN),
    ]).toEqual(['//p1-80.localhost:8787/a', '//p1-80.localhost:8787/a', null, null, null, `//p1-80.${DOMAIN}//evil.example/a`])
  })
})
