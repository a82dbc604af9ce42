import { badRequest, type Refusal } from '../../contract/problems.ts'
import { BUILTIN_NAMES, BUILTIN_PREFIX } from '../../host-protocol/builtin-images.ts'

/** Whether an image is a program of the host's agent itself (HOST-5); all other images need a container engine. */
export function isBuiltin(image: string): boolean {
  return image.startsWith(BUILTIN_PREFIX)
}

/**
 * 400 for a built-in image that no host can start: its name is unknown, or it has mounts, which need a container (REST-32). Null otherwise.
 */
export function refuseBuiltin(image: string, hasMounts: boolean): Refusal | null {
  if (!isBuiltin(image)) return null
  const known = BUILTIN_NAMES.map((name) => BUILTIN_PREFIX + name)
  if (!known.includes(image)) return refusal(`image ${image} is no built-in image; there are ${known.join(', ')}`)
  return hasMounts ? refusal(`image ${image} takes no mounts: built-in images run outside any container`) : null
}

function refusal(detail: string): Refusal {
  return badRequest(detail)
}
