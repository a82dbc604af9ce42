import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { errorText } from '../../node/fail.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import { planOne } from '../session/act.ts'
import type { Session } from '../session/session.ts'

/** Registers a public key from a file. */
export async function addSshKey(session: Session, file: string, { plan }: { plan?: boolean }): Promise<number> {
  const line = readKey(resolve(session.io.cwd, file))
  const { keys } = await session.api.getSshKeys()
  const isNew = !keys.includes(line)
  const body = { keys: isNew ? [...keys, line] : keys }
  if (plan) return planOne(session, (query) => session.api.putSshKeys({ query, body }))
  const answer = isNew ? await session.api.putSshKeys({ body }) : body
  session.out.done(
    answer,
    line,
    isNew ? 'registered; pods created with --ssh get the key when they start' : 'the key is already registered',
  )
  return EXIT.OK
}

/** Removes the keys that contain a text. Throws `CliError` if there are none. */
export async function removeSshKeys(session: Session, text: string, { plan }: { plan?: boolean }): Promise<number> {
  const { keys } = await session.api.getSshKeys()
  const left = keys.filter((line) => !line.includes(text))
  if (left.length === keys.length) {
    throw new CliError(EXIT.NOT_FOUND, 'no_key', `no key contains ${text}`, { hint: 'podplane ssh-keys list shows the registered keys' })
  }
  if (plan) return planOne(session, (query) => session.api.putSshKeys({ query, body: { keys: left } }))
  await session.api.putSshKeys({ body: { keys: left } })
  session.out.talk(`${keys.length - left.length} removed`)
  return EXIT.OK
}

function readKey(path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw usage(`${path} cannot be read: ${errorText(error)}`)
  }
  if (text.includes('PRIVATE KEY')) throw usage(`${path} is a private key: register the .pub file beside it`)
  if (!/^(ssh|ecdsa|sk)-\S+ \S+/.test(text) || text.includes('\n'))
    throw usage(`${path}: it must be one line such as ssh-ed25519 AAAA… me@example.com`)
  return text
}
