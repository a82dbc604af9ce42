import { registryHostOf } from '../../host-protocol/registry-host.ts'

/** An image reference, taken apart. */
export interface Reference {
  /** The registry in its one spelling, such as `docker.io`. */
  host: string
  repository: string
  /** What is asked of the registry: a digest decides, a tag that stands before it does not. */
  wanted: string
  /** The digest that it names, if it does. */
  digest: string | undefined
  /** The whole in its one spelling. */
  text: string
}

const DEFAULT_HOST = 'docker.io'
const DEFAULT_TAG = 'latest'

/** Reads a reference of the grammar (PP-161), with the defaults of the engines. */
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
