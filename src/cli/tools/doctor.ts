import { spawnSync } from 'node:child_process'
import { ApiError } from '../../client/client.ts'
import { EXIT } from '../core/exit-codes.ts'
import { failureOf } from '../core/failure.ts'
import { CLI_VERSION } from '../core/version.ts'
import { columns } from '../output/columns.ts'
import type { Session } from '../session/session.ts'
import { isSkewed } from '../session/skew.ts'
import type { Check } from './check.ts'

type Probe = () => Promise<Omit<Check, 'id'>>

const MAX_SKEW_MS = 30_000
const TOO_OLD = 426
const PROBE_MS = 5_000

/** Checks everything between this machine and the plane, in order of dependency (CMD-40). */
export async function runDoctor(session: Session, { bundle }: { bundle?: string } = {}): Promise<number> {
  const probes: [string, Probe][] = [
    ['node', async () => nodeVersion()],
    ['context', async () => context(session)],
    ['plane', async () => await plane(session)],
    ['version', async () => await version(session)],
    ['clock', async () => await clock(session)],
    ['key', async () => await key(session)],
    ['websocket', async () => await webSocket(session)],
    ['ssh-keys', async () => await sshKeys(session)],
    ['ssh', async () => sshClient()],
    ['job', async () => await job(session)],
  ]
  const checks: Check[] = []
  for (const [id, probe] of probes) {
    const failed = checks.some((check) => check.status === 'fail' && (check.id === 'context' || check.id === 'plane'))
    checks.push({
      id,
      ...(failed && id !== 'ssh' ? { status: 'skip' as const, evidence: 'the plane was not reached', fix: null } : await runProbe(probe)),
    })
  }
  session.out.list({ checks }, checks, { columns: columns<Check>('status', 'id', 'evidence', 'fix'), idOf: ({ id }) => id, empty: '' })
  if (bundle !== undefined) await (await import('./bundle.ts')).writeBundle(session, checks, bundle)
  return checks.some(({ status }) => status === 'fail') ? EXIT.BAD_OUTCOME : EXIT.OK
}

async function runProbe(probe: Probe): Promise<Omit<Check, 'id'>> {
  try {
    return await probe()
  } catch (error) {
    const { detail, hint } = failureOf(error)
    return { status: 'fail', evidence: detail, fix: hint ?? null }
  }
}

function ok(evidence: string): Omit<Check, 'id'> {
  return { status: 'ok', evidence, fix: null }
}

function nodeVersion(): Omit<Check, 'id'> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isGood = major > 22 || (major === 22 && minor >= 15)
  return isGood
    ? ok(`Node ${process.versions.node}`)
    : { status: 'fail', evidence: `Node ${process.versions.node}`, fix: 'Node 22.15 or later is needed' }
}

function context({ target }: Session): Omit<Check, 'id'> {
  return ok(`${target.url}, from ${target.source}`)
}

async function plane({ target }: Session): Promise<Omit<Check, 'id'>> {
  const startedAtMs = performance.now()
  const response = await fetch(`${target.url}/healthz`, { signal: AbortSignal.timeout(PROBE_MS) }).catch((error: unknown) => error as Error)
  const tookMs = Math.round(performance.now() - startedAtMs)
  if (response instanceof Error) {
    const cause = response.cause instanceof Error ? response.cause.message : response.message
    return {
      status: 'fail',
      evidence: `no answer: ${cause}`,
      fix: 'is the plane running? a proxy (HTTPS_PROXY) or a certificate may block the connection',
    }
  }
  if (!response.ok)
    return {
      status: 'fail',
      evidence: `/healthz answers ${response.status}`,
      fix: 'another service answers at this address, or the plane is unhealthy',
    }
  return ok(`answers within ${tookMs} ms`)
}

