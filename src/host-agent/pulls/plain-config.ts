import { PullError } from './pull-error.ts'

/**
 * Fields of an image that the engine needs. Names are compared exactly: the engine ignores case, so others, such as capitals, would mean
 * the same.
 */
const OF_IMAGE: ReadonlySet<string> = new Set(['architecture', 'variant', 'os', 'created', 'author', 'config', 'rootfs', 'history'])

/**
 * Fields that determine how the image's program runs. Left out: labels and exposed ports, which the engine repeats in every list; volumes,
 * which it creates outside the container's disk and its limit; health checks, which it runs at the machine's cost; build triggers.
 */
const OF_PROGRAM: ReadonlySet<string> = new Set(['Env', 'Cmd', 'Entrypoint', 'WorkingDir', 'User', 'StopSignal', 'Shell', 'ArgsEscaped'])

/** The engine includes a command in its list of all containers, which must be read in one piece. */
const PROGRAM_MAX_BYTES = 64 * 2 ** 10

/**
 * Returns an image's configuration without the fields that cost other tenants something (HOST-108). Throws a `PullError` when environment
 * and command exceed `PROGRAM_MAX_BYTES`.
 */
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
