import { once } from 'node:events'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server as HttpServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import ssh2, { type Client, type ClientChannel, type ConnectConfig } from 'ssh2'
import { afterEach, describe, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { SSH_OPEN_HEADER, SshAdmit, SshOpen } from '../../src/host-protocol/ssh-proxy.ts'
import { type ChannelMessage, decodeChannel, encodeChannel, exited } from '../../src/host-protocol/tunnel/channels.ts'
import { loadHostKey } from '../../src/ssh-proxy/host-key.ts'
import { ConnectionLimits, LIMITS, type Limits, sourceOf } from '../../src/ssh-proxy/limits.ts'
import { openSshProxy, type SshProxy } from '../../src/ssh-proxy/proxy.ts'
import { parseList } from '../../src/ssh-proxy/sftp/attributes.ts'
import { tempDir } from '../host-agent/support/temp-dir.ts'
import { waitUntil } from '../support/time.ts'

/** The library cannot read about one in some hundred of the keys that it makes. */
function makeKey(): { private: string; public: string } {
  const key = ssh2.utils.generateKeyPairSync('ed25519')
  return ssh2.utils.parseKey(key.private) instanceof Error ? makeKey() : key
}
const KEY = makeKey()
const OTHER = makeKey()
const PROXY_KEY = 'a-key-of-the-ssh-proxy-that-is-long-enough'
const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0).toReversed()) close()
})

/** The plane's part of `/ssh/v1`, played: it knows one key. */
class PlayedPlane {
  readonly admitted: SshAdmit[] = []
  readonly opened: SshOpen[] = []
  readonly sockets: WebSocket[] = []
  readonly heard: ChannelMessage[] = []
  private readonly server: HttpServer
  private readonly known = KEY.public.split(' ').slice(0, 2).join(' ')

  constructor() {
    this.server = createServer(async (request, response) => {
      let text = ''
      for await (const part of request) text += part
      expect(request.headers.authorization).toBe(`Bearer ${PROXY_KEY}`)
      const admit = SshAdmit.parse(JSON.parse(text))
      this.admitted.push(admit)
      response.writeHead(admit.key === this.known && admit.user === 'pod-00000000' ? 204 : 403).end()
    })
    const sockets = new WebSocketServer({ noServer: true })
    this.server.on('upgrade', (request, socket, head) => {
      const text = Buffer.from(String(request.headers[SSH_OPEN_HEADER]), 'base64url').toString()
      this.opened.push(SshOpen.parse(JSON.parse(text)))
      sockets.handleUpgrade(request, socket, head, (opened) => {
        this.sockets.push(opened)
        opened.on('message', (data) => {
          const message = decodeChannel(data as Buffer)
          if (message !== null) this.heard.push(message)
        })
      })
    })
  }

