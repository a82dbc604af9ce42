/** The image repository of what the agent has loaded into the engine; no tenant can name it. */
export const PULLED_REPOSITORY = 'podplane-pulled'

/** What an image that was pulled is called in the engine's store. */
export function pulledName(digest: string): string {
  return `${PULLED_REPOSITORY}:${digest.replace(/^sha256:/, '')}`
}

/** The digest of an image that is called so. */
export function digestOfName(name: string): string {
  return `sha256:${name.slice(name.lastIndexOf(':') + 1)}`
}
