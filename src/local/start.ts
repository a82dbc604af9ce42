import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type ApiClient, ApiError, createApiClient } from '../client/client.ts'
import { readHostIdentity } from '../host-agent/plane/enrolment.ts'
import { errorText, hasCode, OperatorError } from '../node/fail.ts'
import { dropRefusedOutput } from '../node/file-output.ts'
import type { Log as SshLog } from '../ssh-proxy/log.ts'
import { openSshProxy, type SshProxy } from '../ssh-proxy/proxy.ts'
import { type AgentProcess, startAgent } from './agent-process.ts'
import { banner, describeOpenNetwork } from './banner.ts'
import {
  type DataDir,
  type DemoFile,
  demoFilePath,
  loadSecrets,
  openDataDir,
  readDemoAccount,
  removeDemoFile,
  type Secrets,
  writeDemoAccount,
  writeDemoFile,
} from './data-dir.ts'
import { answersHealth, createConsoleLink, createJoinToken, ensureDemoAccount, hostIsKnown, notEnforcedBy, waitForHost } from './demo.ts'
import { type DataDirLock, lockDataDir } from './lock.ts'
import { type LogFile, openLogFile } from './log-file.ts'
import { isThere, npmProcess } from './npm-process.ts'
import { type Plane, startPlane } from './plane/plane.ts'
import { releaseReserve } from './plane/storage-watch.ts'
import { claimPort, LOOPBACK } from './port.ts'
import { readStartSettings, type StartSettings } from './settings.ts'
import { type StartDeadline, startDeadline } from './start-deadline.ts'
import { roomWaiter, type WithRoom } from './wait-for-room.ts'

const HOST_NAME = 'local'
/** Port of the SSH proxy, if it is free. */
const SSH_PORT = 2_222
const POD_IMAGE = 'builtin/idle'
const HOST_ONLINE_TIMEOUT_MS = 10_000
const KILLED_PORT_WAIT_MS = 5_000
const PARENT_POLL_MS = 250
/** File system errors whose text, with its path, is sufficient for an operator. */
const FILE_TROUBLE = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR', 'EISDIR']
const EXIT_FAILURE = 1
const EXIT_FORCED = 130
/** Time for a failed start to stop the parts that it has started, milliseconds. */
const GIVE_UP_MS = 10_000

/** The started parts of this process, in the order in which they were started. */
interface Running {
  dataDir?: DataDir
  lock?: DataDirLock
  plane?: Plane
  agent?: AgentProcess
  ssh?: SshProxy | undefined
  logs: LogFile[]
}

const running: Running = { logs: [] }
let stopping: Promise<void> | undefined
const isStopping = () => stopping !== undefined

dropRefusedOutput()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => onStopSignal())
watchParent()

const deadline = startDeadline((reason) => void giveUp(reason))
try {
  await start(readStartSettings(process.argv.slice(2), process.env), deadline)
} catch (error) {
  // A step that failed because everything is being stopped is not reported.
  if (stopping === undefined) await giveUp(describe(error))
} finally {
  deadline.done()
}

