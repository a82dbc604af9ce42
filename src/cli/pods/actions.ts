import { parseDurationMs } from '../core/durations.ts'
import { EXIT } from '../core/exit-codes.ts'
import { CliError, usage } from '../core/failure.ts'
import { planEach } from '../session/change-plan.ts'
import type { Session } from '../session/session.ts'
import { untilDone } from '../session/wait.ts'
import { sentenceOf } from './explain.ts'
import { waitUsable } from './usable.ts'

const DONE = { start: 'starts', stop: 'stops', restart: 'restarts' } as const

/** Starts, stops or restarts a pod, or prints the plan. */
export async function actOn(
  session: Session,
  id: string,
  action: keyof typeof DONE,
  { wait, plan }: { wait?: boolean; plan?: boolean },
): Promise<number> {
  if (plan) return await planEach(session, [id], (one, query) => session.api.actOnPod({ path: { id: one }, body: { action }, query }))
  if (action === 'restart') await session.confirm(`Restart ${id}? Its container disk is lost.`)
  const pod = await session.api.actOnPod({ path: { id }, body: { action } })
  if (!wait) session.out.done(pod, id, `pod ${id} ${DONE[action]}`)
  else if (action !== 'stop') return await waitUsable(session, id)
  else await waitStopped(session, id)
  return EXIT.OK
}

async function waitStopped(session: Session, id: string): Promise<void> {
  const pod = await untilDone(session, `pod ${id}`, async () => {
    const now = await session.api.getPod({ path: { id } })
    if (now.status === 'ERROR')
      throw new CliError(EXIT.BAD_OUTCOME, 'pod_error', `pod ${id} is ${sentenceOf(now)}`, { resource: `pod ${id}` })
    return now.status === 'EXITED' ? { done: now } : { why: sentenceOf(now) }
  })
  session.out.done(pod, id, `pod ${id} is stopped`)
}

/** Deletes pods after a confirmation, or prints the plan. Returns the exit code. */
export async function deletePods(session: Session, ids: readonly string[], { plan }: { plan?: boolean }): Promise<number> {
  if (plan) return await planEach(session, ids, (id, query) => session.api.deletePod({ path: { id }, query }))
  const what = ids.length === 1 ? `pod ${ids[0]}` : `${ids.length} pods`
  await session.confirm(`Delete ${what}? Container disks and persistent mounts are lost.`)
  for (const id of ids) {
    await session.api.deletePod({ path: { id } })
    session.out.done(undefined, id, `pod ${id} is deleted`)
  }
  return EXIT.OK
}

/** Sets or clears the time at which the plane stops a pod. Throws a usage error if the text is neither a duration nor `never`. */
export async function stopAfter(session: Session, id: string, after: string): Promise<void> {
  const ms = durationOrNever(after)
  const at = ms === null ? null : new Date(session.io.nowMs() + ms).toISOString()
  const pod = await session.api.updatePod({ path: { id }, body: { stopAfter: at } })
  session.out.done(pod, id, at === null ? `pod ${id} has no stop time` : `pod ${id} stops at ${at}`)
}

/** Sets or clears the idle time after which the plane stops a pod (SPD-5). */
export async function idleStop(session: Session, id: string, after: string): Promise<void> {
  const ms = durationOrNever(after)
  const body = { idleStop: ms === null ? null : { afterSeconds: Math.round(ms / 1000) } }
  const pod = await session.api.updatePod({ path: { id }, body })
  session.out.done(pod, id, ms === null ? `pod ${id} is not stopped when it is idle` : `pod ${id} stops when it has been idle for ${after}`)
}

function durationOrNever(text: string): number | null {
  const ms = text === 'never' ? null : parseDurationMs(text)
  if (ms === undefined) throw usage(`${text}: it must be a duration such as 90m or 2h, or never`)
  return ms
}
