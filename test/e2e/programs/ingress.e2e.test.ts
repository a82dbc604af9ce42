import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type ChannelMessage, decodeChannel, encodeChannel } from '../../../src/host-protocol/tunnel/channels.ts'
import { claimPort } from '../../../src/local/port.ts'
import { waitUntil } from '../../support/time.ts'
import { BUILD_TIMEOUT_MS, pythonWorkerImage } from '../support/agent/worker-image.ts'
import { SshClient } from '../support/clients/ssh.ts'
import { callPlane, eventually, hostIsOnline, startPlane, type TestPlane } from '../support/plane/plane.ts'
import { GPU_TYPE, type PodView, TestPod } from '../support/plane/pods.ts'

// Ingress of a pod whose host has no public address, through common clients.

const SESSIONS = 50
const directory = mkdtempSync(join(tmpdir(), 'podplane-e2e-doors-'))

let plane: TestPlane
let pod: TestPod
let client: SshClient
let proxy: { host: string; port: number; username: string; command: string }
beforeAll(async () => {
  const image = await pythonWorkerImage(join(import.meta.dirname, '../support/ingress'))
  plane = await startPlane({ args: ['--simulate-gpus', `${GPU_TYPE}:2`] })
  await hostIsOnline(plane)
  client = await SshClient.create()
  await callPlane(plane, plane.apiKey, 'PUT', '/v2/account/ssh-keys', { keys: [client.publicKey] })
  const body = { name: 'doors', image, disk: 1, gpu: { id: GPU_TYPE, count: 1 }, startSsh: true, ports: ['8888/http'] }
  pod = await TestPod.run(plane, { ...body, cmd: ['python3', '/handlers/notebook.py'] })
  const view = (await pod.get()) as PodView & { ssh: { proxy: typeof proxy | null } }
  if (view.ssh.proxy === null) throw new Error('the pod shows no SSH proxy')
  proxy = view.ssh.proxy
}, BUILD_TIMEOUT_MS)
afterAll(async () => {
  await pod?.terminate()
  client?.remove()
  await plane?.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Processes of the pod whose command line contains this text. */
const processes = async (text: string) =>
  (await pod.shellOf(`for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline 2>/dev/null; echo; done`))
    .split('\n')
    .filter((line) => line.includes(text))

describe('the OpenSSH client through the proxy', () => {
  test('[NET-2, NET-25, PLANE-24] runs a command: separate outputs, its exit code, and its input', async () => {
    expect(proxy.command).toBe(`ssh ${pod.id}-${proxy.username.split('-')[1]}@127.0.0.1 -p ${proxy.port}`)
    expect(await client.run(proxy.command, 'echo "$RUNPOD_POD_ID"')).toBe(pod.id)
    await expect(client.run(proxy.command, 'echo said >&2; exit 7')).rejects.toMatchObject({
      code: 7,
      stderr: expect.stringContaining('said\n'),
    })
    const bytes = randomBytes(3 * 2 ** 20)
    expect((await client.pipe(proxy.command, 'cat', bytes)).equals(bytes)).toBe(true)
  })

  test('[NET-25, HOST-133] gets a shell with a terminal of its size, and leaves no process behind', async () => {
    const shell = client.shell(proxy.command)
    // Sent again: the size of the client's own terminal may arrive after the first line.
    const answered = () => /31 101[\s\S]*-42/.test(shell.text())
    await eventually(
      'an answer',
      20_000,
      async () => {
        if (!answered()) shell.type('stty rows 31 cols 101; stty size; echo $TERM-$((6*7))\n')
        return answered()
      },
      500,
    )
    shell.type('sleep 4711\n')
    await eventually('it sleeps', 10_000, async () => (await processes('sleep 4711')).length === 1)
    shell.kill()
    await eventually('nothing is left', 15_000, async () => (await processes('sleep 4711')).length === 0)
  })

  test('[NET-26] copies files both ways with scp, by SFTP, whatever their names', async () => {
    const [up, down] = [join(directory, 'up'), join(directory, 'down')]
    writeFileSync(up, randomBytes(5 * 2 ** 20), { mode: 0o640 })
    await client.scp(['-p', up], proxy, `/tmp/it's "here"`)
    expect(await client.run(proxy.command, `stat -c '%a %s' '/tmp/it'"'"'s "here"'`)).toBe('640 5242880')
    await client.fetch(proxy, `/tmp/it's "here"`, down)
    expect(readFileSync(down).equals(readFileSync(up))).toBe(true)
    await client.scp(['-r', join(import.meta.dirname, '../support/ingress')], proxy, '/tmp/copied')
    expect(await client.run(proxy.command, 'ls /tmp/copied')).toBe('notebook.py')
    await expect(client.scp([up], proxy, '/nowhere/file')).rejects.toThrow(/No such file/)
    expect(statSync(up).size).toBe(5_242_880)
  })

  test('[NET-27, HOST-136] forwards ports of the pod, also those that it binds to loopback alone, and no others', async () => {
    const [own, loopback, foreign] = [await claimPort(0), await claimPort(0), await claimPort(0)]
    const forward = client.forward(proxy.command, [`${own}:localhost:8888`, `${loopback}:localhost:9999`, `${foreign}:192.0.2.1:80`])
    const get = async (port: number) => await (await fetch(`http://127.0.0.1:${port}/page`)).text()
    await eventually('both answer', 20_000, async () => (await get(own).catch(() => '')).startsWith('GET /page'))
    await eventually('both answer', 20_000, async () => (await get(loopback).catch(() => '')).startsWith('GET /page'))
    await expect(get(foreign)).rejects.toThrow()
    forward.kill()
  })

  test('[NET-21] is refused with another key, another suffix, and by a pod without startSsh', async () => {
    const otherTenant = await SshClient.create()
    const other = { name: 'no ssh', image: 'builtin/idle', disk: 1, gpu: { id: GPU_TYPE, count: 1 } }
    const without = await TestPod.run(plane, other)
    const { ssh } = (await without.get()) as PodView & { ssh: { proxy: { command: string } } }
    const refused = /Permission denied \(publickey\)/
    await expect(otherTenant.run(proxy.command, 'true')).rejects.toThrow(refused)
    await expect(client.run(proxy.command.replace(/-[0-9a-f]{8}@/, '-00000000@'), 'true')).rejects.toThrow(refused)
    await expect(client.run(ssh.proxy.command, 'true')).rejects.toThrow(refused)
    otherTenant.remove()
    await callPlane(plane, plane.apiKey, 'DELETE', `/v2/pods/${without.id}`)
  })

  test(`[NET-28] has ${SESSIONS} sessions of one pod at once`, async () => {
    await client.run(proxy.command, 'mkdir -p /tmp/all')
    const meet = `: > /tmp/all/$$; while [ $(ls /tmp/all | wc -l) -lt ${SESSIONS} ]; do sleep 0.5; done; echo met`
    const all = await Promise.all(Array.from({ length: SESSIONS }, () => client.run(proxy.command, meet)))
    expect(new Set(all)).toEqual(new Set(['met']))
  }, 120_000)
})

describe('a terminal over a WebSocket', () => {
  test('[NET-6, NET-7] gives a shell, changes its size, and ends with its exit code', async () => {
    const socket = new WebSocket(
      `${plane.url.replace('http', 'ws')}/v2/pods/${pod.id}/exec?tty=true&rows=20&cols=90`,
      ['v5.channel.k8s.io'],
      {
        headers: { authorization: `Bearer ${plane.apiKey}` },
      },
    )
    const heard: ChannelMessage[] = []
    const text = () => heard.map((one) => (one.channel === 'stdout' ? Buffer.from(one.bytes).toString() : '')).join('')
    const say = (message: ChannelMessage) => socket.send(encodeChannel(message))
    const type = (line: string) => say({ channel: 'stdin', bytes: Buffer.from(line) })
    socket.on('message', (data) => {
      const message = decodeChannel(data as Buffer)
      if (message !== null) heard.push(message)
    })
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    // A shell that begins before its terminal has a size gets it a moment later, as any program in it.
    const shows = (size: string) =>
      eventually(
        `its size ${size}`,
        10_000,
        async () => {
          if (!text().includes(size)) type('stty size\n')
          return text().includes(size)
        },
        500,
      )
    await shows('20 90')
    say({ channel: 'resize', rows: 33, cols: 111 })
    await shows('33 111')
    type('exit 5\n')
    await waitUntil('its end', () => heard.some(({ channel }) => channel === 'status'))
    expect(heard.at(-1)).toMatchObject({ channel: 'status', status: { status: 'Failure', exitCode: 5 } })
  })
})

describe("a notebook's server through the HTTP proxy", () => {
  /** A request with the host name that a browser resolves to this machine. */
  const byName = (path: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
      const host = `${pod.id}-8888.localhost:${plane.port}`
      request({ host: '127.0.0.1', port: plane.port, path, headers: { host, ...headers } }, (response) => {
        let body = ''
        response.on('data', (part: Buffer) => {
          body += part
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
      })
        .on('error', reject)
        .end()
    })

  test('[NET-1, NET-13] has a name of its own with its cookies, and neither below the plane', async () => {
    const own = await byName('/lab?x=1', { cookie: 'c=1', authorization: 'token t' })
    expect([own.status, own.body, own.headers['set-cookie']]).toEqual([
      200,
      'GET /lab?x=1 HTTP/1.1 cookie=c=1 authorization=token t',
      ['a=b'],
    ])
    const below = await fetch(`${plane.url}/proxy/${pod.id}/8888/lab?x=1`, { headers: { cookie: 'c=1', authorization: 'token t' } })
    expect([await below.text(), below.headers.get('set-cookie')]).toEqual(['GET /lab?x=1 HTTP/1.1 cookie=None authorization=None', null])
    expect((await byName('/events')).body).toBe('data: 0\n\ndata: 1\n\ndata: 2\n\n')
    const closed = await fetch(`${plane.url}/proxy/${pod.id}/9999/`)
    expect([closed.status, ((await closed.json()) as { detail: string }).detail]).toEqual([
      404,
      'the pod does not expose port 9999 as 9999/http, so it is not served here',
    ])
  })

  test('[NET-11] speaks over a WebSocket', async () => {
    const socket = new WebSocket(`${plane.url.replace('http', 'ws')}/proxy/${pod.id}/8888/api/kernels`)
    const heard: string[] = []
    socket.on('message', (data) => heard.push(String(data)))
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    socket.send('1 + 1')
    await waitUntil('an answer', () => heard.length === 1)
    expect(heard).toEqual(['kernel: 1 + 1'])
    socket.close()
  })
})

describe('a pod that stops', () => {
  test('[NET-9, NET-14] ends its open connections, and reports its state', async () => {
    const shell = client.shell(proxy.command)
    shell.type('echo in-$((40+2))\n')
    await waitUntil('a shell', () => shell.text().includes('in-42'))
    await pod.act('stop')
    await shell.ended
    await expect(client.run(proxy.command, 'true')).rejects.toMatchObject({
      code: 255,
      stderr: expect.stringContaining('the pod is EXITED'),
    })
    expect((await fetch(`${plane.url}/proxy/${pod.id}/8888/`)).status).toBe(409)
  })
})
