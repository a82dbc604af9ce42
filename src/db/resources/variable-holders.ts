import { and, desc, eq, isNull, ne, sql } from 'drizzle-orm'
import type { Reader } from '../../domain/plan/resource.ts'
import { isToRun } from '../../domain/pod/pod.ts'
import type { Records } from '../client.ts'
import { openConfig } from '../endpoints/endpoint-config.ts'
import { endpoints, pods, templates } from '../schema.ts'
import { openPod } from '../sealed-pod.ts'
import { toTemplate } from './templates.ts'

/** A resource of a team with environment variables. */
export interface VariableHolder extends Reader {
  /** For a pod: whether its desired state is running. */
  isRunning: boolean
  env: Readonly<Record<string, string>>
}

/** The newest live pods, endpoints and templates of a team with their variables, at most `limit` of each, and the number left out. */
export async function listVariableHolders(
  db: Records,
  teamId: string,
  limit: number,
): Promise<{ holders: VariableHolder[]; leftOut: number }> {
  const total = sql<number>`COUNT(*) OVER ()`
  const [ofPods, ofEndpoints, ofTemplates] = await db.batch([
    db
      .select({ row: pods, total })
      .from(pods)
      .where(and(eq(pods.teamId, teamId), ne(pods.status, 'TERMINATED')))
      .orderBy(desc(pods.createdAtMs))
      .limit(limit),
    db
      .select({ row: endpoints, total })
      .from(endpoints)
      .where(and(eq(endpoints.teamId, teamId), isNull(endpoints.deletedAt)))
      .orderBy(desc(endpoints.createdAt))
      .limit(limit),
    db
      .select({ row: templates, total })
      .from(templates)
      .where(eq(templates.teamId, teamId))
      .orderBy(desc(templates.createdAt))
      .limit(limit),
  ])
  const holders: VariableHolder[] = [
    ...ofPods.map(({ row }) => ({ ...holder('pod', row, openPod(db.vault, row).spec.container), isRunning: isToRun(row) })),
    ...ofEndpoints.map(({ row }) => holder('endpoint', row, openConfig(db.vault, row.config).container)),
    ...ofTemplates.map(({ row }) => holder('template', row, toTemplate(db.vault, row).container)),
  ]
  const found = [ofPods, ofEndpoints, ofTemplates].reduce((sum, rows) => sum + (rows[0]?.total ?? 0), 0)
  return { holders, leftOut: found - holders.length }
}

function holder(kind: VariableHolder['kind'], { id, name }: { id: string; name: string }, { env }: Pick<VariableHolder, 'env'>) {
  return { kind, id, name, isRunning: false, env }
}
