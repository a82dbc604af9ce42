import { z } from 'zod'
import { ProblemBody } from './problems.ts'
import { queryFlag } from './query-values.ts'

const DRY_RUN = 'Answer what would happen, as a `ChangePlan` with status 200, and change nothing.'

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
    teamId: z.string().optional().meta({ description: 'Whose it is; told to the operator alone.' }),
  })
  .meta({ id: 'ChangedResource', example: { kind: 'pod', id: '7h9k2m4n6p', name: 'notebook' } })
export type ChangedResource = z.infer<typeof ChangedResource>

export const ChangeEffect = z
  .object({
    kind: z.enum(EFFECT_KINDS).meta({
      description:
        'What becomes of it. CANCELS and FINISHES are about jobs, SAVES and COSTS about USD per hour, WAITS is for room, STAYS is what the change leaves alone, REFUSES is what can no longer be done.',
    }),
    resource: ChangedResource,
    what: z.string().meta({ description: 'The same for a person.' }),
    severity: z.enum(['INFO', 'WARNING', 'LOSS']).meta({ description: 'LOSS: something is gone that no later call brings back.' }),
    amount: z
      .number()
      .nullable()
      .meta({ description: 'How many jobs, how many USD per hour, or how many more of a kind; null where nothing is counted.' }),
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
    action: z.string().meta({ description: 'As the audit log names it.', example: 'pods.terminate' }),
    resource: ChangedResource,
    effects: z
      .array(ChangeEffect)
      .meta({ description: 'What would happen, 100 lines at most and then how many more; nothing where it would be refused.' }),
    refusal: ProblemBody.nullable().meta({ description: 'What it would be refused with now; null: it would be done.' }),
    inTheWay: z
      .array(ChangedResource)
      .optional()
      .meta({ description: 'Who uses it, where that is why it would be refused: 100 of a kind at most.' }),
  })
  .meta({
    id: 'ChangePlan',
    description: 'What a change would do if it were made now. Nothing has been changed.',
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
