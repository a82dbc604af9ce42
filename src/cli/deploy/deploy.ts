import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { errorText } from '../../node/fail.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, failureOf, usage } from '../core/failure.ts'
import { waitReady } from '../endpoints/new-endpoint.ts'
import { waitForJob } from '../jobs/watch.ts'
import { waitUsable } from '../pods/usable.ts'
import { readPages } from '../session/pages.ts'
import type { Session } from '../session/session.ts'
import { type Kind, readManifest, resolveReferences } from './manifest.ts'
import { changeBody, type Present, planDeploy, type Step, singular } from './plan.ts'
import { priceOf } from './price.ts'
import { formatPlan, type ShownStep, shownStep, summary } from './show-plan.ts'

/** Flags of `deploy`. */
export interface DeployFlags {
  file: string
  plan?: boolean
  wait?: boolean
}

/** Applies a podplane.toml after it has shown the changes and their cost (CMD-20 to CMD-23). Throws `CliError` if a change is refused. */
export async function deploy(session: Session, flags: DeployFlags): Promise<number> {
  const declared = readManifest(readFile(session, flags.file), flags.file, session.io.env)
  const steps = planDeploy(declared, await readPresent(session))
  const shown = await Promise.all(steps.map(async (step) => shownStep(step, await priceOf(session, step))))
  const refused = shown.find(({ action }) => action === 'refuse')
  if (flags.plan || refused !== undefined) print(session, shown, false)
  else if (!session.out.isJson) session.out.talk(formatPlan(shown).trimEnd())
  if (refused !== undefined) throw new CliError(EXIT.REFUSED, 'refused', `${singular(refused.kind)} ${refused.name}: ${refused.note}`)
  if (flags.plan) return EXIT.OK
  if (shown.some(({ action }) => action !== 'keep')) await session.confirm(`${summary(shown)}. Continue?`)
  const ids = await applyAll(session, steps)
  if (flags.wait) await waitForAll(session, steps, ids)
  const done = shown.map((step, index) => ({ ...step, id: ids[index] ?? step.id }))
  print(session, done, true)
  session.out.talk(flags.wait ? 'deployed; pods are usable and smoke jobs have COMPLETED' : 'deployed')
  return EXIT.OK
}

function readFile(session: Session, path: string): string {
  try {
    return readFileSync(resolve(session.io.cwd, path), 'utf8')
  } catch (error) {
    throw usage(`${path} cannot be read: ${errorText(error)}`, 'podplane init endpoint writes a starter file')
  }
}

function print(session: Session, steps: readonly ShownStep[], applied: boolean): void {
  const answer = { applied, usdPerHour: steps.reduce((sum, step) => sum + (step.usdPerHour ?? 0), 0), steps }
  if (session.out.isJson) session.out.record(answer)
  else if (session.globals.quiet) session.out.lines(steps.flatMap(({ id }) => (id === null ? [] : [id])))
  else if (session.out.isTerminal && !applied) session.out.raw(formatPlan(steps))
  else
    session.out.lines(
      steps.map(({ action, kind, name, id, usdPerHour }) => [action, singular(kind), name, id ?? '', usdPerHour ?? ''].join('\t')),
    )
}

/** Existing resources of the account, by kind. */
async function readPresent(session: Session): Promise<Record<Kind, readonly Present[]>> {
  const { api } = session
  const [volumes, templates, endpoints, pods] = await Promise.all([
    api.listNetworkVolumes(),
    readPages(session, (query) => api.listTemplates({ query }), true),
    readPages(session, (query) => api.listEndpoints({ query }), true),
    readPages(session, (query) => api.listPods({ query }), true),
  ])
  return { volumes: volumes.networkVolumes, templates: templates.templates, endpoints: endpoints.endpoints, pods: pods.pods }
}

/**
 * Applies the steps in order, so that each finds the resources that it references. After a failure, another run continues at the failed
 * step.
 */
async function applyAll(session: Session, steps: readonly Step[]): Promise<string[]> {
  const ids: string[] = []
  for (const step of steps) {
    const idOf = (reference: string) => ids[steps.findIndex(({ kind, name }) => `${kind}.${name}` === reference)]
    try {
      ids.push(await apply(session, step, idOf))
    } catch (error) {
      const failure = failureOf(error)
      const made =
        ids.length === 0
          ? {}
          : {
              resource: steps
                .slice(0, ids.length)
                .map(({ kind, name }, index) => `${singular(kind)} ${name} (${ids[index]})`)
                .join(', '),
            }
      throw new CliError(failure.exitCode, failure.code, `${singular(step.kind)} ${step.name}: ${failure.detail}`, made)
    }
  }
  return ids
}

async function apply({ api, out }: Session, step: Step, idOf: (reference: string) => string | undefined): Promise<string> {
  if (step.action === 'keep' && step.id !== null) return step.id
  if (step.id !== null) {
    out.talk(`changing ${singular(step.kind)} ${step.name}`)
    // The manifest reader checks the names of the fields; the plane checks their values.
    const given = { path: { id: step.id }, body: resolveReferences(changeBody(step), idOf) as never }
    if (step.kind === 'volumes') await api.updateNetworkVolume(given)
    else if (step.kind === 'templates') await api.updateTemplate(given)
    else if (step.kind === 'endpoints') await api.updateEndpoint(given)
    else await api.updatePod(given)
    return step.id
  }
  out.talk(`creating ${singular(step.kind)} ${step.name}`)
  // As above: the plane checks the values.
  const body = { ...(resolveReferences(step.declared.members, idOf) as object), name: step.name } as never
  if (step.kind === 'volumes') return (await api.createNetworkVolume({ body })).id
  if (step.kind === 'templates') return (await api.createTemplate({ body })).id
  if (step.kind === 'endpoints') return (await api.createEndpoint({ body })).id
  return (await api.createPod({ body })).id
}

/**
 * Waits until all resources are usable: a pod whose ports answer, an endpoint whose smoke job has COMPLETED or that has a ready worker
 * (CMD-4).
 */
async function waitForAll(session: Session, steps: readonly Step[], ids: readonly string[]): Promise<void> {
  for (const [index, { kind, name, declared }] of steps.entries()) {
    const id = ids[index] ?? ''
    if (kind === 'pods') await waitUsable(session, id)
    if (kind !== 'endpoints') continue
    if (declared.smoke !== undefined) await runSmoke(session, id, name, declared.smoke)
    else if (((declared.members.workers as { min?: number } | undefined)?.min ?? 0) > 0) await waitReady(session, id)
  }
}

async function runSmoke(
  session: Session,
  endpointId: string,
  name: string,
  smoke: { input: Record<string, unknown>; timeoutMs: number },
): Promise<void> {
  session.out.talk(`smoke job for endpoint ${name}`)
  const { id } = await session.api.runJob({ path: { endpointId }, body: { input: smoke.input } })
  const job = await waitForJob(
    session,
    endpointId,
    id,
    session.globals.timeout === undefined ? session.io.nowMs() + smoke.timeoutMs : undefined,
  )
  if (job.status === 'COMPLETED') return
  const reason = [job.error, job.errorDetail].filter((text) => text !== undefined).join(': ')
  throw new CliError(EXIT.BAD_OUTCOME, 'smoke_failed', `the smoke job of endpoint ${name} is ${job.status}: ${reason}`, {
    resource: `endpoint ${endpointId}`,
    hint: `podplane jobs get ${endpointId} ${id}, podplane endpoints workers ${endpointId}`,
  })
}