  async listen(): Promise<string> {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    closers.push(() => {
      this.server.closeAllConnections()
      this.server.close()
    })
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  say(message: ChannelMessage): void {
    this.sockets.at(-1)?.send(encodeChannel(message))
  }
}

async function setUp(limits?: Limits): Promise<{ plane: PlayedPlane; proxy: SshProxy }> {
  const plane = new PlayedPlane()
  const planeUrl = await plane.listen()
  const common = { planeUrl, key: PROXY_KEY, host: '127.0.0.1', port: 0, stateDir: tempDir('ssh-proxy'), log: () => {} }
  const proxy = await openSshProxy({ ...common, ...(limits && { limits }) })
  closers.push(() => void proxy.close())
  return { plane, proxy }
}

async function enter(proxy: SshProxy, config: ConnectConfig = { privateKey: KEY.private }): Promise<Client> {
  const client = new ssh2.Client()
  client.on('error', () => {})
  closers.push(() => client.destroy())
  client.connect({ host: '127.0.0.1', port: proxy.port, username: 'pod-00000000', ...config })
  await Promise.race([once(client, 'ready'), once(client, 'close').then(() => Promise.reject(new Error('not let in')))])
  return client
}

const exec = (client: Client, command: string) =>
  new Promise<ClientChannel>((resolve, reject) => client.exec(command, (error, channel) => (error ? reject(error) : resolve(channel))))

describe('the SSH proxy', () => {
  test('[NET-21] admits only a key that is proven and that the plane knows', async () => {
    const { plane, proxy } = await setUp()
    await enter(proxy)
    expect(plane.admitted.map(({ connect, address, user }) => ({ connect, address, user }))).toEqual([
      { connect: false, address: '127.0.0.1', user: 'pod-00000000' },
      { connect: true, address: '127.0.0.1', user: 'pod-00000000' },
    ])
    const otherTenants: ConnectConfig[] = [
      { privateKey: OTHER.private },
      { username: 'pod-11111111', privateKey: KEY.private },
      { password: 'p' },
    ]
    for (const config of otherTenants) await expect(enter(proxy, config)).rejects.toThrow(/methods failed|not let in/)
    expect(plane.opened).toEqual([])
  })

  test('[NET-29] runs only the first command of a channel, and other connections continue', async () => {
    const { plane, proxy } = await setUp()
    const [client, other] = [await enter(proxy), await enter(proxy)]
    const channel = await exec(client, 'first')
    await waitUntil('a command', () => plane.opened.length === 1)
    const { _protocol: protocol } = client as unknown as { _protocol: Record<'exec' | 'shell' | 'subsystem', (...of: unknown[]) => void> }
    const { id } = (channel as unknown as { outgoing: { id: number } }).outgoing
    protocol.exec(id, 'second', false)
    protocol.shell(id, false)
    protocol.subsystem(id, 'sftp', false)
    protocol.subsystem(id, 'else', false)
    await exec(other, 'of another client')
    await waitUntil('that command', () => plane.opened.length === 2)
    const commands = plane.opened.map(({ target }) => target.kind === 'exec' && target.command?.at(-1))
    expect(commands).toEqual(['first', 'of another client'])
  })

  test('[SHR-39] counts one IPv6 network as one address', () => {
    const same = ['2001:db8:1:2::1', '2001:0db8:0001:0002:ffff::', '2001:db8:1:2:3:4:5:6']
    expect(new Set(same.map(sourceOf))).toEqual(new Set(['2001:db8:1:2::/64']))
    expect(['2001:db8:1:3::1', '::1', '192.0.2.1', '::ffff:192.0.2.1'].map(sourceOf)).toEqual([
      '2001:db8:1:3::/64',
      '0:0:0:0::/64',
      '192.0.2.1',
      '::ffff:192.0.2.1',
    ])
  })

  test('[NET-25] passes a command, its outputs, its input and its end', async () => {
    const { plane, proxy } = await setUp()
    const channel = await exec(await enter(proxy), 'run it')
    await waitUntil('a command', () => plane.sockets.length === 1)
    const { target } = plane.opened[0] ?? {}
    expect(target).toMatchObject({ kind: 'exec', terminal: null })
    expect(target?.kind === 'exec' && target.command?.at(-1)).toBe('run it')
    let [out, err] = ['', '']
    channel.on('data', (data: Buffer) => {
      out += data
    })
    channel.stderr.on('data', (data: Buffer) => {
      err += data
    })
    const [ended, closed] = [once(channel, 'exit'), once(channel, 'close')]
    channel.write('typed')
    channel.signal('INT')
    channel.end()
    await waitUntil('what was said', () => plane.heard.some(({ channel }) => channel === 'close'))
    expect(plane.heard.map(({ channel }) => channel).toSorted()).toEqual(['close', 'signal', 'stdin'])
    plane.say({ channel: 'stdout', bytes: Buffer.from('out') })
    plane.say({ channel: 'stderr', bytes: Buffer.from('err') })
    plane.say({ channel: 'status', status: exited(9) })
    expect((await ended)[0]).toBe(9)
    await closed
    expect([out, err]).toEqual(['out', 'err'])
  })

  test('[NET-27] forwards ports of the pod alone, and forwards neither agents, nor X11, nor ports of the client', async () => {
    const { plane, proxy } = await setUp()
    const client = await enter(proxy)
    const forward = (host: string) =>
      new Promise<unknown>((resolve) => client.forwardOut('127.0.0.1', 1, host, 8888, (error, channel) => resolve(error ?? channel)))
    for (const host of ['192.0.2.1', 'metadata.internal', '10.0.0.1']) expect(await forward(host)).toBeInstanceOf(Error)
    expect(await forward('localhost')).not.toBeInstanceOf(Error)
    await waitUntil('a port', () => plane.opened.length === 1)
    expect(plane.opened.map(({ target }) => target)).toEqual([{ kind: 'tcp', port: 8888 }])
    const refused = await new Promise((resolve) => client.forwardIn('127.0.0.1', 0, (error) => resolve(error)))
    expect(refused).toBeInstanceOf(Error)
    const display = new Promise((resolve) => client.exec('true', { x11: true }, (error) => resolve(error)))
    expect(await display).toEqual(new Error('Unable to request X11'))
    // The library requests forwarding before each command. The plane knows the key, so the agent itself is never called.
    const agent = { privateKey: KEY.private, agent: '/nowhere', agentForward: true }
    await expect(exec(await enter(proxy, agent), 'true')).rejects.toThrow('Unable to request agent forwarding')
    expect(plane.opened.length).toBe(1)
  })

  test('[NET-9] ends a session whose access is closed, with the reason', async () => {
    const { plane, proxy } = await setUp()
    const channel = await exec(await enter(proxy), 'stay')
    await waitUntil('a command', () => plane.sockets.length === 1)
    let err = ''
    channel.stderr.on('data', (data: Buffer) => {
      err += data
    })
    channel.resume()
    const [ended, closed] = [once(channel, 'exit'), once(channel, 'close')]
    plane.sockets[0]?.close(1008, 'the pod does not run any more')
    expect((await ended)[0]).toBe(255)
    await closed
    expect(err).toBe('the pod does not run any more\r\n')
  })

  test('[NET-24] refuses connections that it has no room for before it reads a byte', async () => {
    const { proxy } = await setUp({ ...LIMITS, unauthenticatedPerAddress: 1 })
    const first = connect(proxy.port, '127.0.0.1')
    closers.push(() => first.destroy())
    await once(first, 'data')
    const second = connect(proxy.port, '127.0.0.1')
    let heard = ''
    second.on('data', (data) => {
      heard += data
    })
    await once(second, 'close')
    expect(heard).toBe('')
  })

  test('[NET-23] has one host key, readable by its user alone', async () => {
    const dir = tempDir('ssh-key')
    const path = join(dir, 'ssh_host_ed25519_key')
    const made = loadHostKey(dir)
    expect([loadHostKey(dir), readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual([made, made, 0o600])
    writeFileSync(path, 'nothing')
    chmodSync(path, 0o600)
    expect(() => loadHostKey(dir)).toThrow('is no private key')
    expect(readFileSync(path, 'utf8')).toBe('nothing')
  })
})

describe('[NET-24] unauthenticated clients of the SSH proxy', () => {
  const SMALL: Limits = { perAddress: 3, all: 4, unauthenticatedPerAddress: 2, unauthenticated: 3, failuresPerMinute: 2 }

  test('are bounded by address and in total; a client with a proven key does not count among them', () => {
    const connections = new ConnectionLimits(SMALL, () => 0)
    const [first] = [connections.enter('a'), connections.enter('a')]
    expect(connections.enter('a')).toBeNull()
    first?.known()
    expect(connections.enter('a')).not.toBeNull()
    expect(connections.enter('a')).toBeNull()
    expect(connections.enter('b')).not.toBeNull()
    expect(connections.enter('c')).toBeNull()
  })

  test('wait for a minute after repeated failures; leaving twice counts once', () => {
    let nowMs = 0
    const connections = new ConnectionLimits(SMALL, () => nowMs)
    const fail = () => connections.enter('a')?.leave()
    const known = connections.enter('a')
    known?.known()
    known?.leave()
    known?.leave()
    fail()
    fail()
    expect([connections.enter('a'), connections.enter('b') === null]).toEqual([null, false])
    nowMs = 60_000
    expect(connections.enter('a')).not.toBeNull()
  })
})

test.each(['stranger', 'known'] as const)('[SHR-39] ten addresses that take all they may leave a place to the next one, %s', (kind) => {
  const connections = new ConnectionLimits(LIMITS, () => 0)
  const enter = (address: string) => {
    const entry = connections.enter(address)
    if (kind === 'known') entry?.known()
    return entry !== null
  }
  const taken = Array.from(
    { length: 10 },
    (_, number) => Array.from({ length: 300 }, () => enter(`greedy ${number}`)).filter(Boolean).length,
  )
  expect(taken.slice(0, 2)).toEqual(kind === 'known' ? [256, 256] : [64, 64])
  expect([taken.every((count) => count > 0), enter('late')]).toEqual([true, true])
})

test('[NET-26] entries of a directory are read whatever their names', () => {
  const text = '41ed 4096 0 0 1 2 .\n81a4 5 0 7 1 2 ./two\nlines\na1ff 5 0 0 1 2 ./81a4 5 0 0 1 2 ./x\n'
  expect(parseList(text).map(({ filename, longname, attrs }) => [filename, longname.slice(0, 10), attrs.size])).toEqual([
    ['.', 'drwxr-xr-x', 4096],
    ['two\nlines', '-rw-r--r--', 5],
    ['81a4 5 0 0 1 2 ./x', 'lrwxrwxrwx', 5],
  ])
})
