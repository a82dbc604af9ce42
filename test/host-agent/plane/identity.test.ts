import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test, vi } from 'vitest'
import { silentLog } from '../../../src/host-agent/log.ts'
import { buildInventory } from '../../../src/host-agent/machine/inventory.ts'
import { AccessTokens, IdentityRefused } from '../../../src/host-agent/plane/access-tokens.ts'
import { PlaneClock } from '../../../src/host-agent/plane/clock-offset.ts'
import { enrol } from '../../../src/host-agent/plane/enrolment.ts'
import { HostKey } from '../../../src/host-agent/plane/host-key.ts'
import { Link } from '../../../src/host-agent/plane/link.ts'
import { waitUntil } from '../../support/time.ts'
import { FakePlane } from '../support/fake-plane.ts'

describe('identity of a host', () => {
  let plane: FakePlane
  let planeUrl: string
  let stateDir: string
  const inventory = buildInventory({ os: 'test', vcpus: 2, memoryMb: 4_096, diskGb: 10 }, [], [], ['process'])

  beforeEach(async () => {
    plane = new FakePlane()
    planeUrl = await plane.listen()
    stateDir = mkdtempSync(join(tmpdir(), 'podplane-identity-'))
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    await plane.close()
    rmSync(stateDir, { recursive: true, force: true })
  })

  async function joinPlane(): Promise<AccessTokens> {
    const key = await HostKey.load(stateDir)
    const clock = new PlaneClock()
    const enrolled = await enrol({ planeUrl, stateDir, joinToken: plane.joinToken, name: 'test', key, inventory, clock })
    if ('retry' in enrolled) throw new Error(enrolled.retry)
    const tokens = new AccessTokens({ planeUrl, key, identity: enrolled.identity, clock })
    tokens.accept(enrolled.answer)
    return tokens
  }

  function openLink(tokens: AccessTokens): { link: Link; run: Promise<void> } {
    const link = new Link({
      planeUrl,
      tokens,
      log: silentLog(),
      hello: () => ({ type: 'hello', inventory, workloads: [] }),
      beat: () => ({ workloads: [] }),
      onDesired: () => undefined,
      onLease: () => undefined,
      onRevoked: () => undefined,
    })
    return { link, run: link.run() }
  }

  test.for([-300_000, 300_000])('[HOST-43] with a clock that is %i ms off it joins and gets tokens', async (skewMs, { expect }) => {
    const now = Date.now.bind(Date)
    vi.spyOn(Date, 'now').mockImplementation(() => now() + skewMs)
    const tokens = await joinPlane()
    const first = await tokens.get()
    tokens.invalidate(first)
    expect(await tokens.get()).not.toBe(first)
  })

  test('[HOST-38] one refused assertion does not end the host; a second refusal does', async ({ expect }) => {
    const tokens = await joinPlane()
    tokens.invalidate(await tokens.get())
    plane.refuseAssertions = 1
    tokens.invalidate(await tokens.get())
    plane.refuseAssertions = 2
    await expect(tokens.get()).rejects.toBeInstanceOf(IdentityRefused)
  })

  test('[HOST-38] the access token is renewed by a beat, without a new link', async ({ expect }) => {
    plane.tokenSeconds = 3
    const tokens = await joinPlane()
    const { link, run } = openLink(tokens)
    await waitUntil('a renewal', () => plane.accessTokens.size > 1)
    expect(plane.messages.filter((message) => message.type === 'hello')).toHaveLength(1)
    link.close()
    await run
  })

  test('[HOST-38] a host that the plane has removed gets that answer at the renewal', async ({ expect }) => {
    plane.tokenSeconds = 3
    const tokens = await joinPlane()
    plane.refuseTokens = true
    const { run } = openLink(tokens)
    await expect(run).rejects.toBeInstanceOf(IdentityRefused)
  })
})
