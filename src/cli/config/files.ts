import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'smol-toml'
import { makeDirDurably, writeDurablySync } from '../../node/durable-file.ts'
import { errorText, hasCode } from '../../node/fail.ts'
import { usage } from '../core/failure.ts'
import type { Io } from '../core/io.ts'
import type { Config, Credentials } from './target.ts'

/** Configuration directory of the user (XDG). */
export function configDir({ env, home }: Pick<Io, 'env' | 'home'>): string {
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'podplane')
}

/** Path of config.toml, which holds the contexts. */
export function configPath(io: Pick<Io, 'env' | 'home'>): string {
  return join(configDir(io), 'config.toml')
}

/** Path of credentials.json, which holds the keys of the contexts. */
export function credentialsPath(io: Pick<Io, 'env' | 'home'>): string {
  return join(configDir(io), 'credentials.json')
}

/** Reads config.toml; without the file there are no contexts. Throws a usage error if it is unreadable, damaged or invalid. */
export function readConfig(io: Pick<Io, 'env' | 'home'>): Config {
  const path = configPath(io)
  const text = readText(path)
  if (text === undefined) return { contexts: {} }
  const { current, contexts = {} } = parsed(path, () => parse(text))
  if (current !== undefined && typeof current !== 'string') throw usage(`${path}: current must be the name of a context`)
  if (!isRecord(contexts)) throw usage(`${path}: contexts must be tables, such as [contexts.lab]`)
  const entries = Object.entries(contexts).map(([name, context]) => {
    if (!isRecord(context) || typeof context.url !== 'string') throw usage(`${path}: contexts.${name} needs a url`)
    return [name, { url: context.url }] as const
  })
  return { ...(current !== undefined && { current }), contexts: Object.fromEntries(entries) }
}

/** Replaces config.toml. Throws the error of the file system if that fails. */
export function writeConfig(io: Pick<Io, 'env' | 'home'>, { current, contexts }: Config): void {
  writePrivate(io, configPath(io), stringify({ ...(current !== undefined && { current }), contexts }))
}

/** Reads the keys of the contexts; without the file there are none. Throws a usage error if it is unreadable or damaged. */
export function readCredentials(io: Pick<Io, 'env' | 'home'>): Credentials {
  const path = credentialsPath(io)
  const text = readText(path)
  if (text === undefined) return {}
  const contexts = parsed(path, () => (JSON.parse(text) as { contexts?: unknown }).contexts ?? {})
  if (!isRecord(contexts)) throw usage(`${path} is damaged; remove it and sign in again`)
  return Object.fromEntries(
    Object.entries(contexts).flatMap(([name, one]) => (isRecord(one) && typeof one.key === 'string' ? [[name, one.key]] : [])),
  )
}

/** Stores the key of a context, or deletes it if undefined (CMD-6). */
export function writeCredential(io: Pick<Io, 'env' | 'home'>, context: string, key: string | undefined): void {
  const { [context]: _credential, ...others } = readCredentials(io)
  const all = key === undefined ? others : { ...others, [context]: key }
  const contexts = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, { key: value }]))
  writePrivate(io, credentialsPath(io), `${JSON.stringify({ contexts }, null, 2)}\n`)
}

function writePrivate(io: Pick<Io, 'env' | 'home'>, path: string, text: string): void {
  makeDirDurably(configDir(io))
  writeDurablySync(path, text)
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return undefined
    throw usage(`${path} cannot be read: ${errorText(error)}`)
  }
}

function parsed<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw usage(`${path} is damaged: ${errorText(error).split('\n')[0]}`)
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
