import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, platform, release } from 'node:os'
import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pageOf } from '../../client/page.ts'
import { errorText } from '../../node/fail.ts'
import { configPath, readCredentials } from '../config/files.ts'
import { usage } from '../core/failure.ts'
import { CLI_VERSION } from '../core/version.ts'
import type { Session } from '../session/session.ts'
import type { Check } from './check.ts'
import { redact } from './redact.ts'
import { tarOf } from './tar.ts'

const PRIVATE_FILE_MODE = 0o600
/** Number of newest events in the bundle. */
const EVENTS = 50

/** Writes an archive with the facts that support needs, without credentials (CMD-36). Throws a usage error if the file exists. */
export async function writeBundle(session: Session, checks: readonly Check[], path: string): Promise<void> {
  const place = resolve(session.io.cwd, path)
  if (existsSync(place)) throw usage(`${place} exists already`, 'name another file: podplane doctor --bundle <file>')
  const files = Object.fromEntries(
    Object.entries(await collect(session, checks)).map(([name, text]) => [`podplane-doctor/${name}`, redact(text, secretsOf(session))]),
  )
  try {
    writeFileSync(place, gzipSync(tarOf(files, session.io.nowMs())), { mode: PRIVATE_FILE_MODE, flag: 'wx' })
  } catch (error) {
    throw usage(`${place} cannot be written: ${errorText(error)}`)
  }
  session.out.talk(`${place} has ${Object.keys(files).length} files and contains no keys; review it before you share it`)
}

async function collect(session: Session, checks: readonly Check[]): Promise<Record<string, string>> {
  const { io, planeVersion } = session
  const config = configPath(io)
  return {
    'doctor.json': json({ checks }),
    'versions.json': json({
      podplane: CLI_VERSION,
      plane: planeVersion ?? null,
      node: process.versions.node,
      system: [platform(), release(), arch()],
    }),
    // Only names: values may be secret.
    'environment.json': json({ set: Object.keys(io.env).filter((name) => /^(PODPLANE_|HTTPS?_PROXY|NO_PROXY|NODE_|CI$)/i.test(name)) }),
    'config.toml': existsSync(config) ? readFileSync(config, 'utf8') : '',
    'pods.json': await read(async () =>
      pageOf(await session.api.listPods({ query: { limit: 100 } })).items.map(({ id, name, status, statusReason, gpu, image }) => ({
        id,
        name,
        status,
        statusReason,
        gpu,
        image,
      })),
    ),
    'endpoints.json': await read(async () =>
      pageOf(await session.api.listEndpoints({ query: { limit: 100 } })).items.map(({ id, name, type, workers, gpu, cpu, image }) => ({
        id,
        name,
        type,
        workers,
        gpu,
        cpu,
        image,
      })),
    ),
    'events.json': await read(async () => pageOf(await session.api.listEvents({ query: { limit: EVENTS } })).items),
  }
}

/** An error replaces what cannot be read. */
async function read(ask: () => Promise<unknown>): Promise<string> {
  return json(await ask().catch((error: unknown) => ({ error: errorText(error) })))
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** All known secret values: keys of all contexts, and environment variables with the name of a secret. */
function secretsOf(session: Session): string[] {
  const { io } = session
  const ofEnvironment = Object.entries(io.env).flatMap(([name, value]) =>
    value !== undefined && /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i.test(name) ? [value] : [],
  )
  return [...Object.values(readCredentials(io)), ...ofEnvironment, ...keysOf(session)]
}

/** Keys of the resolved plane, if there is one. */
function keysOf(session: Session): string[] {
  try {
    const { key, operatorKey } = session.target
    return [key, operatorKey].filter((one) => one !== undefined)
  } catch {
    return []
  }
}
