import { WebSocket } from 'ws'
import {
  MAX_SSH_OPEN_CHARS,
  SSH_ADMIT_PATH,
  SSH_OPEN_HEADER,
  SSH_OPEN_PATH,
  type SshAdmit,
  type SshLogin,
  type SshTarget,
} from '../host-protocol/ssh-proxy.ts'
import { errorText } from '../node/fail.ts'
import { PodConnection } from './connection.ts'

const TIMEOUT_MS = 15_000
const MAX_MESSAGE_BYTES = 2 ** 20
const MAX_REFUSAL_BYTES = 16 * 1024
const FORBIDDEN = 403

/** The reason why a pod cannot be reached, as shown to the client. */
export class ConnectionRefused extends Error {
  override readonly name = 'ConnectionRefused'
}

/** Client of the plane, with the proxy's own key and not that of an account. */
export class Plane {
  private readonly url: string
  private readonly key: string

  constructor(url: string, key: string) {
    this.url = url.replace(/\/+$/, '')
    this.key = key
  }

  /** Whether this key gives access to the pod. Throws when the plane does not answer with yes or no. */
  async admits(admit: SshAdmit): Promise<boolean> {
    const response = await fetch(`${this.url}${SSH_ADMIT_PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(admit),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await response.text()
    if (response.ok) return true
    if (response.status === FORBIDDEN) return false
    throw new Error(`the plane answered ${response.status}: ${detailOf(text)}`)
  }

  /** Opens a command or port. Rejects with `ConnectionRefused`. */
  open(login: SshLogin, target: SshTarget): Promise<PodConnection> {
    const header = Buffer.from(JSON.stringify({ ...login, target })).toString('base64url')
    if (header.length > MAX_SSH_OPEN_CHARS)
      throw new ConnectionRefused('the command is longer than the proxy takes: put it into a file, or say it on stdin')
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`${this.url.replace(/^http/, 'ws')}${SSH_OPEN_PATH}`, {
        headers: { authorization: `Bearer ${this.key}`, [SSH_OPEN_HEADER]: header },
        handshakeTimeout: TIMEOUT_MS,
        followRedirects: false,
        maxPayload: MAX_MESSAGE_BYTES,
        perMessageDeflate: false,
      })
      // Created before the connection opens, so that no message arrives without a listener.
      const connection = new PodConnection(socket)
      socket.once('open', () => resolve(connection))
      socket.once('unexpected-response', (_request, response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => {
          text = (text + part).slice(0, MAX_REFUSAL_BYTES)
        })
        response.on('close', () => {
          reject(new ConnectionRefused(detailOf(text)))
          socket.terminate()
        })
      })
      socket.once('error', (error) => reject(new ConnectionRefused(`the plane could not be reached: ${errorText(error)}`)))
    })
  }
}

function detailOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown }
    return typeof detail === 'string' ? detail : 'no reason was given'
  } catch {
    return 'no reason was given'
  }
}
