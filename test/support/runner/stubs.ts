import type { Env } from '../../../src/env.ts'
import type { LogKind } from '../../../src/host-protocol/logs.ts'
import { Owned } from '../../../src/objects/owned.ts'
import * as stubs from '../../../src/objects/stubs.ts'

// Tests access objects of all owners, so here a bare id is enough.

export const endpointStub = (env: Env, id: string) => stubs.endpointStub(env, Owned.prove('endpoint', id, null))
export const hostStub = (env: Env, id: string) => stubs.hostStub(env, Owned.prove('host', id, null))
export const clusterStub = (env: Env, id: string) => stubs.clusterStub(env, Owned.prove('cluster', id, null))
export const hostTunnelStub = (env: Env, id: string) => stubs.hostTunnelStub(env, Owned.prove('host', id, null))
export const rateLimiterStub = (env: Env, userId: string) => stubs.rateLimiterStub(env, Owned.prove('user', userId, null))
export const podLimiterStub = (env: Env, teamId: string) => stubs.podLimiterStub(env, Owned.prove('team', teamId, null))
export const webhookSenderStub = (env: Env, teamId: string) => stubs.webhookSenderStub(env, Owned.prove('team', teamId, null))
export const podLogStub = (env: Env, kind: LogKind, id: string) => stubs.podLogStub(env, Owned.prove(kind, id, null))
