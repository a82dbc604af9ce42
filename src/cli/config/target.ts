import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'

/** Context of config.toml. */
export interface Context {
  url: string
}
/** Contents of config.toml. */
export interface Config {
  /** Context used by default. */
  current?: string
  contexts: Readonly<Record<string, Context>>
}
/** Keys by context, as in credentials.json. */
export type Credentials = Readonly<Record<string, string>>

/** Address and keys of a plane that runs on this machine. */
export interface LocalPlane {
  url: string
  apiKey: string
  endpointId: string
  operatorKey: string
}

/** All sources of the plane's address and key (CMD-6). */
export interface Sources {
  flags: { url?: string; context?: string }
  env: Readonly<Record<string, string | undefined>>
  config: Config
  credentials: Credentials
  local: LocalPlane | undefined
}

/** Plane that a command uses. */
export interface Target {
  url: string
  /** Undefined: no source has a key. */
  key: string | undefined
  operatorKey: string | undefined
  context: string | undefined
  /** Sources of the address and the key, for `auth status`. */
  source: string
  keySource: string | undefined
  /** Echo endpoint of a local plane. */
  demoEndpointId: string | undefined
}

/**
 * Order of precedence: flag, environment, configuration, local plane (CMD-6). The key of a context or of the local plane is sent to its
 * address only; `PODPLANE_API_KEY` is sent to the address that results.
 */
export function resolveTarget(sources: Sources): Target {
  const place = resolvePlace(sources)
  const local = sources.local !== undefined && sameOrigin(place.url, sources.local.url) ? sources.local : undefined
  const key = resolveKey(sources, place, local)
  return {
    url: place.url.replace(/\/+$/, ''),
    key: key?.value,
    operatorKey: sources.env.PODPLANE_OPERATOR_KEY || local?.operatorKey,
    context: place.context,
    source: place.source,
    keySource: key?.source,
    demoEndpointId: local?.endpointId,
  }
}

interface Place {
  url: string
  context?: string
  source: string
}

function resolvePlace({ flags, env, config, local }: Sources): Place {
  if (flags.url !== undefined) return { url: checkedUrl(flags.url, '--url'), source: '--url' }
  if (flags.context !== undefined) return ofContext(config, flags.context, '--context')
  if (env.PODPLANE_URL) return { url: checkedUrl(env.PODPLANE_URL, 'PODPLANE_URL'), source: 'PODPLANE_URL' }
  if (env.PODPLANE_CONTEXT) return ofContext(config, env.PODPLANE_CONTEXT, 'PODPLANE_CONTEXT')
  if (config.current !== undefined) return ofContext(config, config.current, 'config.toml')
  if (local !== undefined) return { url: local.url, source: 'the local plane' }
  const where = env.PODPLANE_DATA ? `on PODPLANE_DATA=${env.PODPLANE_DATA}` : 'here'
  throw new CliError(EXIT.UNREACHABLE, 'no_plane', `no plane is configured, and none runs ${where}`, {
    hint: 'start one with npm start, or point to one: podplane auth login --url https://plane.example.com',
  })
}

function ofContext(config: Config, name: string, source: string): Place {
  const context = config.contexts[name]
  if (context === undefined) {
    const known = Object.keys(config.contexts)
    throw usage(
      `there is no context ${name} (${source})`,
      known.length === 0 ? 'podplane context set creates one' : `known contexts: ${known.join(', ')}`,
    )
  }
  return { url: checkedUrl(context.url, `context ${name}`), context: name, source: `context ${name}` }
}

function resolveKey(sources: Sources, place: Place, local: LocalPlane | undefined): { value: string; source: string } | undefined {
  const { flags, env, config, credentials } = sources
  const ofEnv = env.PODPLANE_API_KEY ? { value: env.PODPLANE_API_KEY, source: 'PODPLANE_API_KEY' } : undefined
  const names = place.context === undefined ? contextsOf(config, place.url) : [place.context]
  const [name] = names.filter((one) => credentials[one] !== undefined)
  const ofContext = name === undefined ? undefined : { value: credentials[name] ?? '', source: `credentials.json (${name})` }
  const ofLocal = local === undefined ? undefined : { value: local.apiKey, source: 'the local plane' }
  // `--context` on the command line selects its key too, even before `PODPLANE_API_KEY`.
  return flags.context === undefined ? (ofEnv ?? ofContext ?? ofLocal) : (ofContext ?? ofEnv ?? ofLocal)
}

function contextsOf(config: Config, url: string): string[] {
  return Object.entries(config.contexts).flatMap(([name, context]) => (sameOrigin(context.url, url) ? [name] : []))
}

/** Returns the address if it is http or https; else throws a usage error that names its source. */
export function checkedUrl(url: string, where: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw usage(`${where}: ${url} is not an http or https address`)
  return url
}

/** Whether two URLs have the same origin; false if one of them is invalid. */
export function sameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin
}
