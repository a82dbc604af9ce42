import { formatTime } from '../../contract/timestamps.ts'
import { claimSpendChecks, listPaidPods, saveWarned, type WatchedTeam } from '../../db/billing/spend-watch.ts'
import { openDatabase } from '../../db/client.ts'
import type { PodRow } from '../../db/pods/pods.ts'
import { monthOf } from '../../domain/billing/spend.ts'
import { decideStops, decideWarnings, type PaidPod, type SpendStops } from '../../domain/billing/spend-watch.ts'
import { decideStop, isToRun } from '../../domain/pod/pod.ts'
import type { Env } from '../../env.ts'
import { tryLogged } from '../../platform/log.ts'
import { readUse, viewSpend } from '../billing/spend.ts'
import { sendSpendStop, sendSpendWarning } from '../billing/spend-webhook.ts'
import { changePodByPlatform } from './platform-change.ts'
import { podHost } from './with-pod-intents.ts'

/** Minimum interval between two checks of one account. */
const CHECK_EVERY_MS = 60_000
/** Accounts per run; the next run checks the others. */
const MAX_TEAMS = 20

/** Checks the accounts whose limits stop pods or send warnings, each at most once a minute across all callers (BIL-27, BIL-28). */
export async function watchSpend(env: Env, nowMs: number): Promise<void> {
  for (const team of await claimSpendChecks(openDatabase(env.DB), { nowMs, notSinceMs: nowMs - CHECK_EVERY_MS, limit: MAX_TEAMS })) {
    const { teamId } = team
    await tryLogged('error', 'the spending of an account could not be checked', { teamId }, () => checkSpend(env, team, nowMs))
  }
}

async function checkSpend(env: Env, team: WatchedTeam, nowMs: number): Promise<void> {
  const month = monthOf(nowMs)
  const view = await viewSpend(env, team.teamId)
  const use = await readUse(env, team.teamId, view, nowMs)
  if (team.webhookSealed !== null) await warn(env, team, { limits: view.limits, use, warned: team, month: month.name }, nowMs)
  if (!team.stopsPods) return
  const stops = decideStops(team.teamId, view.limits, use, await listPaidPods(openDatabase(env.DB), team.teamId), month.name)
  if (stops) await stopPods(env, team, stops, nowMs)
}

// Sends before it saves: after a crash in between, the next check sends the warning again under the same id.
async function warn(env: Env, team: WatchedTeam, watched: Parameters<typeof decideWarnings>[0], nowMs: number): Promise<void> {
  const { warnings, warned } = decideWarnings(watched, nowMs)
  for (const warning of warnings) await sendSpendWarning(env, team, warning)
  if (warned.warnedRate === team.warnedRate && warned.warnedMonth === team.warnedMonth) return
  await saveWarned(openDatabase(env.DB), team, warned)
}

// BIL-29: notifies before it stops, so that after a crash in between the next check notifies again with the remaining pods. A failed
// notification does not prevent the stops.
async function stopPods(env: Env, team: WatchedTeam, { pods, reason, figures }: SpendStops, nowMs: number): Promise<void> {
  const { teamId } = team
  const data = { ...figures, podIds: pods.map(({ id }) => id) }
  await tryLogged('error', 'no notification of the stop of pods by a spend limit could be sent', { teamId }, () =>
    sendSpendStop(env, team, { type: 'spend.stop', timestamp: formatTime(nowMs), data }),
  )
  for (const pod of pods) await stopPod(env, pod, reason)
}

// A pod that cannot be stopped does not block the others; the next check finds it again.
async function stopPod(env: Env, { id, hostId }: PaidPod, reason: string): Promise<void> {
  // A pod is charged until it stops, which is after the notification and the stops before it.
  const decide = (pod: PodRow) => (isToRun(pod) && !pod.locked ? decideStop(pod, reason, Date.now()) : null)
  await tryLogged('error', 'a pod could not be stopped by the spend limit', { podId: id }, () =>
    changePodByPlatform(env, podHost(env, hostId), id, decide),
  )
}
