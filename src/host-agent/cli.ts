import { Command } from 'commander'
import { DEFAULT_PORT_RANGE } from '../host-protocol/messages.ts'
import { errorText, OperatorError } from '../node/fail.ts'
import { dropRefusedOutput } from '../node/file-output.ts'
import { openRotatingLog } from '../node/rotating-log.ts'
import { runAgent } from './agent.ts'
import { createLog } from './log.ts'
import { lockStateDir } from './machine/state-lock.ts'
import { createDirs, type Flags, readOptions } from './options.ts'
import { redact } from './redact.ts'
import { AGENT_VERSION } from './version.ts'

/** Runs the command line of the agent; `command` is how built-in images run this program again. */
export async function runCli(argv: readonly string[], command: readonly [string, ...string[]]): Promise<void> {
  const program = buildAgentProgram().action(async (flags: Flags) => await startAgent(flags, command))
  try {
    await program.parseAsync(argv)
    process.exit(0)
  } catch (error) {
    const text = error instanceof OperatorError ? error.message : `unexpected error: ${errorText(error)} (--log-level debug shows more)`
    process.stderr.write(`podplane-agent: ${redact(text)}\n`)
    if (!(error instanceof OperatorError) && argv.includes('debug') && error instanceof Error) process.stderr.write(`${error.stack}\n`)
    process.exit(1)
  }
}

/** The flags of the agent, without an action. */
export function buildAgentProgram(): Command {
  return new Command('podplane-agent')
    .description('Runs the workloads of a podplane control plane on this machine')
    .version(AGENT_VERSION)
    .option('--url <plane>', 'address of the plane')
    .option('--insecure-plane', 'use plain http to a plane on another machine; all secrets are sent unencrypted')
    .option(
      '--token <join token>',
      'join token, needed for the first start only; prefer PODPLANE_JOIN_TOKEN, which other users of the machine cannot see',
    )
    .option('--name <name>', 'name of this host (default: the machine name)')
    .option(
      '--state-dir <dir>',
      'directory for the host key and the state of workloads (or PODPLANE_AGENT_STATE; default: ~/.podplane-agent/<name>)',
    )
    .option('--runtime <names...>', 'docker, process (built-in images) or both (default: docker)')
    .option('--builtin-images', 'also run the built-in images, as processes of this machine; without Docker, nothing else')
    .option('--runtime-class <class>', 'container runtime: runc, runsc (gVisor) or kata', 'runc')
    .option('--allow-old-nvidia-toolkit', 'offer GPUs also with an NVIDIA container toolkit before 1.17.8, whose images may become root')
    .option('--data-center <id>', 'informational; the join token decides')
    .option('--simulate-gpus <list>', 'simulate GPUs, such as "NVIDIA L4:2,NVIDIA GeForce RTX 4090:4"')
    .option('--volume-dir <dir>', 'directory for persistent volumes of pods (default: <state dir>/volumes)')
    .option(
      '--network-volumes <dir|nfs://server/export>',
      'network volumes: a directory mounted on every host of the data center, or an NFS export',
    )
    .option('--global-volumes <dir|s3://bucket/prefix>', 'global volumes: a directory, or a bucket that the agent mounts')
    .option(
      '--registry-allow <registries...>',
      'registries on private addresses, <host>[:<port>], with http:// before one without TLS (or PODPLANE_REGISTRY_ALLOW)',
    )
    .option('--image-space <GB>', 'disk space for pulled images (default: half of the disk)')
    .option(
      '--pull-speed <MiB>',
      'minimum speed of a registry in MiB per minute, measured over three minutes; 0 for no minimum (default: 1)',
    )
    .option('--local-images', "allow every tenant to run images from the container engine's own store by name")
    .option('--public-ip <address>', 'address under which the ports of this host are reached from outside')
    .option('--http-ip <address>', 'address of this machine on which http ports of containers are bound', '127.0.0.1')
    .option(
      '--overlay-address <address>',
      'IPv4 address of this machine at which other hosts reach it, for clusters and global networking (default: that of the default route)',
    )
    .option(
      '--overlay-encryption <mode>',
      'auto: encrypt traffic to other hosts if the kernel has WireGuard; require: use wireguard-go otherwise, and never send unencrypted traffic; off',
      'auto',
    )
    .option('--allow-network <ranges...>', 'private IPv4 ranges that containers may reach, such as 10.1.2.0/24 (default: none)')
    .option('--trusted-tenants', 'accept several accounts even if this machine cannot isolate their containers')
    .option('--port-range <from-to>', 'host ports for the ports of containers', `${DEFAULT_PORT_RANGE.from}-${DEFAULT_PORT_RANGE.to}`)
    .option('--on-exit <what>', 'stop or keep the workloads when the agent ends', 'keep')
    .option('--on-lease-loss <what>', 'stop workers, or let them finish, when the plane is unreachable for 25 s', 'stop')
    .option('--worker-transport <kind>', 'how calls of workers reach the plane: http, or channel (one WebSocket an endpoint)', 'http')
    .option('--log-level <level>', 'debug, info, warn or error', 'info')
    .option('--log-file <path>', 'write the log to this file, rotated at 10 MiB with three older files (default: stderr)')
    .showHelpAfterError('(--help lists the flags)')
}

async function startAgent(flags: Flags, command: readonly [string, ...string[]]): Promise<void> {
  dropRefusedOutput()
  const options = readOptions(flags, process.env)
  const log = createLog(options.logLevel, options.logFile === undefined ? undefined : openLogOf(options.logFile))
  createDirs(options)
  const unlock = lockStateDir(options.stateDir)
  process.on('exit', unlock)
  if (options.dataCenter !== undefined) log.debug('--data-center is informational', { dataCenter: options.dataCenter })
  process.on('unhandledRejection', (error) => log.error('unexpected', { error: errorText(error) }))
  await runAgent({ options, log, command, shutdown: listenForShutdown() })
}

function openLogOf(path: string): (line: string) => void {
  const noteDropped = (lines: number, reason: string) =>
    JSON.stringify({ level: 'warn', ts: new Date().toISOString(), msg: 'log lines were dropped', lines, error: reason })
  try {
    const file = openRotatingLog(path, { noteDropped })
    return (line) => file.write(line.trimEnd())
  } catch (error) {
    throw new OperatorError(`--log-file ${path} cannot be used: ${errorText(error)}; choose a file that this user may write`)
  }
}

/** The first SIGTERM or SIGINT starts a clean shutdown; the second ends the process at once, with code 130. */
function listenForShutdown(): AbortSignal {
  const shutdown = new AbortController()
  const onSignal = () => (shutdown.signal.aborted ? process.exit(130) : shutdown.abort())
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return shutdown.signal
}
