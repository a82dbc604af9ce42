import { hostname } from 'node:os'
import { ApiError } from '../../client/client.ts'
import { startDeviceLogin, waitForDeviceKey } from '../../client/device.ts'
import { readConfig, writeConfig, writeCredential } from '../config/files.ts'
import { readAll } from '../core/body.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import type { Session } from '../session/session.ts'

/** Flags of `auth login`. */
export interface LoginFlags {
  withKey?: boolean
  name?: string
}

const KEY = /^pp_\w+$/

/**
 * Signs in and stores the key for a context: a key that a user approves in the console (RFC 8628), or one from stdin that the plane
 * accepts.
 */
export async function logIn(session: Session, { withKey, name }: LoginFlags): Promise<void> {
  const { url, context } = session.target
  const key = withKey ? await readKey(session) : await askForKey(session)
  const user = await session.connectAs(key).getUser()
  const kept = name ?? context ?? new URL(url).hostname
  const config = readConfig(session.io)
  writeConfig(session.io, { current: kept, contexts: { ...config.contexts, [kept]: { url } } })
  writeCredential(session.io, kept, key)
  session.out.record({ context: kept, url, user }, kept)
  session.out.talk(`signed in; switched to context ${kept}`)
}

async function readKey(session: Session): Promise<string> {
  const key = (await readAll(session.io.stdin)).trim()
  if (!KEY.test(key)) throw usage('an API key begins with pp_')
  return key
}

/** Needs no terminal input: a user who is signed in at the console compares the code and approves this device. */
async function askForKey(session: Session): Promise<string> {
  const { url } = session.target
  const { signal } = session
  const login = await startDeviceLogin(url, `podplane on ${hostname()}`, { signal }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    throw new CliError(EXIT.NOT_ALLOWED, 'no_device_login', `${url} does not support sign-in by device`, {
      hint: 'podplane auth login --with-key < key.txt',
    })
  })
  session.out.talk(`Open ${login.verification_uri_complete}\nand approve this device if the page shows the code ${login.user_code}.`)
  return (await waitForDeviceKey(url, login, { signal }).catch(refusalOf)).access_token
}

function refusalOf(error: unknown): never {
  if (!(error instanceof ApiError)) throw error
  if (error.code === 'access_denied') throw new CliError(EXIT.NOT_ALLOWED, error.code, 'the sign-in of this device was denied')
  if (error.code === 'expired_token')
    throw new CliError(EXIT.TIMED_OUT, error.code, 'the device was not approved in time', { hint: 'run podplane auth login again' })
  throw error
}

/** Removes the key of the context in use from this machine. Throws `CliError` if no context is in use. */
export function logOut({ io, out, target }: Session): void {
  if (target.context === undefined)
    throw new CliError(EXIT.NOT_FOUND, 'no_context', `no context is in use: the key comes from ${target.keySource ?? 'nowhere'}`)
  writeCredential(io, target.context, undefined)
  out.talk(`the key of ${target.context} is removed from this machine; podplane keys delete revokes it`)
}

/** Prints the plane and key in use, and the user of the key. */
export async function printStatus(session: Session): Promise<void> {
  const { url, source, keySource, context } = session.target
  const user = await session.api.getUser()
  session.out.record({ url, context: context ?? null, source, keySource, user })
}
