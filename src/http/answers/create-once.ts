import type { Context } from 'hono'
import type { z } from 'zod'
import type { CreateHeaders } from '../../contract/idempotency-key.ts'
import type { VerbContext } from '../../services/context.ts'
import { type AppEnv, verbContext } from '../app-env.ts'

type Call<Body> = Context<AppEnv, string, { out: { json: Body; header: z.output<typeof CreateHeaders> } }>

/** Creates a resource from the body and answers 201; a repeated `Idempotency-Key` returns the resource of the first call (IDEM-2). */
export async function createOnce<Body, Made extends object>(
  c: Call<Body>,
  create: (ctx: VerbContext, body: Body, key: string | undefined) => Promise<Made>,
) {
  return c.json(await create(verbContext(c), c.req.valid('json'), c.req.valid('header')['Idempotency-Key']), 201)
}
