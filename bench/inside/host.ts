import { HostObject } from '../../durable-objects/host.ts'
import type { Env } from '../../src/env.ts'

let statements = 0

/**
 * Returns the number of D1 statements that host objects have prepared since this process started. Hosts share the isolate, and so the
 * count.
 */
export function statementsOfHosts(): number {
  return statements
}

/** The host object, with its D1 statements counted. */
export class CountingHostObject extends HostObject {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, { ...env, DB: countStatements(env.DB) })
  }
}

function countStatements(db: D1Database): D1Database {
  return new Proxy(db, {
    get(target, name) {
      if (name === 'prepare') statements += 1
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
