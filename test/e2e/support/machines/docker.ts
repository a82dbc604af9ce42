import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'

const OUTPUT_MAX_BYTES = 64 * 2 ** 20

/** Label that the agent puts on its containers: the id of the worker. */
const WORKLOAD_LABEL = 'podplane.workload'

const runFile = promisify(execFile)

/** Runs the docker client and returns its output. */
export async function docker(...args: string[]): Promise<string> {
  const { stdout } = await runFile('docker', args, { maxBuffer: OUTPUT_MAX_BYTES })
  return stdout.trim()
}

/** Throws, instead of skipping anything, on a machine where no Docker engine answers. */
export async function requireDocker(): Promise<void> {
  try {
    await docker('version', '--format', '{{.Server.Version}}')
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    throw new Error(`The end-to-end tests run real containers and need a Docker engine (and the docker client) on this machine.\n${cause}`)
  }
}

export async function hasImage(tag: string): Promise<boolean> {
  return (await docker('images', '--quiet', tag)) !== ''
}

/** Makes an image of the file tree in `directory`. `change` is an instruction such as `CMD ["sh"]`. */
export async function importDirectory(directory: string, tag: string, change: string): Promise<void> {
  const tar = spawn('tar', ['-C', directory, '--numeric-owner', '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const load = spawn('docker', ['import', '--change', change, '-', tag], { stdio: ['pipe', 'ignore', 'inherit'] })
  tar.stdout.pipe(load.stdin)
  const codes = await Promise.all([tar, load].map((child) => new Promise<number | null>((resolve) => child.once('close', resolve))))
  if (codes.some((code) => code !== 0))
    throw new Error(`docker import of ${directory} failed: tar ended with ${codes[0]}, docker with ${codes[1]}`)
}

/** A copy of the image under an id of its own, for a test that counts containers of an image while others run theirs. */
export async function imageOfItsOwn(image: string): Promise<string> {
  const tag = `podplane-e2e/own:${randomUUID()}`
  const container = await docker('create', image)
  try {
    await docker('commit', '--change', `LABEL podplane-e2e=${tag}`, container, tag)
  } finally {
    await docker('rm', container)
  }
  return tag
}

/** Id of the container of a worker, also when it has ended; undefined when there is none. */
export async function findContainer(workerId: string): Promise<string | undefined> {
  const ids = await docker('ps', '--all', '--quiet', '--no-trunc', '--filter', `label=${WORKLOAD_LABEL}=${workerId}`)
  return ids === '' ? undefined : ids.split('\n')[0]
}

/** The output of a container from the call on; `text()` grows, `ended` resolves when the container has ended. */
export function followLogs(container: string): { text(): string; ended: Promise<void> } {
  const child = spawn('docker', ['logs', '--follow', container], { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk
    })
  }
  return { text: () => text, ended: new Promise((resolve) => child.once('close', () => resolve())) }
}

/** Number of containers of an image started since `since` (milliseconds), as the engine itself recorded it. */
export async function countStarts(image: string, since: number): Promise<number> {
  const window = ['--since', String(since / 1000), '--until', String(Date.now() / 1000)]
  const events = await docker('events', ...window, '--filter', 'event=start', '--format', '{{.Actor.Attributes.image}}')
  // An agent starts the image that it has verified by its id, whatever the name refers to by then.
  const names = [image, await docker('image', 'inspect', '--format', '{{.Id}}', image)]
  return events.split('\n').filter((started) => names.includes(started)).length
}
