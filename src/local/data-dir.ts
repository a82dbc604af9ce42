import { randomBytes } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { formatOperatorKey, SECRET_BYTES } from '../domain/key-text.ts'
import { readIrreplaceableFile, readJsonFile, writeJsonFile, writeLosableJsonFile } from '../node/json-file.ts'
import { ensureDir } from '../node/make-dir.ts'

const PRIVATE_DIR_MODE = 0o700
const SECRETS_ADVICE = `it holds the operator key, the pepper that verifies all API keys, and the key of all sealed values (variables, registry logins). \
Database, queues and volumes are intact, and pods on other machines keep running. Restore the file from a copy. Without a copy no client can \
sign in to this plane again: move the whole data directory away and start again; machines join the new plane with new tokens, and their agents \
then remove the workloads of the previous plane`
const DEMO_ADVICE = `only the local copy of the key and the endpoint id of the demo account is lost: both still exist in the plane, and the key still works. \
Remove the file and start again, which creates another key and another endpoint`
/** The name of the data directory in errors. */
const LABEL = 'the data directory (PODPLANE_DATA)'

const Text = z.string().min(1)
const Secrets = z.object({ OPERATOR_KEY: Text, KEY_PEPPER: Text, TOKEN_SECRET: Text, SSH_PROXY_KEY: Text })
export type Secrets = z.infer<typeof Secrets>
/** Secrets on disk: the directory of an older release has no key for the SSH proxy. */
const StoredSecrets = Secrets.partial({ SSH_PROXY_KEY: true })

/** Access data of a local plane for scripts. The file exists exactly while the plane is ready. */
export const DemoFile = z.object({
  url: z.string(),
  apiKey: z.string(),
  endpointId: z.string(),
  operatorKey: z.string(),
  podImage: z.string(),
})
export type DemoFile = z.infer<typeof DemoFile>

/** The part of the demo account that is stored between two runs. */
const DemoAccount = z.object({ apiKey: z.string(), endpointId: z.string() })
export type DemoAccount = z.infer<typeof DemoAccount>

/** The directories of a local plane. */
export interface DataDir {
  path: string
  /** D1 and Durable Object storage. */
  storage: string
  logs: string
  agent: string
  /** Directory of the SSH proxy's host key. */
  ssh: string
  /** Directory of the agent's volumes that pods share (PLANE-21). */
  networkVolumes: string
  globalVolumes: string
}

/** Returns `PODPLANE_DATA`, or `.podplane` in the current directory. */
export function dataDirPath(env: NodeJS.ProcessEnv): string {
  return resolve(env.PODPLANE_DATA || '.podplane')
}

/** Creates the data directory if it is missing, and checks that it is usable. */
export function openDataDir(path: string): DataDir {
  const dataDir: DataDir = {
    path,
    storage: join(path, 'plane'),
    logs: join(path, 'logs'),
    agent: join(path, 'agent'),
    ssh: join(path, 'ssh-proxy'),
    networkVolumes: join(path, 'network-volumes'),
    globalVolumes: join(path, 'global-volumes'),
  }
  // An existing directory with contents keeps its mode: it may be a home directory or a project.
  if (ensureDir(path, LABEL).fresh) chmodSync(path, PRIVATE_DIR_MODE)
  const { path: _top, ...parts } = dataDir
  for (const directory of Object.values(parts)) ensureDir(directory, LABEL)
  return dataDir
}

/**
 * Reads the secrets of this plane. The first start creates them; they are on disk when this function returns (DUR-3). An unreadable file is
 * an error, because new secrets would invalidate every key (DUR-5).
 */
export function loadSecrets(dataDir: DataDir): Secrets {
  const path = join(dataDir.path, 'secrets.json')
  const stored = readIrreplaceableFile(path, StoredSecrets, SECRETS_ADVICE)
  if (stored?.SSH_PROXY_KEY !== undefined) return { ...stored, SSH_PROXY_KEY: stored.SSH_PROXY_KEY }
  const { OPERATOR_KEY = newOperatorKey(), KEY_PEPPER = newSecret(), TOKEN_SECRET = newSecret() } = stored ?? {}
  const secrets: Secrets = { OPERATOR_KEY, KEY_PEPPER, TOKEN_SECRET, SSH_PROXY_KEY: newSecret() }
  writeJsonFile(path, secrets)
  return secrets
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** A new random operator key. */
export function newOperatorKey(): string {
  return formatOperatorKey(randomBytes(SECRET_BYTES))
}

/** Reads the demo account of an earlier run. Throws an `OperatorError` for a damaged file (DUR-5). */
export function readDemoAccount(dataDir: DataDir): DemoAccount | undefined {
  return readIrreplaceableFile(join(dataDir.path, 'demo-account.json'), DemoAccount, DEMO_ADVICE)
}

/** Stores the demo account durably, for the next start. */
export function writeDemoAccount(dataDir: DataDir, account: DemoAccount): void {
  writeJsonFile(join(dataDir.path, 'demo-account.json'), account)
}

/** Reads the address and keys of the running plane from its data directory; undefined when there are none. */
export function readDemoFile(path: string): DemoFile | undefined {
  return DemoFile.safeParse(readJsonFile(demoFilePath(path))).data
}

/** Stores the address and keys of the running plane, for programs on this machine. */
export function writeDemoFile(dataDir: DataDir, demo: DemoFile): void {
  // The file may be lost in a crash, because each start removes it anyway.
  writeLosableJsonFile(demoFilePath(dataDir.path), demo)
}

/** Removes the file of `writeDemoFile`; does nothing if there is none. */
export function removeDemoFile(dataDir: DataDir): void {
  rmSync(demoFilePath(dataDir.path), { force: true })
}

/** Path of the file of `writeDemoFile`. */
export function demoFilePath(dataDir: string): string {
  return join(dataDir, 'demo.json')
}
