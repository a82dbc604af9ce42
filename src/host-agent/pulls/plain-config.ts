import { PullError } from './pull-error.ts'

/** What the engine needs to know of an image. Names are compared to the letter: the engine reads others, in capitals say, as the same. */
const OF_IMAGE: ReadonlySet<string> = new Set(['architecture', 'variant', 'os', 'created', 'author', 'config', 'rootfs', 'history'])

/**
 * What an image says of how its program is run. Not here: labels and exposed ports, which the engine repeats in every list; volumes, which it
 * makes beside the container's disk and its limit; health checks, which it carries out at the machine's cost; builds.
 */
const OF_PROGRAM: ReadonlySet<string> = new Set(['Env', 'Cmd', 'Entrypoint', 'WorkingDir', 'User', 'StopSignal', 'Shell', 'ArgsEscaped'])

/** The engine repeats a command in its list of all containers, which has to be read at once. */
const PROGRAM_MAX_BYTES = 64 * 2 ** 10

/** The configuration of an image without what costs others something (HOST-108). Throws a `PullError` when what is left is too long. */
export function plainConfig(bytes: Buffer): Buffer {
  const image = keep(JSON.parse(bytes.toString()), OF_IMAGE)
  const program = keep(image.config ?? {}, OF_PROGRAM)
  if (Buffer.byteLength(JSON.stringify(program)) > PROGRAM_MAX_BYTES) {
    throw new PullError(
      'unusable',
      `more than ${PROGRAM_MAX_BYTES} bytes of environment and command`,
      ': its environment and command take more than 64 KiB',
    )
  }
  return Buffer.from(JSON.stringify('config' in image ? { ...image, config: program } : image))
}

function keep(value: unknown, names: ReadonlySet<string>): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new PullError('unusable', 'a configuration that is no object')
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.has(name)))
}
