import { EXIT } from '../core/exit-codes.ts'
import { CliError } from '../core/failure.ts'
import { type Column, columns } from '../output/columns.ts'
import type { Answer } from '../session/pages.ts'
import type { Session } from '../session/session.ts'

type StopOrPlan = Answer<'stopSpend'>
type Plan = Extract<StopOrPlan, { planId: string }>
type Stop = Exclude<StopOrPlan, { planId: string }>

interface StopOptions {
  plan?: boolean
  idle?: number
}

/** Stops the spend that the shown plan lists; if the plan has changed meanwhile, the plane refuses (CMD-60). */
export async function stopSpend(session: Session, ids: readonly string[], { plan: isPlan, idle }: StopOptions): Promise<number> {
  const { api } = session
  const body = {
    ...(ids.length > 0 && { ids: [...ids] }),
    ...(idle !== undefined && { idleForSeconds: Math.round(idle / 1000) }),
  }
  const plan = (await api.stopSpend({ body, query: { dryRun: true } })) as Plan
  if (isPlan) {
    printPlan(session, plan)
    return EXIT.OK
  }
  if (plan.stops.length === 0)
    throw new CliError(
      EXIT.REFUSED,
      'nothing_to_stop',
      idle === undefined ? 'no running resource can be stopped' : 'no resource has been idle for that long',
    )
  const names = plan.stops.map(({ name }) => name).join(', ')
  await session.confirm(`Stop ${names}? $${plan.perHour.toFixed(3)}/h becomes $${plan.remainingPerHour.toFixed(3)}/h.`)
  const stop = (await api.stopSpend({ body: { ...body, planId: plan.planId } })) as Stop
  return finish(session, stop, 'STOPPED', `stopped; podplane spend undo ${stop.id} starts it again`)
}

/** Restarts the resources that a stop has ended. */
export async function undoStop(session: Session, id: string): Promise<number> {
  const stop = await session.api.undoSpendStop({ path: { id } })
  return finish(session, stop, 'RESTORED', 'started again')
}

/** Lists past stops. */
export async function listStops({ api, out }: Session): Promise<void> {
  const answer = await api.listSpendStops()
  const shown: Column<Stop>[] = [
    ...columns<Stop>('id', 'createdAt'),
    { name: 'resources', of: ({ items }) => items.length },
    { name: 'saved', of: ({ savedPerHour }) => savedPerHour, as: 'usdPerHour' },
    ...columns<Stop>('undoneAt'),
  ]
  out.list(answer, answer.stops, { columns: shown, idOf: ({ id }) => id, empty: 'no stops' })
}

function printPlan({ out }: Session, plan: Plan): void {
  const rows = [
    ...plan.stops.map((item) => ({ ...item, what: 'stops' })),
    ...plan.stays.map(({ reason, ...item }) => ({ ...item, what: reason, savesPerHour: 0 })),
  ]
  const shown: Column<(typeof rows)[number]>[] = [
    ...columns<(typeof rows)[number]>('kind', 'id', 'name'),
    { name: 'perHour', of: ({ perHour }) => perHour, as: 'usdPerHour' },
    { name: 'saves', of: ({ savesPerHour }) => savesPerHour, as: 'usdPerHour' },
    { name: 'what', of: ({ what }) => what },
  ]
  out.list(plan, rows, { columns: shown, idOf: ({ id }) => id, empty: 'no resource costs money' })
  for (const { resource, what } of plan.effects) out.talk(`${resource.kind} ${resource.name ?? resource.id}: ${what}`)
  out.talk(`$${plan.perHour.toFixed(3)}/h becomes $${plan.remainingPerHour.toFixed(3)}/h`)
}

function finish({ out }: Session, stop: Stop, wanted: Stop['items'][number]['state'], text: string): number {
  const shown = columns<Stop['items'][number]>('kind', 'id', 'name', 'state', 'reason')
  out.list(stop, stop.items, { columns: shown, idOf: ({ id }) => id, empty: 'nothing' })
  const isWhole = stop.items.every(({ state }) => state === wanted)
  out.talk(isWhole ? text : 'some resources were not changed; the table gives the reasons')
  return isWhole ? EXIT.OK : EXIT.BAD_OUTCOME
}
