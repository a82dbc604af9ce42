import type { Next } from 'hono'
import { Problem } from '../../contract/problems.ts'
import { isDryRunAsked } from '../../domain/plan/dry-run.ts'
import type { AppContext } from '../app-env.ts'

/** Refuses `dryRun` where there is no plan (DRY-30), because a caller that asks for a preview does not want the change. */
export async function refuseDryRun(c: AppContext, next: Next): Promise<void> {
  if (isDryRunAsked(c.req.queries('dryRun'))) throw new Problem('badRequest', { detail: NO_PLAN })
  await next()
}

/** The detail of that refusal. */
export const NO_PLAN = 'dryRun: this operation supports no dry run, so nothing was done; leave dryRun out to execute it'