async function start(settings: StartSettings, { step, done }: StartDeadline): Promise<void> {
  const dataDir = openDataDir(settings.dataDir)
  releaseReserve(dataDir.storage)
  running.lock = await lockDataDir(dataDir.path)
  running.dataDir = dataDir
  removeDemoFile(dataDir)
  const port = await claimPort(settings.port, running.lock.tookOver ? KILLED_PORT_WAIT_MS : 0)
  const secrets = loadSecrets(dataDir)
  running.ssh = await openLocalSsh(settings, dataDir, port, secrets)
  running.plane = await startLocalPlane(settings, dataDir, port, secrets)
  const { url } = running.plane
  const isServing = () => answersHealth(url)
  const withRoom = roomWaiter(() => onFullDisk(dataDir, done), isStopping)
  step('reaching the control plane', isServing)
  const operator = createApiClient(url, secrets.OPERATOR_KEY)
  const [account, warning] = await Promise.all([
    withRoom(() => ensureDemoAccount(url, operator, readDemoAccount(dataDir))),
    settings.agent ? joinThisMachine(settings, dataDir, url, operator, withRoom) : undefined,
  ])
  step('signing in', isServing)
  await withRoom(() => writeDemoAccount(dataDir, account))
  const consoleLink = await withRoom(() => createConsoleLink(operator))
  if (isStopping()) return
  const demo: DemoFile = { url, ...account, operatorKey: secrets.OPERATOR_KEY, podImage: POD_IMAGE }
  await withRoom(() => writeDemoFile(dataDir, demo))
  // Measured from the start of this process.
  const readyMs = performance.now()
  const notEnforced = settings.agent ? await notEnforcedBy(operator, HOST_NAME) : []
  say(
    banner(demo, {
      readyMs,
      consoleLink,
      demoFile: demoFilePath(dataDir.path),
      logs: dataDir.logs,
      notEnforced,
      ...(warning === undefined ? {} : { warning }),
    }),
  )
}

/** Reports that the disk is full, and ends the deadline: the plane still serves reads, and waiting for room has no limit. */
function onFullDisk({ path }: DataDir, endDeadline: () => void): void {
  endDeadline()
  say(`The disk of ${path} is full. The control plane answers reads and lets what runs end; this start goes on once there is room.`)
}

function startLocalPlane(settings: StartSettings, dataDir: DataDir, port: number, secrets: Secrets): Promise<Plane> {
  const log = openLogFile(join(dataDir.logs, 'plane.log'), settings.echoLogs)
  running.logs.push(log)
  return startPlane({
    storage: dataDir.storage,
    port,
    vars: { ...localIngress(port), ...settings.vars, ...secrets },
    onLog: (line) => log.write(line),
    onProcess: (pid) => running.lock?.addChild(pid),
    onLost: () => {
      process.stderr.write(`The control plane ended and could not be started again; see ${log.path}\n`)
      process.exitCode = EXIT_FAILURE
      void endNow()
    },
    onRestart: () => stopping ?? say(`The control plane crashed and was started again; see ${log.path}`),
  })
}

/** Addresses of the ingress to pods of this machine, unless the environment sets others. */
function localIngress(port: number): Record<string, string> {
  // Browsers and curl resolve such names to this machine.
  const ingress = { POD_PROXY_DOMAIN: `localhost:${port}` }
  return running.ssh === undefined ? ingress : { ...ingress, SSH_HOST: LOOPBACK, SSH_PORT: String(running.ssh.port) }
}

/** Starts the SSH proxy on loopback; none if the environment names another one. */
async function openLocalSsh(
  settings: StartSettings,
  dataDir: DataDir,
  planePort: number,
  { SSH_PROXY_KEY }: Secrets,
): Promise<SshProxy | undefined> {
  if (settings.vars.SSH_HOST !== undefined) return undefined
  const file = openLogFile(join(dataDir.logs, 'ssh-proxy.log'), settings.echoLogs)
  running.logs.push(file)
  const log: SshLog = (level, msg, fields) => file.write(JSON.stringify({ level, ts: new Date().toISOString(), msg, ...fields }))
  const planeUrl = `http://${LOOPBACK}:${planePort}`
  const open = (port: number) => openSshProxy({ planeUrl, key: SSH_PROXY_KEY, host: LOOPBACK, port, stateDir: dataDir.ssh, log })
  // A second plane on this machine gets another SSH port.
  return await open(SSH_PORT).catch((error: unknown) => (hasCode(error, 'EADDRINUSE') ? open(0) : Promise.reject(error)))
}

