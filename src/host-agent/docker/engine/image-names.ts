/** Repository of images that contain the disk of a pod; only the agent itself may start containers from them. */
export const DISK_REPOSITORY = 'podplane-disk'

/** The short name under which the engine lists an image: `docker.io/library/nginx` → `nginx:latest`. */
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
 * Whether an image that the engine found under `image` really has that name. The engine also accepts the beginning of an id as a name,
 * which would let one tenant start from the disk or the private image of another.
 */
export function isNamed(image: string, names: readonly string[]): boolean {
  const wanted = shortImageName(image)
  // With a digest, a tag before it is ignored.
  const digest = wanted.includes('@') ? `${repositoryOf(wanted)}${wanted.slice(wanted.indexOf('@'))}` : wanted
  return names.includes(digest)
}
