import { z } from 'zod'
import { ProblemBody } from './problems.ts'
import { queryFlag } from './query-values.ts'

const DRY_RUN = 'Return the effects as a `ChangePlan` with status 200, and change nothing.'

/** Query of operations that support `dryRun` (DRY-1). */
export const DryRunQuery = z.object({ dryRun: queryFlag().meta({ description: DRY_RUN, param: { name: 'dryRun', in: 'query' } }) })

const RESOURCE_KINDS = [
  'pod',
  'endpoint',
  'worker',
  'cluster',
  'network-volume',
  'global-volume',
  'template',
  'registry',
  'secret',
  'delegation',
  'api-key',
  'ssh-key',
  'member',
  'invitation',
  'organization',
  'join-token',
  'host',
  'account',
  'plan',
  'catalog',
] as const
export const EFFECT_KINDS = [
  'STARTS',
  'STOPS',
  'RESTARTS',
  'DELETES',
  'CANCELS',
  'FINISHES',
  'MOVES',
  'WAITS',
  'STAYS',
  'CHANGES',
  'REFUSES',
  'SAVES',
  'COSTS',
] as const

export const ChangedResource = z
  .object({
    kind: z.enum(RESOURCE_KINDS),
    id: z.string(),
    name: z.string().nullable(),
    teamId: z.string().optional().meta({ description: 'Id of the owning account; only for the operator.' }),
  })
  .meta({ id: 'ChangedResource', example: { kind: 'pod', id: '7h9k2m4n6p', name: 'notebook' } })
export type ChangedResource = z.infer<typeof ChangedResource>

export const ChangeEffect = z
  .object({
    kind: z.enum(EFFECT_KINDS).meta({
      description:
        'Kind of effect. CANCELS and FINISHES concern jobs, SAVES and COSTS concern USD per hour, WAITS is waiting for capacity, STAYS is unaffected by the change, REFUSES is refused after the change.',
    }),
    resource: ChangedResource,
    what: z.string().meta({ description: 'Description of the effect.' }),
    severity: z.enum(['INFO', 'WARNING', 'LOSS']).meta({ description: 'LOSS: a loss that no later call can undo.' }),
    amount: z
      .number()
      .nullable()
      .meta({ description: 'Number of jobs, USD per hour, or number of further resources; null without a count.' }),
  })
  .meta({
    id: 'ChangeEffect',
    example: {
      kind: 'STOPS',
      resource: { kind: 'pod', id: '7h9k2m4n6p', name: 'notebook' },
      what: 'its container is stopped',
      severity: 'WARNING',
      amount: null,
    },
  })
export type ChangeEffect = z.infer<typeof ChangeEffect>

/** The preview of a change (DRY-1). */
export const ChangePlan = z
  .object({
    action: z.string().meta({ description: 'The action as in the audit log.', example: 'pods.terminate' }),
    resource: ChangedResource,
    effects: z
      .array(ChangeEffect)
      .meta({ description: 'The effects, at most 100 lines and then the number of further ones; empty if the change would be refused.' }),
    refusal: ProblemBody.nullable().meta({ description: 'The refusal that the change would get; null: it would be executed.' }),
    inTheWay: z
      .array(ChangedResource)
      .optional()
      .meta({ description: 'The users of the resource, if the change would be refused because of them: at most 100 of a kind.' }),
  })
  .meta({
    id: 'ChangePlan',
    description: 'The effects of a change if it were executed now. Nothing has been changed.',
    example: {
      action: 'pods.terminate',
      resource: { kind: 'pod', id: '7h9k2m4n6p', name: 'notebook' },
      effects: [ChangeEffect.meta()?.example],
      refusal: null,
    },
  })
export type ChangePlan = z.infer<typeof ChangePlan>

/** Returns the schema of a change's answer: the resource, or with `dryRun` the plan (DRY-5). */
export function orChangePlan<Schema extends z.ZodType>(id: string, schema: Schema) {
  return z.union([schema, ChangePlan]).meta({ id, example: ChangePlan.meta()?.example })
}
