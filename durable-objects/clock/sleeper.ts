import { WorkerEntrypoint } from 'cloudflare:workers'
import type { Env } from '../../src/env.ts'

/** Sleeps for an object (CLK-2): an invocation of its own sees the wall clock as it is, and its one timer is never set anew. */
export class Sleeper extends WorkerEntrypoint<Env> {
  /** Answers after as many milliseconds of real time as the path says; whoever is awake earlier leaves. */
  override async fetch(request: Request): Promise<Response> {
    await scheduler.wait(Number(new URL(request.url).pathname.slice(1)))
    return new Response()
  }
}
