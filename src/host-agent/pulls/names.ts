/** Repository name of the images that the agent has loaded into the engine; tenants cannot use it. */
export const PULLED_REPOSITORY = 'podplane-pulled'

/** Returns the name of a pulled image in the engine's store. */
export function pulledName(digest: string): string {
  return `${PULLED_REPOSITORY}:${digest.replace(/^sha256:/, '')}`
}

/** Returns the digest in such a name. */
export function digestOfName(name: string): string {
  return `sha256:${name.slice(name.lastIndexOf(':') + 1)}`
}
