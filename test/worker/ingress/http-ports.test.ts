import { encodeRecord, RecordReader } from '../../../src/host-protocol/tunnel/socket-records.ts'
import { parsePortCall } from '../../../src/http/ingress/port-call.ts'
import { podProblem } from '../../../src/services/pods/ingress/channels.ts'
import { afterEach, describe, expect, it, send } from '../../support/harness.ts'
import { FakeTunnel, reply, type Serve } from '../../support/hosts/fake-tunnel.ts'
import { type PodScene, podScene } from '../../support/pods/pod-scene.ts'
import { until } from '../../support/time.ts'

let scene: PodScene
afterEach(() => scene?.leave())

const hello: Serve = async ({ stream }) => {
  stream.accept()
  await reply(stream, 200, '<p>hello</p>', [
    ['content-type', 'text/html'],
    ['set-cookie', 'a=b'],
    ['x-own', 'yes'],
  ])
}

async function runPod(serve: Serve = hello, serves?: readonly string[]): Promise<{ id: string; tunnel: FakeTunnel }> {
  scene = await podScene()
  const tunnel = await FakeTunnel.open(scene.host, serve, serves)
  const { id } = await scene.create({ ports: ['8888/http', '22/tcp'] })
  await scene.run(id)
  return { id, tunnel }
}

const detailOf = async (response: Response) => [response.status, ((await response.json()) as { detail: string }).detail]

describe('an HTTP port of a pod', () => {
  it('[NET-1, NET-12] is served to every caller who knows the address, with the request unchanged', async () => {
    const { id, tunnel } = await runPod()
    const answer = await send(`/proxy/${id}/8888/lab/tree?x=1`, { method: 'PUT', body: 'content', headers: { 'X-Own': 'yes' } })
    expect([answer.status, await answer.text(), answer.headers.get('x-own')]).toEqual([200, '<p>hello</p>', 'yes'])
    const [served] = tunnel.served
    expect(served?.target).toMatchObject({ kind: 'http', workloadId: `${id}-1`, port: 8_888, method: 'PUT', path: '/lab/tree?x=1' })
    expect(Object.fromEntries(served?.target.headers ?? [])).toMatchObject({ 'x-own': 'yes', 'x-forwarded-prefix': `/proxy/${id}/8888` })
  })

  it("[NET-13] below the plane's own address neither receives cookies of the plane nor sets any", async () => {
    const { id, tunnel } = await runPod()
    const headers = { Authorization: `Bearer ${scene.account.key}`, Cookie: 'session=1' }
    const answer = await send(`/proxy/${id}/8888/`, { headers })
    expect([answer.headers.get('set-cookie'), answer.headers.get('content-security-policy')]).toEqual([
      null,
      'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads',
    ])
    const names = tunnel.served[0]?.target.headers.map(([name]) => name) ?? []
    expect(names.filter((name) => ['authorization', 'cookie'].includes(name))).toEqual([])
  })

  it('[NET-14] that is not declared, does not run or does not exist, is named in the error; its host is not contacted', async () => {
    const { id, tunnel } = await runPod()
    const { id: waiting } = await scene.create({ ports: ['8888/http'] })
    const asked = await Promise.all(
      [`${id}/22`, `${id}/8889`, `${id}/99999`, `${waiting}/8888`, 'nosuchpod/8888'].map((path) => send(`/proxy/${path}/`)),
    )
    expect(await Promise.all(asked.map(detailOf))).toEqual([
      [404, 'the pod does not expose port 22 as 22/http, so it is not served here'],
      [404, 'the pod does not expose port 8889 as 8889/http, so it is not served here'],
      [404, 'the pod does not expose port 99999 as 99999/http, so it is not served here'],
      [409, 'the pod is PROVISIONING: it is served only while it is RUNNING'],
      [404, 'pod not found'],
    ])
    expect(tunnel.served).toEqual([])
  })

  it('[NET-14] names the cause: nothing listens there, its host is offline, or an agent is too old', async () => {
    const refuse: Serve = ({ stream }) => stream.reset({ code: 'unreachable', detail: 'nothing listens on this port of the worker' })
    const { id, tunnel } = await runPod(refuse)
    expect(await detailOf(await send(`/proxy/${id}/8888/`))).toEqual([
      503,
      'the pod could not be reached: nothing listens on this port of the worker',
    ])
    tunnel.socket.close()
    await until(async () => (await detailOf(await send(`/proxy/${id}/8888/`)))[1]?.toString().includes('is not connected') === true)
    await FakeTunnel.open(scene.host, hello, [])
    expect((await detailOf(await send(`/proxy/${id}/8888/`)))[1]).toContain('does not support this')
  })

  it('[NET-11] passes WebSockets in both directions', async () => {
    const { id } = await runPod(async ({ stream, target }) => {
      stream.accept()
      stream.sendHead({ status: 101, headers: [['sec-websocket-protocol', 'chat']] })
      const reader = new RecordReader()
      for (let bytes = await stream.read(); bytes !== null; bytes = await stream.read()) {
        for (const record of reader.push(bytes)) {
          if (record.kind !== 'text') continue
          const answer = encodeRecord({ kind: 'text', text: `${target.path} ${record.text}` })
          if (answer !== null) await stream.write(answer)
        }
      }
    })
    const answer = await send(`/proxy/${id}/8888/kernel`, { headers: { Upgrade: 'websocket', 'Sec-WebSocket-Protocol': 'chat' } })
    const heard: unknown[] = []
    answer.webSocket?.addEventListener('message', ({ data }) => heard.push(data))
    answer.webSocket?.accept()
    answer.webSocket?.send('hi')
    await until(() => heard.length === 1)
    expect([answer.headers.get('sec-websocket-protocol'), heard]).toEqual(['chat', ['/kernel hi']])
    answer.webSocket?.close()
  })

  it('[NET-51] closes a WebSocket with a reason whose client only receives; a client that also sends is not closed', async () => {
    const MIB = 2 ** 20
    const { id } = await runPod(async ({ stream, target }) => {
      stream.accept()
      stream.sendHead({ status: 101, headers: [] })
      const record = encodeRecord({ kind: 'binary', bytes: new Uint8Array(MIB) })
      const isDialogue = target.path === '/dialogue'
      for (let sent = 0; sent < (isDialogue ? 40 : 80) && record !== null; sent += 1) {
        if (isDialogue && sent === 20) await stream.read()
        await stream.write(record)
      }
    })
    const visit = async (talks: boolean) => {
      const path = talks ? 'dialogue' : 'video'
      const { webSocket: socket } = await send(`/proxy/${id}/8888/${path}`, { headers: { Upgrade: 'websocket' } })
      if (!socket) throw new Error('no socket')
      let taken = 0
      const closed = new Promise<unknown>((resolve) => socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason })))
      const whole = new Promise<unknown>((resolve) => {
        socket.addEventListener('message', () => {
          taken += 1
          if (talks && taken === 20) socket.send('go on')
          if (taken === (talks ? 40 : 80)) resolve('all of it')
        })
      })
      socket.accept()
      const end = await Promise.race([closed, whole])
      socket.close()
      return { end, taken }
    }
    const silent = await visit(false)
    expect(silent.end).toEqual({
      code: 1013,
      reason: 'the client must send data from time to time: it received too much since its last message',
    })
    // 24 MiB, plus the credit that returns over time while a slow machine sends them.
    expect(silent.taken).toBeGreaterThanOrEqual(24)
    expect(silent.taken).toBeLessThan(60)
    expect(await visit(true)).toEqual({ end: 'all of it', taken: 40 })
  })

  it('[NET-15] has a share of the tunnel of its host: visitors beyond it are refused with the reason, and its owner still has access', async () => {
    const { id, tunnel } = await runPod(() => new Promise(() => undefined))
    const leave = new AbortController()
    const visits = Array.from({ length: 129 }, () => send(`/proxy/${id}/8888/`, { signal: leave.signal }).catch(() => null))
    const late = await Promise.race(visits)
    expect(late === null ? null : await detailOf(late)).toEqual([
      503,
      'the pod could not be reached: 128 connections to this pod are already open, which is the maximum',
    ])
    expect(tunnel.served.length).toBe(128)
    leave.abort()
    await Promise.all(visits)
  })
})

