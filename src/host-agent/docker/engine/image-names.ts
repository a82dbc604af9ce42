/** Images that hold what a pod wrote; only the agent itself may start anything from them. */
export const DISK_REPOSITORY = 'podplane-disk'

/** The short form in which the engine lists an image: `docker.io/library/nginx` → `nginx:latest`. */
export function shortImageName(image: string): string {
  const name = image.replace(/^(index\.)?docker\.io\//, '').replace(/^library\//, '')
  const last = name.slice(name.lastIndexOf('/') + 1)
  return last.includes(':') || last.includes('@') ? name : `${name}:latest`
}

/** The repository of an image, without tag and digest. */
export function repositoryOf(image: string): string {
  const name = shortImageName(image).replace(/@.*$/, '')
  const slash = name.lastIndexOf('/')
  const colon = name.lastIndexOf(':')
  return colon > slash ? name.slice(0, colon) : name
}

/**
 * Whether an image that the engine found under `image` really has that name. The engine also takes the beginning of an id for a name, and so
 * would hand one tenant the disk or the private image of another.
 */
export function isNamed(image: string, names: readonly string[]): boolean {
  const wanted = shortImageName(image)
  // A digest decides; the tag that may stand before it does not.
  const digest = wanted.includes('@') ? `${repositoryOf(wanted)}${wanted.slice(wanted.indexOf('@'))}` : wanted
  return names.includes(digest)
}
