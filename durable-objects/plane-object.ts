import { DurableObject } from 'cloudflare:workers'
import { type Env, readSettings } from '../src/env.ts'
import { setLogLevel } from '../src/platform/log.ts'
import { Timers } from './clock/timers.ts'
import { Turns } from './clock/turns.ts'
import { WALL_CLOCK } from './clock/wall-clock.ts'

/** What every object of the plane begins with: its isolate logs as the operator wants, whether or not a request of REST has met it, and its clock. */
export abstract class PlaneObject extends DurableObject<Env> {
  readonly timers: Timers

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    setLogLevel(readSettings(env).logLevel)
    const turns = new Turns()
    this.timers = new Timers({
      dateMs: () => Date.now(),
      wallMs: () => WALL_CLOCK.readMs(ctx.storage),
      soon: (run) => turns.next(run),
      sleep: (ms, signal) => sleep(ctx, ms, signal),
    })
  }
}

async function sleep(ctx: DurableObjectState, ms: number, signal: AbortSignal): Promise<void> {
  // The runtime has it; its types cannot know what this Worker exports.
  const { Sleeper } = (ctx as unknown as { exports: { Sleeper: Fetcher } }).exports
  try {
    await Sleeper.fetch(`https://sleeper/${Math.ceil(ms)}`, { signal })
  } catch {
    // One that cannot be asked is in no better place than this object.
    if (!signal.aborted) await scheduler.wait(ms)
  }
}