/** Starts the host agent and enrols it if it is new. Returns a warning for the terminal if something is wrong. */
async function joinThisMachine(
  settings: StartSettings,
  dataDir: DataDir,
  url: string,
  operator: ApiClient,
  withRoom: WithRoom,
): Promise<string | undefined> {
  const log = openLogFile(join(dataDir.logs, 'agent.log'), settings.echoLogs)
  running.logs.push(log)
  const joinToken = await withRoom(() => joinTokenIfNew(dataDir, operator))
  if (stopping !== undefined) return undefined
  const startedAtMs = Date.now()
  running.agent = startAgent({
    url,
    stateDir: dataDir.agent,
    name: HOST_NAME,
    joinToken,
    simulateGpus: settings.simulateGpus,
    networkVolumes: dataDir.networkVolumes,
    globalVolumes: dataDir.globalVolumes,
    log,
    echoLog: settings.echoLogs,
    onProcess: (pid) => running.lock?.addChild(pid),
    onCrash: (reason, delayMs) => say(`The host agent ${reason}\n  It is started again in ${delayMs / 1000} s (${log.path}).`),
  })
  const host = await waitForHost(operator, HOST_NAME, startedAtMs, HOST_ONLINE_TIMEOUT_MS)
  if (host !== undefined) return describeOpenNetwork(host.isolation)
  return `the host agent is not online yet, so jobs wait; see ${log.path}`
}

/** Returns a join token, or undefined if this machine is already enrolled. An identity that the plane does not know is deleted. */
async function joinTokenIfNew(dataDir: DataDir, operator: ApiClient): Promise<string | undefined> {
  const identity = readHostIdentity(dataDir.agent)
  if (identity !== undefined && (await hostIsKnown(operator, identity.hostId))) return undefined
  rmSync(join(dataDir.agent, 'host.json'), { force: true })
  return await createJoinToken(operator, HOST_NAME)
}

/** Ends a failed start with its reason. */
async function giveUp(reason: string): Promise<void> {
  deadline.done()
  process.stderr.write(`podplane did not start: ${reason}\n`)
  process.exitCode = EXIT_FAILURE
  await endNow()
}

/** Stops all started parts; parts that do not stop in time end with this process. */
async function endNow(): Promise<void> {
  setTimeout(() => process.exit(), GIVE_UP_MS).unref()
  await stopAll()
  process.exit()
}

function onStopSignal(): void {
  if (stopping === undefined) {
    say('\nStopping: workers first, then the control plane. Ctrl-C again ends it at once.')
    void stopAll().then(() => process.exit())
    return
  }
  // Miniflare's exit handler ends the runtime.
  running.agent?.kill()
  running.lock?.release()
  process.exit(EXIT_FORCED)
}

function stopAll(): Promise<void> {
  stopping ??= stopInOrder()
  return stopping
}

// The agent stops first, while the plane can still receive the end of its workers.
async function stopInOrder(): Promise<void> {
  running.lock?.markStopping()
  if (running.dataDir !== undefined) removeDemoFile(running.dataDir)
  if ((await running.agent?.stop()) === false) say('The host agent did not stop in time and was killed; its containers may still run.')
  await running.ssh?.close()
  await running.plane?.stop()
  await Promise.all(running.logs.map((log) => log.close()))
  running.lock?.release()
}

// When npm is killed, no other process would stop this one, and the port would stay in use.
function watchParent(): void {
  if (process.env.npm_lifecycle_event !== 'start') return
  const parent = process.ppid
  const npm = npmProcess(parent)
  setInterval(() => {
    if ((process.ppid !== parent || !isThere(npm)) && stopping === undefined) onStopSignal()
  }, PARENT_POLL_MS).unref()
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

// An error that an operator can resolve is one line; any other error is a bug and needs its stack.
function describe(error: unknown): string {
  if (error instanceof OperatorError || error instanceof ApiError) return error.message
  if (FILE_TROUBLE.some((code) => hasCode(error, code))) return errorText(error)
  return (error instanceof Error && error.stack) || errorText(error)
}
