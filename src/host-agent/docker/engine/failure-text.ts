import { shown, withoutMachine } from '../../../host-protocol/host-text.ts'
import type { Workload } from '../../../host-protocol/messages.ts'
import { EngineClientEnded, engineText } from '../../engine/engine-errors.ts'
import { StartError } from '../../runtime.ts'

/** Parts of a workload that may appear in an error text about its start, because the tenant wrote them. */
export type Asked = Partial<Pick<Workload, 'mounts'>>

interface Words {
  /** Matches an error text of the engine; its first group is the part of the image or the request that the error is about. */
  is: RegExp
  /** Text for the tenant; `about` is bounded and safe to show. */
  say(about: string, asked: Asked): string
}

const ABOUT_MAX_CHARS = 120
/** Limit of the text that is matched, because the time of a pattern grows with each character. */
const TEXT_MAX_CHARS = 4_096
const OPERATOR = 'see the log of its agent for the cause'
export const UNKNOWN_FAILURE = `this host could not do it; ${OPERATOR}`

/**
 * Engine failures that a tenant can act on, in the platform's words; the first match counts (EDG-5). Any other failure becomes a fixed
 * sentence: the engine's own text names paths, devices and addresses of the machine.
 */
const LABELS: readonly Words[] = [
  { is: /no space left on device|disk quota exceeded/i, say: () => 'no space is left on the disk of this host' },
  { is: /cannot allocate memory|out of memory|memory limit|not enough memory/i, say: () => 'there is not enough memory to start it' },
  {
    is: /error mounting|mount (?:callback|source|destination)|not a directory.*mount|duplicate mount point|invalid mount/i,
    say: mountConflict,
  },
  { is: /exec format error/i, say: () => 'its command is not a program for this machine; is the image for linux/amd64?' },
  {
    is: /exec: "?([^":]+)"?: permission denied|exec ([^\s:]+): permission denied/i,
    say: (about) => `the command ${about} may not be executed in the image`,
  },
  {
    is: /exec: "?([^":]+)"?: (?:executable file not found|stat |no such file)|stat ([^\s:]+): no such file or directory|exec ([^\s:]+): no such file or directory/i,
    say: (about) => `the command ${about} is not in the image`,
  },
  { is: /no command specified/i, say: () => 'the image has no command; set one' },
  { is: /unable to find user ([^\s:]+)|no matching entries in passwd file/i, say: (about) => `the user ${about} is not in the image` },
  { is: /unable to find group ([^\s:]+)/i, say: (about) => `the group ${about} is not in the image` },
  { is: /chdir to cwd \("?([^")]+)"?\)/i, say: (about) => `the working directory ${about} of the image cannot be used` },
  { is: /port is already allocated|address already in use/i, say: () => 'a port that it needs is already taken on this host' },
  {
    is: /unsatisfied condition: (cuda ?[<>=]+ ?[\d.]+)/i,
    say: (about) => `the image needs ${about}, but the GPU driver of this host has another version`,
  },
  {
    is: /nvidia|could not select device driver|unresolvable cdi|\bgpu/i,
    say: () => 'the GPUs of this host cannot be given to a container; start it on another host',
  },
  { is: /gathering device information|no such device|custom device/i, say: () => 'a device that it needs is not available on this host' },
  { is: /no such image/i, say: () => 'its image is no longer on this host; start it again' },
  {
    is: /(?:container )?name .*(?:already in use|conflict)/i,
    say: () => 'a container with the same name still exists; start it again in a moment',
  },
  {
    is: /too many open files|resource temporarily unavailable|pids? limit/i,
    say: () => 'this host has too many processes or open files; try again',
  },
  { is: /invalid environment|invalid env/i, say: () => 'the container engine of this host does not accept its environment variables' },
  {
    is: /while mounting volume|failed to mount local volume|\bnfs\b|connection timed out|no route to host/i,
    say: () => 'a volume cannot be mounted: its server is unavailable or has no directory for it',
  },
  {
    is: /socket hang up|ECONN|ENOENT.*docker|EPIPE|deadline exceeded|timed? ?out|is the docker daemon running/i,
    say: () => 'the container engine of this host was interrupted; start it again',
  },
]

/** Text of an engine failure for the tenant: a sentence of the table, never the engine's own text (EDG-5). */
export function failureText(error: unknown, asked: Asked = {}): string {
  if (error instanceof EngineClientEnded) return 'the container engine of this host was interrupted; start it again'
  const text = engineText(error).slice(0, TEXT_MAX_CHARS)
  for (const { is, say } of LABELS) {
    const match = is.exec(text)
    if (match !== null) return say(quoted(match.slice(1).find((group) => group !== undefined)), asked)
  }
  return UNKNOWN_FAILURE
}

/** A `StartError` for a start that the engine refused. The engine's text goes to the agent's log only. */
export function startRefused(error: unknown, asked: Asked, what = 'the container could not be started'): StartError {
  return error instanceof StartError
    ? error
    : new StartError(`${what}: ${failureText(error, asked)}`, engineText(error).slice(0, TEXT_MAX_CHARS))
}

function mountConflict(_about: string, { mounts = [] }: Asked): string {
  const paths = mounts.map(({ path }) => quoted(path)).join(', ')
  return paths === ''
    ? 'a file system cannot be mounted into the image'
    : `nothing can be mounted at ${paths} in this image; choose another mount path`
}

function quoted(about: string | undefined): string {
  // The engine may quote values that the platform has set.
  if (about === undefined || withoutMachine(about) !== about) return 'that is asked for'
  return JSON.stringify(shown(about).slice(0, ABOUT_MAX_CHARS))
}
