import { DurableObject } from 'cloudflare:workers'
import { type Env, readSettings } from '../src/env.ts'
import { setLogLevel } from '../src/platform/log.ts'
import { Timers } from './clock/timers.ts'
import { Turns } from './clock/turns.ts'
import { WALL_CLOCK } from './clock/wall-clock.ts'

/**
 * Base class of all objects of the plane: sets the log level of its isolate, which may never have served a REST request, and provides the
 * clock.
 */
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
  // The runtime provides `exports`; its types cannot know this Worker's exports.
  const { Sleeper } = (ctx as unknown as { exports: { Sleeper: Fetcher } }).exports
  try {
    await Sleeper.fetch(`https://sleeper/${Math.ceil(ms)}`, { signal })
  } catch {
    // If `Sleeper` cannot be reached, this object's own clock is as good.
    if (!signal.aborted) await scheduler.wait(ms)
  }
}

/** Completes the closing handshake of a socket. Reserved close codes (RFC 6455 §7.4.1) 1005 and 1006 must not be sent. */
export function closeBack(socket: WebSocket, code: number): void {
  socket.close(code >= 1000 && code < 5000 && code !== 1005 && code !== 1006 ? code : 1000)
}
