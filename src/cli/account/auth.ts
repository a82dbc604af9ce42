import { readConfig, writeConfig, writeCredential } from '../config/files.ts'
import { readAll } from '../core/body.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import type { Session } from '../core/session.ts'

export interface LoginFlags {
  withKey?: boolean
  name?: string
}

const KEY = /^pp_\w+$/

/** Keeps a key for a plane, once the plane has said that it is good. */
export async function logIn(session: Session, { withKey, name }: LoginFlags): Promise<number> {
  const { url, context } = session.target
  if (!withKey && !session.canAsk) throw usage('nobody can be asked for a key here', 'podplane auth login --with-key < key.txt')
  const key = (withKey ? await readAll(session.io.stdin) : await session.ask(`An API key of ${url}, from its console under Keys: `)).trim()
  if (!KEY.test(key)) throw usage('an API key begins with pp_')
  const user = await session.connectAs(key).getUser()
  const kept = name ?? context ?? new URL(url).hostname
  const config = readConfig(session.io)
  writeConfig(session.io, { current: kept, contexts: { ...config.contexts, [kept]: { url } } })
  writeCredential(session.io, kept, key)
  session.out.record({ context: kept, url, user }, kept)
  session.out.talk(`signed in; context ${kept} is used from now on`)
  return EXIT.OK
}

export function logOut({ io, out, target }: Session): void {
  if (target.context === undefined)
    throw new CliError(EXIT.NOT_FOUND, 'no_context', `no context is used: the key is that of ${target.keySource ?? 'nobody'}`)
  writeCredential(io, target.context, undefined)
  out.talk(`the key of ${target.context} is forgotten here; podplane keys delete revokes it`)
}

/** Which plane and key are used, and whose the key is. */
export async function printStatus(session: Session): Promise<number> {
  const { url, source, keySource, context } = session.target
  const user = await session.api.getUser()
  session.out.record({ url, context: context ?? null, source, keySource, user })
  return EXIT.OK
}
