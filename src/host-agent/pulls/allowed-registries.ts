import { normalRegistryHost, REGISTRY_HOST } from '../../host-protocol/registry-host.ts'
import { OperatorError } from '../../node/fail.ts'

/** Registries that the operator allows at any address, public or not, and whether they use plain HTTP. */
export type AllowedRegistries = ReadonlyMap<string, { plainHttp: boolean }>

const PLAIN_HTTP = 'http://'

/**
 * Parses `--registry-allow`: hosts with an optional port, and `http://` before those without TLS. Throws an `OperatorError` for an entry
 * that is no host.
 */
export function parseAllowedRegistries(values: readonly string[]): AllowedRegistries {
  const entries = values
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '')
  return new Map(entries.map((entry) => [hostOf(entry), { plainHttp: entry.startsWith(PLAIN_HTTP) }]))
}

function hostOf(entry: string): string {
  const host = entry.startsWith(PLAIN_HTTP) ? entry.slice(PLAIN_HTTP.length) : entry
  if (REGISTRY_HOST.test(host)) return normalRegistryHost(host)
  throw new OperatorError(`--registry-allow '${entry}' is not a registry; use <host>[:<port>], with http:// for a registry without TLS`)
}
