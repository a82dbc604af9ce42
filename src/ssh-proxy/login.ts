import type { AuthContext, PublicKeyAuthContext } from 'ssh2'
import type { SshLogin } from '../host-protocol/ssh-proxy.ts'
import { errorText } from '../node/fail.ts'
import type { Log } from './log.ts'
import type { Plane } from './plane.ts'
import { utils } from './ssh2.ts'

const METHODS: ['publickey'] = ['publickey']
/** Keys that one connection may offer; an SSH agent offers all that it has. */
const MAX_OFFERS = 10

/** Authenticates one connection by a public key of the pod's account, and by no other method (NET-21). */
export class Login {
  /** The login of the connection, once its key is proven. */
  login: SshLogin | null = null
  private readonly plane: Pick<Plane, 'admits'>
  private readonly address: string
  private readonly log: Log
  private offers = 0

  constructor(plane: Pick<Plane, 'admits'>, address: string, log: Log) {
    this.plane = plane
    this.address = address
    this.log = log
  }

  async judge(context: AuthContext): Promise<void> {
    if (context.method !== 'publickey') return context.reject(METHODS)
    this.offers += 1
    if (this.offers > 2 * MAX_OFFERS) return context.reject([])
    try {
      const login = loginOf(context)
      const isProven = login !== null && context.signature !== undefined && isSigned(context, login.key)
      if (login === null || (context.signature !== undefined && !isProven)) return context.reject(METHODS)
      if (!(await this.plane.admits({ ...login, connect: isProven, address: this.address }))) return context.reject(METHODS)
      if (isProven) this.login = login
      context.accept()
    } catch (error) {
      this.log('error', 'a key could not be judged', { error: errorText(error) })
      context.reject(METHODS)
    }
  }
}

/** The type is read from the key itself, because the client may send the name of a signature algorithm instead. */
function loginOf({ username, key: { data } }: PublicKeyAuthContext): SshLogin | null {
  const length = data.length >= 4 ? data.readUInt32BE(0) : 0
  const type = data.subarray(4, 4 + length).toString('latin1')
  return /^[a-z0-9@.-]{1,64}$/.test(type) ? { user: username, key: `${type} ${data.toString('base64')}` } : null
}

function isSigned({ blob, signature, hashAlgo }: PublicKeyAuthContext, key: string): boolean {
  const parsed = utils.parseKey(key)
  if (parsed instanceof Error || blob === undefined || signature === undefined) return false
  const one = Array.isArray(parsed) ? parsed[0] : parsed
  return one?.verify(blob, signature, hashAlgo) === true
}