async function version(session: Session): Promise<Omit<Check, 'id'>> {
  const response = await session.fetch(`${session.target.url}/healthz`, { signal: AbortSignal.timeout(PROBE_MS) })
  await response.body?.cancel()
  const { planeVersion } = session
  if (planeVersion === undefined) return { status: 'skip', evidence: 'the plane does not report its version', fix: null }
  const evidence = `podplane ${CLI_VERSION}, plane ${planeVersion}`
  const fix = 'use the dist/podplane.mjs of the release of the plane'
  if (response.status === TOO_OLD) return { status: 'fail', evidence: `${evidence}: this program is too old for the plane`, fix }
  return isSkewed(planeVersion) ? { status: 'warn', evidence, fix } : ok(evidence)
}

async function clock({ target, io }: Session): Promise<Omit<Check, 'id'>> {
  const response = await fetch(`${target.url}/healthz`, { signal: AbortSignal.timeout(PROBE_MS) })
  const at = Date.parse(response.headers.get('date') ?? '')
  if (Number.isNaN(at)) return { status: 'skip', evidence: 'the plane does not report its time', fix: null }
  const skewMs = Math.abs(io.nowMs() - at)
  if (skewMs <= MAX_SKEW_MS) return ok('within 30 s of the plane')
  return {
    status: 'warn',
    evidence: `${Math.round(skewMs / 1_000)} s apart from the clock of the plane`,
    fix: 'set the clock of this machine: --stop-after and --since depend on it',
  }
}

async function key(session: Session): Promise<Omit<Check, 'id'>> {
  const { keySource } = session.target
  await session.api.getUser()
  return ok(`valid, from ${keySource}`)
}

/** The plane itself answers that this pod does not exist, which shows that the request came through. */
async function webSocket(session: Session): Promise<Omit<Check, 'id'>> {
  const address = session.api.execInPod({ path: { id: 'doctor' } })
  const reached = await fetch(`${session.target.url}${address.pathname}`, {
    headers: { authorization: `Bearer ${session.key}` },
    signal: AbortSignal.timeout(PROBE_MS),
  })
  await reached.body?.cancel()
  if (reached.status === 403)
    return { status: 'warn', evidence: 'this key may not run commands in pods', fix: 'exec, cp and port-forward need pods:write' }
  return reached.status === 404
    ? ok('the exec address answers')
    : { status: 'warn', evidence: `the exec address answers ${reached.status}`, fix: null }
}

async function sshKeys({ api }: Session): Promise<Omit<Check, 'id'>> {
  try {
    const { keys } = await api.getSshKeys()
    if (keys.length > 0) return ok(`${keys.length} registered`)
    return { status: 'warn', evidence: 'no SSH key is registered', fix: 'podplane ssh-keys add ~/.ssh/id_ed25519.pub' }
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return { status: 'skip', evidence: 'this key may not read SSH keys', fix: null }
    throw error
  }
}

function sshClient(): Omit<Check, 'id'> {
  const { error, stderr } = spawnSync('ssh', ['-V'], { encoding: 'utf8' })
  if (error !== undefined) return { status: 'warn', evidence: 'no ssh on this machine', fix: 'podplane exec works without ssh' }
  return ok(stderr.trim())
}

/** Sends a job through the echo endpoint of a local plane; other planes skip the check. */
async function job(session: Session): Promise<Omit<Check, 'id'>> {
  const endpointId = session.target.demoEndpointId
  if (endpointId === undefined) return { status: 'skip', evidence: 'only the local plane has an endpoint for this check', fix: null }
  const startedAtMs = performance.now()
  const answer = await session.api.runJobSync({ path: { endpointId }, body: { input: { from: 'doctor' } } }, { timeoutMs: 100_000 })
  const tookMs = Math.round(performance.now() - startedAtMs)
  if (answer.status !== 'COMPLETED')
    return { status: 'fail', evidence: `a job is ${answer.status} after ${tookMs} ms`, fix: `podplane jobs why ${endpointId} ${answer.id}` }
  return ok(`a job was COMPLETED in ${tookMs} ms (queued ${answer.delayTime ?? 0} ms, ran ${answer.executionTime ?? 0} ms)`)
}
