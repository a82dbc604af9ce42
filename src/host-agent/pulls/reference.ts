import { registryHostOf } from '../../host-protocol/registry-host.ts'

/** A parsed image reference. */
export interface Reference {
  /** The registry's normalized host, such as `docker.io`. */
  host: string
  repository: string
  /** The part to request from the registry: the digest if there is one (its tag is then ignored), otherwise the tag. */
  wanted: string
  /** The digest in the reference, if any. */
  digest: string | undefined
  /** The normalized reference. */
  text: string
}

const DEFAULT_HOST = 'docker.io'
const DEFAULT_TAG = 'latest'

/** Parses a reference of the grammar (CON-20), with the engines' defaults. */
export function parseReference(image: string): Reference {
  const host = registryHostOf(image)
  const [named = '', digest] = image.split('@')
  const [, domain = ''] = /^([^/]*[.:A-Z][^/]*|localhost)\//.exec(named) ?? []
  const rest = domain === '' ? named : named.slice(domain.length + 1)
  const [path = '', tag = DEFAULT_TAG] = rest.split(':')
  const repository = host === DEFAULT_HOST && !path.includes('/') ? `library/${path}` : path
  const text = `${host}/${repository}${digest === undefined ? `:${tag}` : `@${digest}`}`
  return { host, repository, wanted: digest ?? tag, digest, text }
}
