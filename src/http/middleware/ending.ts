import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'
import { endsPod } from '../../domain/access.ts'
import { isDryRunAsked } from '../../domain/plan/dry-run.ts'
import type { AppContext, AppEnv } from '../app-env.ts'

type Judge = (c: AppContext) => boolean | Promise<boolean>

const judges = new WeakMap<object, Judge>()

function ending(judge: Judge): MiddlewareHandler<AppEnv> {
  const mark: MiddlewareHandler<AppEnv> = (_, next) => next()
  judges.set(mark, judge)
  return mark
}

/** Middleware that declares that a route other than DELETE ends something, so that it may use the reserve (CAP-3). */
export const ENDS = ending(() => true)
/** Like `ENDS`, for a route whose body names the action. */
export const ENDS_BY_ACTION = ending(async ({ req }) => endsPod(actionIn(await req.text())))

/** Whether a request ends something: every DELETE, and every route that declares it. A request with `dryRun` ends nothing. */
export async function endsSomething(c: AppContext): Promise<boolean> {
  if (isDryRunAsked(c.req.queries('dryRun'))) return false
  if (c.req.method === 'DELETE') return true
  for (const { handler } of matchedRoutes(c)) {
    const judge = judges.get(findTargetHandler(handler))
    if (judge) return judge(c)
  }
  return false
}

function actionIn(body: string): string {
  try {
    return String(JSON.parse(body).action)
  } catch {
    return ''
  }
}
