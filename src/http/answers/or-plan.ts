import type { Context } from 'hono'
import type { z } from 'zod'
import type { ChangePlan, DryRunQuery } from '../../contract/change-plan.ts'
import type { AppEnv } from '../app-env.ts'

type Call<Input> = Context<AppEnv, string, { out: Input & { param: { id: string }; query: z.output<typeof DryRunQuery> } }>
type Plan = z.output<typeof ChangePlan>

/** Ends the resource of a path and answers 204, or with `dryRun` the plan of it (DRY-5). */
export async function endOrPlan<Ctx>(
  c: Call<object>,
  ctx: Ctx,
  plan: (ctx: Ctx, id: string) => Promise<Plan>,
  end: (ctx: Ctx, id: string) => Promise<unknown>,
) {
  const { id } = c.req.valid('param')
  if (c.req.valid('query').dryRun) return c.json(await plan(ctx, id), 200)
  await end(ctx, id)
  return c.body(null, 204)
}

/** Changes the resource of a path by a body and answers with the resource, or with `dryRun` the plan of it (DRY-5). */
export async function changeOrPlan<Ctx, Body, Changed extends object>(
  c: Call<{ json: Body }>,
  ctx: Ctx,
  plan: (ctx: Ctx, id: string, body: Body) => Promise<Plan>,
  change: (ctx: Ctx, id: string, body: Body) => Promise<Changed>,
) {
  const { id } = c.req.valid('param')
  const body = c.req.valid('json')
  return c.json(await (c.req.valid('query').dryRun ? plan(ctx, id, body) : change(ctx, id, body)), 200)
}

/** Acts on the resource of a path and answers with the result, or with `dryRun` the plan of it (DRY-5). */
export async function actOrPlan<Ctx, Done extends object>(
  c: Call<object>,
  ctx: Ctx,
  plan: (ctx: Ctx, id: string) => Promise<Plan>,
  act: (ctx: Ctx, id: string) => Promise<Done>,
) {
  const { id } = c.req.valid('param')
  return c.json(await (c.req.valid('query').dryRun ? plan(ctx, id) : act(ctx, id)), 200)
}
