import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { WebSocket } from 'ws'
import { realTime } from '../../../support/time.ts'
import { callPlane, type TestPlane } from './plane.ts'

const BEAT_MS = 5_000
const DIAL_TIMEOUT_MS = 15_000
const REDIAL_MS = 1_000
const AUDIENCE = 'podplane-host'
const JOINS_AT_ONCE = 8
const INVENTORY = {
  agentVersion: 'reliability',
  protocolVersion: 1,
  os: 'none',
  vcpus: 2,
  memoryMb: 4_096,
  diskGb: 1,
  gpus: [],
  runtimes: ['process'],
  simulated: true,
}

type PlaneAccess = Pick<TestPlane, 'url' | 'operatorKey'>

/** Hosts that join over the host protocol, link, send heartbeats, and run nothing. */
export class BeatingHosts {
  private readonly hosts: { id: string; key: KeyObject }[] = []
  private readonly sockets = new Set<WebSocket>()
  private url = ''
  private dialling = false

  get linked(): number {
    return [...this.sockets].filter((socket) => socket.readyState === WebSocket.OPEN).length
  }

  /** Enrols this many hosts and links each of them once. */
  async join(plane: PlaneAccess, count: number): Promise<void> {
    this.url = plane.url
    let next = 0
    const joinNext = async () => {
      while (next < count) {
        next += 1
        await this.joinOne(plane, `beating-${next}`)
      }
    }
    await Promise.all(Array.from({ length: JOINS_AT_ONCE }, joinNext))
  }

  /** Makes every host without a link dial again, as agents do, until `close`. */
  redial(): void {
    this.dialling = true
    for (const host of this.hosts) void this.keepLinked(host)
  }

  /** Ends all links. */
  close(): void {
    this.dialling = false
    for (const socket of this.sockets) socket.terminate()
    this.sockets.clear()
  }

  private async joinOne(plane: PlaneAccess, name: string): Promise<void> {
    const { token } = await callPlane<{ token: string }>(plane, plane.operatorKey, 'POST', '/admin/v1/join-tokens', { name })
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const { x } = publicKey.export({ format: 'jwk' })
    const proof = signed(privateKey, { sub: createHash('sha256').update(token).digest('hex') })
    const body = { joinToken: token, name, publicKey: { kty: 'OKP', crv: 'Ed25519', x }, proof, inventory: INVENTORY }
    const enrolled = await this.post('/host/v1/enrol', body)
    if (enrolled?.accessToken === undefined) throw new Error(`the host ${name} was not enrolled`)
    this.hosts.push({ id: enrolled.hostId, key: privateKey })
    await this.link(enrolled.accessToken)
  }

  private async keepLinked(host: { id: string; key: KeyObject }): Promise<void> {
    while (this.dialling) {
      const assertion = signed(host.key, { iss: host.id, sub: host.id, epoch: 1 })
      const answer = await this.post('/host/v1/token', { assertion })
      if (answer !== undefined) await (await this.link(answer.accessToken))?.closed
      await realTime(REDIAL_MS * (0.5 + Math.random()), 'a host without a link dials again a moment later')
    }
  }

  /** Returns the body of an answer, or undefined if there was none or it is no success. */
  private async post(path: string, body: unknown): Promise<{ hostId: string; accessToken: string } | undefined> {
    const headers = { 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(DIAL_TIMEOUT_MS)
    try {
      const response = await fetch(this.url + path, { method: 'POST', headers, body: JSON.stringify(body), signal })
      const text = await response.text()
      return response.ok ? JSON.parse(text) : undefined
    } catch {
      return undefined
    }
  }

  /** Resolves once linked, or with undefined if the plane refused the link. */
  private link(token: string): Promise<{ closed: Promise<void> } | undefined> {
    const socket = new WebSocket(`${this.url.replace(/^http/, 'ws')}/host/v1/link`, {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: DIAL_TIMEOUT_MS,
      perMessageDeflate: false,
    })
    this.sockets.add(socket)
    let beat = 0
    let timer: NodeJS.Timeout | undefined
    const sendBeat = () => {
      beat += 1
      socket.send(JSON.stringify({ type: 'beat', beat, appliedRevision: Number.MAX_SAFE_INTEGER, sentAt: Date.now(), workloads: [] }))
    }
    const closed = new Promise<void>((resolve) => {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        clearInterval(timer)
        this.sockets.delete(socket)
        resolve()
      })
    })
    return new Promise((resolve) => {
      void closed.then(() => resolve(undefined))
      socket.on('open', () => socket.send(JSON.stringify({ type: 'hello', inventory: INVENTORY, workloads: [] })))
      // The plane's first message is the host's desired state.
      socket.once('message', () => {
        sendBeat()
        timer = setInterval(sendBeat, BEAT_MS)
        resolve({ closed })
      })
    })
  }
}

/** Returns a JWT signed with the host's key, valid for a minute. */
function signed(key: KeyObject, claims: Record<string, unknown>): string {
  const issuedAt = Math.floor(Date.now() / 1000) - 2
  const payload = { ...claims, aud: AUDIENCE, iat: issuedAt, exp: issuedAt + 60, jti: randomUUID() }
  const text = [{ alg: 'EdDSA', typ: 'JWT' }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`
}
