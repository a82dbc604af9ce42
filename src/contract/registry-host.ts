/** The registry of images that name none. */
export const DEFAULT_REGISTRY = 'docker.io'
/** Other host names of the default registry. */
const DEFAULT_ALIASES: readonly string[] = ['index.docker.io', 'registry-1.docker.io']

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?'
export const REGISTRY_HOST = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9a-fA-F:]+\\])(?::[0-9]{1,5})?$`)
export const REGISTRY_HOST_FORM = 'want the host of a registry such as ghcr.io or registry.example.com:5000, without https:// and path'

/** Returns the canonical form of a registry's host: lower case, without port 443, aliases of Docker Hub as `docker.io`. */
export function normalRegistryHost(host: string): string {
  const plain = host.toLowerCase().replace(/:0*443$/, '')
  return DEFAULT_ALIASES.includes(plain) ? DEFAULT_REGISTRY : plain
}

/**
 * Returns the registry of an image reference. As in container engines, the first part is a host if it contains a dot, a port or a capital
 * letter, which no repository does, or if it is `localhost`.
 */
export function registryHostOf(image: string): string {
  const slash = image.indexOf('/')
  const first = slash < 0 ? '' : image.slice(0, slash)
  const isHost = /[.:A-Z]/.test(first) || first === 'localhost'
  return isHost ? normalRegistryHost(first) : DEFAULT_REGISTRY
}
