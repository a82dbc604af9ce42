import { readConfig, readCredentials, writeConfig, writeCredential } from '../config/files.ts'
import { type Config, checkedUrl } from '../config/target.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import { columns } from '../output/columns.ts'
import type { Session } from '../session/session.ts'

interface Row {
  name: string
  url: string
  current: boolean
  hasKey: boolean
}

const NAME = /^[A-Za-z0-9][\w.-]{0,62}$/

/** Prints the contexts, and whether each has a key. */
export function listContexts({ io, out }: Session): void {
  const { contexts, current } = readConfig(io)
  const credentials = readCredentials(io)
  const rows: Row[] = Object.entries(contexts).map(([name, { url }]) => ({
    name,
    url,
    current: name === current,
    hasKey: credentials[name] !== undefined,
  }))
  out.list({ contexts: rows }, rows, {
    columns: columns<Row>('name', 'url', 'current', 'hasKey'),
    idOf: ({ name }) => name,
    empty: 'no contexts; create one with podplane auth login --url https://plane.example.com',
  })
}

/** Prints the plane in use, its context and the source of its address. */
export function showContext({ target, out }: Session): void {
  const { context, url, source } = target
  out.record({ context: context ?? null, url, source }, context ?? url)
}

/** Makes a context the current one. Throws `CliError` if there is none of this name. */
export function useContext({ io, out }: Session, name: string): void {
  const config = known(readConfig(io), name)
  writeConfig(io, { ...config, current: name })
  out.talk(`switched to context ${name}`)
}

/** Creates a context or changes its URL. Throws a usage error if the name or the URL is invalid. */
export function setContext({ io, out }: Session, name: string, url: string): void {
  if (!NAME.test(name)) throw usage(`${name}: the name of a context may contain letters, digits, dots, hyphens and underscores`)
  const config = readConfig(io)
  const previous = config.contexts[name]
  const next = checkedUrl(url, 'url')
  // A stored key belongs to the origin that it was stored for.
  if (previous !== undefined && new URL(previous.url).origin !== new URL(next).origin) writeCredential(io, name, undefined)
  writeConfig(io, { current: config.current ?? name, contexts: { ...config.contexts, [name]: { url: next } } })
  out.talk(`context ${name} points to ${next}`)
}

/** Deletes a context and its key. Throws `CliError` if there is none of this name. */
export function deleteContext({ io, out }: Session, name: string): void {
  const { current, contexts } = known(readConfig(io), name)
  const { [name]: _gone, ...others } = contexts
  writeConfig(io, { ...(current !== undefined && current !== name && { current }), contexts: others })
  writeCredential(io, name, undefined)
  out.talk(`context ${name} is deleted`)
}

function known(config: Config, name: string): Config {
  if (config.contexts[name] !== undefined) return config
  throw new CliError(EXIT.NOT_FOUND, 'no_context', `there is no context ${name}`, { hint: 'podplane context list' })
}