it('[NET-1] is 524 for a pod that is reached and does not respond in time', () => {
  expect(podProblem({ code: 'late', detail: 'it did not begin to respond within 100 s' })).toMatchObject({
    status: 524,
    detail: 'the pod was reached, but it did not begin to respond within 100 s',
  })
})

describe('[NET-1] addresses of HTTP ports', () => {
  const parse = (url: string) => parsePortCall(new URL(url), 'pods.example.com')

  it('lead to a pod and its port, by name or by path', () => {
    expect([
      parse('https://7h9k2m4n6p-8888.pods.example.com/lab?x=1'),
      parse('https://plane.example.com/proxy/7h9k2m4n6p/8888'),
      parse('https://plane.example.com/proxy/7h9k2m4n6p/8888/a/b?c'),
    ]).toEqual([
      { podId: '7h9k2m4n6p', port: 8888, path: '/lab?x=1', prefix: null },
      { podId: '7h9k2m4n6p', port: 8888, path: '/', prefix: '/proxy/7h9k2m4n6p/8888' },
      { podId: '7h9k2m4n6p', port: 8888, path: '/a/b?c', prefix: '/proxy/7h9k2m4n6p/8888' },
    ])
  })

  it("never lead from a pod's domain into the plane, and an invalid path of the plane leads to no pod", () => {
    expect([
      parse('https://plane.pods.example.com/v2/pods'),
      parse('https://pods.example.com/v2/pods'),
      parse('https://plane.example.com/proxy/x'),
      parse('https://plane.example.com/proxy/x/0'),
      parse('https://plane.example.com/proxy/x/99999'),
    ]).toEqual([
      { podId: '', port: 0, path: '/v2/pods', prefix: null },
      null,
      null,
      null,
      { podId: 'x', port: 99_999, path: '/', prefix: '/proxy/x/99999' },
    ])
  })
})
