import { WorkerEntrypoint } from 'cloudflare:workers'
import type { Env } from '../../src/env.ts'

/** Sleeps on behalf of an object (CLK-2). Each invocation reads the current wall clock and never reschedules its one timer. */
export class Sleeper extends WorkerEntrypoint<Env> {
  /** Answers after the number of milliseconds of real time that the path states. A caller that wakes earlier aborts the request. */
  override async fetch(request: Request): Promise<Response> {
    await scheduler.wait(Number(new URL(request.url).pathname.slice(1)))
    return new Response()
  }
}
