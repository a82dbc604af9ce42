import { logs, setLogLevel } from '../../../../src/platform/log.ts'
import { afterEach, beforeEach, describe, env, expect, it, runInDurableObject, send } from '../../../support/harness.ts'
import {
  clusterStub,
  endpointStub,
  hostStub,
  hostTunnelStub,
  podLogStub,
  rateLimiterStub,
  webhookSenderStub,
} from '../../../support/runner/stubs.ts'

// These tests run with LOG_LEVEL "error"; an isolate without the setting writes everything.
describe('LOG_LEVEL', () => {
  beforeEach(() => setLogLevel('debug'))
  afterEach(() => setLogLevel('error'))
  const isQuiet = () => logs('error') && !logs('warn')

  const PATHS = [
    '/healthz',
    '/v2/pods',
    '/v2/nosuchendpoint/run',
    '/v2/nosuchendpoint/job-take/w?gpu=x',
    '/lb/nosuchendpoint/',
    '/proxy/x/80/',
  ]
  it.each(PATHS)('[CFG-10] applies to a call of %s', async (path) => {
    await (await send(path)).text()
    expect(isQuiet()).toBe(true)
  })

  it.each([
    ['an endpoint', () => runInDurableObject(endpointStub(env, 'fresh'), isQuiet)],
    ['a host', () => runInDurableObject(hostStub(env, 'fresh'), isQuiet)],
    ['the tunnel of a host', () => runInDurableObject(hostTunnelStub(env, 'fresh'), isQuiet)],
    ['a cluster', () => runInDurableObject(clusterStub(env, 'fresh'), isQuiet)],
    ['a log', () => runInDurableObject(podLogStub(env, 'pod', 'fresh'), isQuiet)],
    ['the rate limiter', () => runInDurableObject(rateLimiterStub(env, 'fresh'), isQuiet)],
    ['the sender of webhooks', () => runInDurableObject(webhookSenderStub(env, 'fresh'), isQuiet)],
  ])('[CFG-10] applies to the isolate of %s before any request does', async (_object, check) => {
    expect(await check()).toBe(true)
  })
})
