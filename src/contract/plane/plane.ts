import { z } from 'zod'
import { Timestamp } from '../fields.ts'

const EXAMPLE_CHECK = { id: 'migrations', verdict: 'OK' as const, evidence: '13 applied, the newest is 0012_console.sql', fix: null }

export const PlaneCheck = z
  .object({
    id: z.string().meta({ description: 'Stays the same; such as `migrations`.' }),
    verdict: z.enum(['OK', 'WARN', 'FAIL']).meta({ id: 'PlaneVerdict', example: 'OK' }),
    evidence: z.string().meta({ description: 'What was seen.' }),
    fix: z.string().nullable().meta({ description: 'What to do; null when nothing is wrong.' }),
  })
  .meta({ id: 'PlaneCheck', example: EXAMPLE_CHECK })
export type PlaneCheck = z.infer<typeof PlaneCheck>

export const PlaneStatus = z
  .object({
    version: z.string(),
    asOf: Timestamp,
    migrations: z
      .object({
        newest: z.string().nullable().meta({ description: 'The newest that the database has.' }),
        applied: z.number().int(),
        pending: z.array(z.string()).meta({ description: 'Known to this release and not applied.' }),
      })
      .meta({ id: 'PlaneMigrations', example: { newest: '0012_console.sql', applied: 13, pending: [] } }),
    checks: z.array(PlaneCheck),
  })
  .meta({
    id: 'PlaneStatus',
    description: 'Health of the plane.',
    example: {
      version: '0.1.0',
      asOf: '2026-06-01T12:00:00Z',
      migrations: { newest: '0012_console.sql', applied: 13, pending: [] },
      checks: [EXAMPLE_CHECK],
    },
  })
export type PlaneStatus = z.infer<typeof PlaneStatus>
