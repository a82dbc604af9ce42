import { DurableObject } from 'cloudflare:workers'
import { type Env, readSettings } from '../src/env.ts'
import { setLogLevel } from '../src/platform/log.ts'

/** What every object of the plane begins with: its isolate logs as the operator wants, whether or not a request of REST has met it. */
export abstract class PlaneObject extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    setLogLevel(readSettings(env).logLevel)
  }
}
