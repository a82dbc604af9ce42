import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isOnThisMachine } from '../../client/agent-command.ts'
import { errorText } from '../../node/fail.ts'
import { EXIT } from '../core/exit-codes.ts'
import { usage } from '../core/failure.ts'
import { type Declared, readManifest, referencesIn, resolveReferences } from '../deploy/manifest.ts'
import { type Job, OVER } from '../jobs/watch.ts'
import { followWorkers } from '../logs/logs.ts'
import { idOf, type Kind } from '../session/names.ts'
import { readAllPages } from '../session/pages.ts'
import type { Session } from '../session/session.ts'
import { Changes } from './changes.ts'
import { buildImage } from './image.ts'

/** Flags of `dev`. */
export interface DevFlags {
  file: string
  only?: string
  once?: boolean
}

const HELD_MS = 1_000

/** Endpoint under development. */
interface Work {
  session: Session
  directory: string
  declared: Declared
  changes: Changes
  /** Name of the development endpoint. */
  name: string
}

/**
 * Builds the worker of a directory, runs it on the local plane with its smoke job, and repeats this at each change of a file (CMD-34). It
 * uses its own endpoint, `<name>-dev`, with a minimum of 0 workers, so deployed endpoints stay unchanged. Throws a usage error if the plane
 * runs on another machine.
 */
export async function develop(session: Session, flags: DevFlags): Promise<number> {
  if (!isOnThisMachine(session.target.url))
    throw usage(
      `dev needs a plane on this machine, where it builds the image; ${new URL(session.target.url).hostname} is another machine`,
      'npm start runs a plane here; podplane deploy works with other planes',
    )
  const path = resolve(session.io.cwd, flags.file)
  const declared = pick(
    readManifest(readFile(path), flags.file, { ...session.io.env, IMAGE: session.io.env.IMAGE ?? 'built-by-dev' }),
    flags,
  )
  const directory = dirname(path)
  const work = { session, directory, declared, changes: new Changes(directory), name: `${declared.name}-dev` }
  session.signal.addEventListener('abort', () => work.changes.close(), { once: true })
  try {
    return await repeat(work, flags.once === true)
  } finally {
    work.changes.close()
  }
}

async function repeat(work: Work, isOnce: boolean): Promise<number> {
  const { session, directory, declared } = work
  let image = await buildImage(session, directory, declared.name)
  if (isOnce) return image === undefined ? EXIT.BAD_OUTCOME : await runOnce(work, image)
  let isFollowed = false
  for (;;) {
    let next: string | undefined
    if (image !== undefined) {
      const endpointId = await put(work, image)
      if (!isFollowed) void followWorkers(session, endpointId)
      isFollowed = true
      next = (await tryOut(work, endpointId, image)).next
    }
    session.out.talk(`waiting for a change in ${directory}; Ctrl-C ends dev, podplane endpoints delete ${work.name} removes the endpoint`)
    while (next === undefined) {
      await work.changes.take()
      next = await buildOther(work, image)
    }
    image = next
  }
}

async function runOnce(work: Work, image: string): Promise<number> {
  const { isGood } = await tryOut(work, await put(work, image), image)
  return isGood ? EXIT.OK : EXIT.BAD_OUTCOME
}

/** Builds an image of the current files; undefined if it is the same or the build fails. */
async function buildOther({ session, directory, declared }: Work, image: string | undefined): Promise<string | undefined> {
  const built = await buildImage(session, directory, declared.name)
  return built === image ? undefined : built
}

function pick(declared: readonly Declared[], { file, only }: DevFlags): Declared {
  const endpoints = declared.filter(({ kind }) => kind === 'endpoints')
  const names = endpoints.map(({ name }) => name).join(', ')
  const found = only === undefined ? endpoints : endpoints.filter(({ name }) => name === only)
  const [one] = found
  if (one === undefined)
    throw usage(
      `${file} declares no endpoint${only === undefined ? '' : ` ${only}; there are ${names}`}`,
      'podplane init worker writes a starter file',
    )
  if (found.length > 1) throw usage(`${file} declares several endpoints: ${names}`, 'choose one: podplane dev --only <name>')
  return one
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw usage(`${path} cannot be read: ${errorText(error)}`, 'podplane init worker writes a starter worker')
  }
}

/** Creates the endpoint, or sets its image. */
async function put({ session, declared, name }: Work, image: string): Promise<string> {
  const { api, out } = session
  const ids = new Map<string, string>()
  for (const reference of referencesIn(declared.members)) ids.set(reference, await idOfReference(session, reference))
  const members = resolveReferences(declared.members, (reference) => ids.get(reference)) as Record<string, unknown>
  const workers = { ...(members.workers as object | undefined), min: 0, max: 1 }
  // The manifest reader checks the names of the fields; the plane checks their values.
  const body = { ...members, image, workers, name } as never
  const { endpoints } = await readAllPages((query) => api.listEndpoints({ query }))
  const present = endpoints.find((endpoint) => endpoint.name === name)
  const { id } = present === undefined ? await api.createEndpoint({ body }) : present
  if (present !== undefined) await api.updateEndpoint({ path: { id }, body })
  out.talk(`${name} (${id}) runs ${image}`)
  return id
}

async function idOfReference(session: Session, reference: string): Promise<string> {
  const [kinds = '', name = ''] = reference.split('.')
  const kind: Kind = kinds === 'volumes' ? 'volume' : 'template'
  return await idOf(session, kind, name)
}

interface Outcome {
  isGood: boolean
  /** Image of the files that changed while the job ran. */
  next?: string
}

/** Sends the smoke job and prints its outcome; a change that results in another image cancels the job. */
async function tryOut(work: Work, endpointId: string, image: string): Promise<Outcome> {
  const { session, declared, changes } = work
  const { api, out } = session
  if (declared.smoke === undefined) {
    out.talk(
      `podplane run ${work.name} '{…}' --wait sends a job; dev sends one at each change if the file has [endpoints.${declared.name}.smoke]`,
    )
    return { isGood: true }
  }
  const { id: jobId } = await api.runJob({ path: { endpointId }, body: { input: declared.smoke.input } })
  const path = { endpointId, jobId }
  const deadlineMs = session.io.nowMs() + declared.smoke.timeoutMs
  for (;;) {
    session.signal.throwIfAborted()
    const job = await api.awaitJob({ path, query: { wait: HELD_MS } })
    if (OVER.has(job.status)) return { isGood: printOutcome(session, job) }
    const next = changes.pending ? await changes.take().then(async () => await buildOther(work, image)) : undefined
    if (next === undefined && session.io.nowMs() < deadlineMs) continue
    await api.cancelJob({ path })
    out.talk(
      next === undefined
        ? `the job did not end in time: podplane jobs why ${work.name} ${jobId}`
        : 'a file has changed: the job is cancelled',
    )
    return { isGood: false, ...(next !== undefined && { next }) }
  }
}

function printOutcome({ out }: Session, job: Job): boolean {
  if (out.isJson) out.event(job, '')
  else if (job.output !== undefined) out.lines([typeof job.output === 'string' ? job.output : JSON.stringify(job.output, null, 2)])
  out.talk(
    `${job.status}: queued ${job.delayTime ?? 0} ms, ran ${job.executionTime ?? 0} ms${job.error === undefined ? '' : `\n${job.error}`}`,
  )
  return job.status === 'COMPLETED'
}
