import { z } from 'zod'
import { ChangeEffect } from '../change-plan.ts'
import { ResourceId, Timestamp } from '../fields.ts'

/** Most resources that one stop names or stops: each needs several calls inside the plane. */
export const MAX_STOPPED = 100
const MAX_PLAN_ID_LENGTH = 64
const MIN_IDLE_SECONDS = 60
const MAX_IDLE_SECONDS = 30 * 86_400
const usd = (description: string) => z.number().meta({ description, format: 'double' })
const KINDS = ['POD', 'ENDPOINT', 'CLUSTER', 'NETWORK_VOLUME'] as const
const thing = { kind: z.enum(KINDS), id: z.string(), name: z.string(), perHour: usd('Current rate in USD per hour.') }

export const StopSpendRequest = z
  .strictObject({
    ids: z
      .array(ResourceId.max(128))
      .min(1)
      .max(MAX_STOPPED)
      .optional()
      .meta({ description: 'Pods and endpoints to stop; if omitted: every running pod and every endpoint with workers.' }),
    idleForSeconds: z.number().int().min(MIN_IDLE_SECONDS).max(MAX_IDLE_SECONDS).optional().meta({
      description:
        'Only pods and endpoints that have been idle for this long; an endpoint keeps its `workers.max`. If omitted: idle or not.',
    }),
    planId: z
      .string()
      .min(1)
      .max(MAX_PLAN_ID_LENGTH)
      .optional()
      .meta({ description: 'Id of the reviewed plan: 409 with `code` PLAN_CHANGED if the plan has changed.' }),
  })
  .meta({ id: 'StopSpendRequest', description: 'The selection to stop. Nothing is deleted.', example: {} })
export type StopSpendRequest = z.infer<typeof StopSpendRequest>

/** The plan of a stop (SPD-10). */
export const SpendStopPlan = z
  .object({
    planId: z.string().meta({ description: 'Send it with the stop, so that only the reviewed plan is executed.' }),
    perHour: usd('USD per hour now.'),
    remainingPerHour: usd('USD per hour after the stop.'),
    stops: z.array(z.object({ ...thing, savesPerHour: usd('USD per hour that the stop saves.') })),
    stays: z.array(z.object({ ...thing, reason: z.string().meta({ description: 'Why it is not stopped.' }) })).meta({
      description: 'Resources that still cost money, and selected resources that are not stopped.',
    }),
    effects: z.array(ChangeEffect),
  })
  .meta({
    id: 'SpendStopPlan',
    description: 'The effect of a stop. Nothing has been stopped.',
    example: {
      planId: '3f9a0c51d2b84e67',
      perHour: 0.45,
      remainingPerHour: 0.01,
      stops: [{ kind: 'POD', id: '7h9k2m4n6p', name: 'notebook', perHour: 0.45, savesPerHour: 0.44 }],
      stays: [],
      effects: [],
    },
  })
export type SpendStopPlan = z.infer<typeof SpendStopPlan>

const WorkerBounds = z.object({ min: z.number().int().min(0), max: z.number().int().min(0) })

/** A stop that was carried out (SPD-11). */
export const SpendStop = z
  .object({
    id: z.string(),
    createdAt: Timestamp,
    savedPerHour: usd('USD per hour that the stop saves, according to its plan.'),
    undoneAt: Timestamp.nullable().meta({ format: 'date-time', description: 'When everything was restored; null: not yet.' }),
    items: z.array(
      z.object({
        kind: z.enum(KINDS),
        id: z.string(),
        name: z.string(),
        state: z
          .enum(['PENDING', 'STOPPED', 'FAILED', 'RESTORED'])
          .meta({ description: 'PENDING: the stop was interrupted before this item.' }),
        reason: z.string().nullable().meta({ description: 'Why it could not be stopped, or not be restored.' }),
        formerWorkers: WorkerBounds.nullable().meta({ description: 'Worker bounds of an endpoint before the stop; null for a pod.' }),
        stoppedWorkers: WorkerBounds.nullable().meta({ description: 'Worker bounds that the stop set; null for a pod.' }),
      }),
    ),
  })
  .meta({
    id: 'SpendStop',
    description: 'A stop with its items and their states.',
    example: {
      id: '9k2m4n6p7h',
      createdAt: '2026-06-02T12:00:00Z',
      savedPerHour: 0.44,
      undoneAt: null,
      items: [
        { kind: 'POD', id: '7h9k2m4n6p', name: 'notebook', state: 'STOPPED', reason: null, formerWorkers: null, stoppedWorkers: null },
      ],
    },
  })
export type SpendStop = z.infer<typeof SpendStop>
export type StoppedItem = SpendStop['items'][number]

export const SpendStopOrPlan = z.union([SpendStop, SpendStopPlan]).meta({ id: 'SpendStopOrPlan', example: SpendStop.meta()?.example })
export const ListSpendStopsResponse = z
  .object({ stops: z.array(SpendStop).meta({ description: 'The newest first.' }) })
  .meta({ id: 'ListSpendStopsResponse', example: { stops: [SpendStop.meta()?.example] } })
